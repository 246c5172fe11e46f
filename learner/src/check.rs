//! Whether a run directory is whole: its database, every finished game by the rules, networks and checkpoints.
//!
//! Only reads: a learner may be at work there.

use std::path::Path;

use rayon::prelude::*;
use registry::hash_moves;
use runtime::counted::counted;
use runtime::exit::one_line;
use shared::catalog::GameVisitor;
use shared::encoding::Encoding;
use shared::ids::GameId;
use shared::record::replay;
use shared::setting::SettingError;
use store::files::{check_sha256, is_unfinished};
use store::{CheckpointRow, GameKind, NetworkState, Reader, StoreError, StoredGame};

/// Games that are held at once.
const CHUNK_GAMES: usize = 512;
/// Games that are named for having plies that they should not have.
const HALF_THINNED_MAX: u32 = 20;

/// What was found of one part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartReport {
    /// Which part.
    pub part: &'static str,
    /// What there is of it, in words.
    pub summary: String,
    /// What is damaged, one line each.
    pub damages: Vec<String>,
}

/// Why a run cannot be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The database cannot be opened, or says too little.
    #[error("the database")]
    Store(#[from] StoreError),
    /// This program does not know the game of the run.
    #[error("the game of the run")]
    Game(#[from] SettingError),
}

/// Looks at everything in a run directory.
///
/// # Errors
/// [`CheckError`] if there is no database, or it is too damaged to say what is played.
pub fn check_run(run_dir: &Path) -> Result<Vec<PartReport>, CheckError> {
    let reader = Reader::of_run(run_dir)?;
    let database = check_database(&reader)?;
    let games = reader.run()?.game_spec()?.visit(Games(&reader))?;
    Ok(vec![database, games, check_networks(&reader, run_dir), check_checkpoints(&reader, run_dir)])
}

fn check_database(reader: &Reader) -> Result<PartReport, CheckError> {
    let damages = reader.damages()?;
    let schema = reader.schema_version()?;
    Ok(PartReport { part: "database", summary: format!("schema {schema}"), damages })
}

/// Replays all finished games.
struct Games<'a>(&'a Reader);

impl GameVisitor for Games<'_> {
    type Output = PartReport;

    fn visit<E: Encoding>(self, encoding: E) -> PartReport {
        let (mut game_count, mut unsealed_count, mut damages) = (0, 0, Vec::new());
        for kind in [GameKind::SelfPlay, GameKind::Gate] {
            let game_ids = match self.0.finished_game_ids(kind) {
                Ok(game_ids) => game_ids,
                Err(error) => {
                    damages.push(format!("the list of games: {}", one_line(&error)));
                    continue;
                }
            };
            game_count += game_ids.len();
            for chunk in game_ids.chunks(CHUNK_GAMES) {
                let read: Vec<_> = chunk.iter().map(|game_id| (*game_id, self.0.game(*game_id))).collect();
                let is_unsealed = |game: &StoredGame| game.checksum.is_none();
                unsealed_count +=
                    read.iter().filter(|(_, game)| matches!(game, Ok(Some(game)) if is_unsealed(game))).count();
                damages
                    .par_extend(read.into_par_iter().filter_map(|(game_id, game)| damage_of(&encoding, game_id, game)));
            }
        }
        let mut summary = format!("{game_count} finished, compared with their checksums and replayed by the rules");
        summary += &thinned(self.0, &mut damages);
        if unsealed_count > 0 {
            summary += &format!("; {unsealed_count} have no checksum until a learner opens this older store");
        }
        PartReport { part: "games", summary, damages }
    }
}

