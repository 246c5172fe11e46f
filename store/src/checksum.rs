//! The checksum of a finished game's record: a byte that the disk changed is found when the record is read, before anyone
//! learns from it. It protects from damage, not from someone who can write to the database.

use rusqlite::{Connection, params};
use shared::ids::GameId;
use shared::record::{PlyRecord, PolicyTarget};
use xxhash_rust::xxh3::Xxh3;

use super::columns::{Column, number_of_ref};
use super::read_game::{GameColumns, stored_game};
use super::rows::outcome_word;
use super::statement::execute;
use super::{NewGame, StoreError, StoredGame, StoredResult};

/// How a game ended, as far as its record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedEnd {
    /// Its place in the order in which games finished.
    pub finish_number: u64,
    /// How it ended.
    pub result: StoredResult,
    /// Hash of all moves.
    pub moves_hash: u64,
}

/// Returns the checksum (XXH3, 64 bits) of a finished game: of everything that is stored of it but when, and of what only
/// statistics are made from.
#[must_use]
pub fn record_checksum(game: &NewGame, plies: &[PlyRecord], end: SealedEnd) -> u64 {
    let mut sum = RecordSum::default();
    let NewGame { game_id, kind, iteration, pair_index, candidate_id, opponent_id, .. } = game;
    sum.add_numbers(&[game_id.get(), u64::from(*iteration), game.seed, end.finish_number, end.moves_hash]);
    sum.add_numbers(&[number_of_ref(game.white_network), number_of_ref(game.black_network)].map(u64::from));
    let networks = [*candidate_id, *opponent_id].map(|id| id.map_or(0, |id| u64::from(id.get())));
    sum.add_numbers(&[pair_index.map_or(0, |index| u64::from(index) + 1), networks[0], networks[1]]);
    sum.add_numbers(&[u64::from(end.result.is_cut_off), game.opening.len() as u64, plies.len() as u64]);
    sum.add(kind.word());
    sum.add(outcome_word(end.result.outcome));
    sum.add(&game.settings);
    sum.add(game.start.as_deref().unwrap_or_default());
    game.opening.iter().for_each(|move_text| sum.add(move_text));
    for ply in plies {
        let network_id = ply.network_id.map_or(0, |id| u64::from(id.get()));
        sum.add_numbers(&[u64::from(ply.root_value.to_bits()), u64::from(ply.simulation_count), network_id]);
        sum.add(&ply.move_text);
        sum.add(ply.policy_target.as_ref().map_or_else(Vec::new, PolicyTarget::to_bytes));
    }
    // Not of other games: their sums stay as they were before anyone could resign.
    if let Some(resignation) = end.result.resignation {
        sum.add(resignation.word());
    }
    sum.0.digest()
}

/// A sum over texts and numbers, in which no two different lists are the same bytes.
#[derive(Default)]
struct RecordSum(Xxh3);

impl RecordSum {
    fn add_numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|number| self.0.update(&number.to_le_bytes()));
    }

    fn add(&mut self, bytes: impl AsRef<[u8]>) {
        self.add_numbers(&[bytes.as_ref().len() as u64]);
        self.0.update(bytes.as_ref());
    }
}

impl StoredGame {
    /// Returns the checksum of what was read; `None` if the game is not finished.
    pub(super) fn computed_checksum(&self) -> Option<u64> {
        let (result, finish_number, moves_hash) = (self.result?, self.finish_number?, self.moves_hash?);
        Some(record_checksum(&self.game, &self.record.plies, SealedEnd { finish_number, result, moves_hash }))
    }
}

/// Gives each finished game of an older store its checksum. Games that cannot be read get none: they are found as they are
/// replayed.
pub(super) fn add_missing(connection: &Connection) -> Result<u64, StoreError> {
    let mut finished = connection
        .prepare("SELECT game_id FROM games WHERE state = 'finished' AND checksum IS NULL AND is_thinned = 0")?;
    let ids: Vec<GameId> =
        finished.query_map([], |row| Ok(row.get::<_, Column<GameId>>(0)?.0))?.collect::<rusqlite::Result<_>>()?;
    let columns = GameColumns::of(connection)?;
    let mut count = 0;
    for game_id in ids {
        let game = match stored_game(connection, &columns, game_id) {
            Ok(game) => game,
            Err(StoreError::Damaged { .. } | StoreError::UnknownValue { .. }) => continue,
            Err(error) => return Err(error),
        };
        if let Some(checksum) = game.as_ref().and_then(StoredGame::computed_checksum) {
            let sql = "UPDATE games SET checksum = ?2 WHERE game_id = ?1";
            count += execute(connection, sql, params![Column(game_id), checksum.cast_signed()])? as u64;
        }
    }
    Ok(count)
}
