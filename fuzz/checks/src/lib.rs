//! A check for each decoder of what peers and files hold: arbitrary bytes go in, and it panics if the decoder does, or if
//! what was decoded breaks a law.
//!
//! Fuzz targets (`fuzz/fuzz_targets`) and this crate's test of the committed inputs (`fuzz/corpus`) call the same checks.

mod backups;
mod files;
mod game_files;
#[cfg(feature = "torch")]
mod inference_server;
mod messages;
mod positions;
mod protocols;
#[cfg(feature = "torch")]
mod torch;

/// A check by its name, which is also the name of its fuzz target and of its folder of inputs.
#[derive(Debug, Clone, Copy)]
pub struct DecoderCheck {
    /// The name.
    pub name: &'static str,
    /// Decodes the bytes and checks the result.
    pub check: fn(&[u8]),
}

const fn named(name: &'static str, check: fn(&[u8])) -> DecoderCheck {
    DecoderCheck { name, check }
}

/// All checks of this build.
pub const CHECKS: &[DecoderCheck] = &[
    named("address", protocols::address),
    named("backup_chunk", backups::backup_chunk),
    named("backup_manifest", backups::backup_manifest),
    named("backup_url", backups::backup_url),
    named("boardspace", game_files::boardspace),
    named("book", files::book),
    named("data_set", files::data_set),
    named("endgame_table", files::endgame_table),
    named("evaluations", messages::evaluations),
    named("fen", game_files::fen),
    named("game_spec", messages::game_spec),
    named("game_table", files::game_table),
    named("hub_level", protocols::hub_level),
    named("hub_line", protocols::hub_line),
    named("hub_position", game_files::hub_position),
    #[cfg(feature = "torch")]
    named("inference_offers", inference_server::inference_offers),
    named("join_reply", messages::join_reply),
    #[cfg(feature = "torch")]
    named("learner_settings", torch::learner_settings),
    named("leaf_batch", messages::leaf_batch),
    named("lease", messages::lease),
    #[cfg(feature = "torch")]
    named("network_file", torch::network_file),
    named("packed_dama", positions::packed_dama),
    named("packed_hive", positions::packed_hive),
    named("packed_tictactoe", positions::packed_tictactoe),
    named("pdn", game_files::pdn),
    named("pgn", game_files::pgn),
    named("player", protocols::player),
    named("ply", messages::ply),
    named("policy_target", messages::policy_target),
    named("record_dama", positions::record_dama),
    named("record_hive", positions::record_hive),
    named("search_settings", messages::search_settings),
    named("uhp", game_files::uhp),
    named("uhp_command", protocols::uhp_command),
    named("worker_flags", files::worker_flags),
    named("worker_settings", files::worker_settings),
];

/// Runs the check called `name`.
///
/// # Panics
///
/// Panics if the decoder breaks a law, or this build has no such check.
pub fn check(name: &str, bytes: &[u8]) {
    let found = CHECKS.iter().find(|check| check.name == name);
    let found = found.unwrap_or_else(|| panic!("this build has no check {name:?}"));
    (found.check)(bytes);
}