/// Looks at games whose plies were removed; returns what to say of them.
fn thinned(reader: &Reader, damages: &mut Vec<String>) -> String {
    let count = |kind| reader.thinned_game_count(kind);
    let counted = || Ok::<u64, StoreError>(count(GameKind::SelfPlay)? + count(GameKind::Gate)?);
    match counted().and_then(|count| Ok((count, reader.half_thinned_games(HALF_THINNED_MAX)?))) {
        Err(error) => {
            damages.push(format!("the list of games without plies: {}", one_line(&error)));
            String::new()
        }
        Ok((count, half)) => {
            damages.extend(
                half.iter().map(|game_id| format!("game {game_id}: its plies were removed, and some are there")),
            );
            if count > 0 { format!("; {count} more without plies (store.keep_games)") } else { String::new() }
        }
    }
}

/// Returns what is wrong with a finished game.
fn damage_of<E: Encoding>(
    encoding: &E,
    game_id: GameId,
    game: Result<Option<StoredGame>, StoreError>,
) -> Option<String> {
    let damage = |what: String| Some(format!("game {game_id}: {what}"));
    let game = match game {
        Ok(Some(game)) => game,
        Ok(None) => return damage("it is gone".to_owned()),
        Err(error) => return damage(one_line(&error)),
    };
    let replayed = match replay(encoding, &game.record) {
        Ok(replayed) => replayed,
        Err(error) => return damage(one_line(&error)),
    };
    let stored = game.result.map(|result| (result.outcome, result.is_cut_off));
    if replayed.outcome.map(|outcome| (outcome, replayed.is_cut_off)) != stored {
        return damage(format!("it ends with {:?}, stored as {stored:?}", replayed.outcome));
    }
    let moves = game.record.start.iter().chain(game.record.plies.iter().map(|ply| &ply.move_text));
    if game.moves_hash != Some(hash_moves(moves.map(String::as_str))) {
        return damage("its moves are not those that were played (moves_hash)".to_owned());
    }
    None
}

fn check_networks(reader: &Reader, run_dir: &Path) -> PartReport {
    let (mut summary, mut damages) = (String::new(), Vec::new());
    match reader.networks() {
        Err(error) => damages.push(format!("the list of networks: {}", one_line(&error))),
        Ok(networks) => {
            let file_of = |file: &str| run_dir.join(file);
            let is_deleted = |state, file: &str| state == NetworkState::Rejected && !file_of(file).exists();
            let kept = networks.iter().filter(|row| !is_deleted(row.state, &row.network.file));
            let checked: Vec<_> =
                kept.map(|row| check_sha256(&file_of(&row.network.file), &row.network.sha256)).collect();
            summary = format!("{} files, {} rejected ones deleted", checked.len(), networks.len() - checked.len());
            damages.extend(checked.iter().filter_map(|result| result.as_ref().err().map(|error| one_line(error))));
            damages.extend(unfinished(&run_dir.join("networks")));
        }
    }
    PartReport { part: "networks", summary, damages }
}

fn check_checkpoints(reader: &Reader, run_dir: &Path) -> PartReport {
    let (mut summary, mut damages) = (String::new(), Vec::new());
    match reader.checkpoints() {
        Err(error) => damages.push(format!("the list of checkpoints: {}", one_line(&error))),
        Ok(checkpoints) => {
            // The newest comes first. A backup holds no other.
            let is_there = |(place, row): &(usize, &CheckpointRow)| *place == 0 || run_dir.join(&row.file).exists();
            let kept: Vec<_> = checkpoints.iter().enumerate().filter(is_there).map(|(_, row)| row).collect();
            summary = counted(kept.len(), "file", "files");
            for row in kept {
                damages.extend(check_sha256(&run_dir.join(&row.file), &row.sha256).err().map(|error| one_line(&error)));
            }
            if checkpoints.is_empty() {
                damages.push("there is none".to_owned());
            }
            damages.extend(unfinished(run_dir));
        }
    }
    PartReport { part: "checkpoints", summary, damages }
}

/// Returns a line for each file in a folder that was being written when its writer was killed. A learner deletes them.
fn unfinished(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| is_unfinished(path));
    paths.map(|path| format!("{} was never finished: a learner that starts here deletes it", path.display())).collect()
}
