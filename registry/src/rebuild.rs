//! Fills the replay buffer at start, from the finished games in the store.

use rayon::prelude::*;
use runtime::exit::one_line;
use samples::buffer::{ReplaySets, SampledGame};
use shared::encoding::Encoding;
use shared::game::Outcome;
use shared::record::{ReplayError, ReplayedGame, replay};
use store::{Change, FinishedSpan, Reader, Store, StoreError, StoredGame};

/// Games that each thread reads and replays before they are put into the buffer.
const THREAD_GAMES: usize = 64;

/// What a rebuild found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RebuildReport {
    /// Games that are in the buffer now.
    pub game_count: u64,
    /// Games that did not replay and are quarantined now.
    pub quarantined_count: u64,
}

/// Why a finished game of the store does not count.
#[derive(Debug, thiserror::Error)]
enum RefusedGame {
    #[error("the game is gone")]
    Gone,
    #[error("{0}")]
    Damaged(String),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("ended with {found:?}, stored as {stored:?}")]
    OtherOutcome { found: Option<Outcome>, stored: Option<Outcome> },
}

/// Fills `sets`, which are empty, with the newest positions of finished self-play games up to finish number
/// `window_end`, as many to learn from and held out as are kept, and with all that finished later (`u64::MAX`: simply the
/// newest).
///
/// What is learned from is then as if the process had never stopped; with a `window_end` its window is fixed already. A
/// game that does not replay is quarantined.
///
/// # Errors
/// [`StoreError`] if the database cannot be read, or a quarantine not be written.
pub fn rebuild<E: Encoding>(
    encoding: &E,
    store: &Store,
    sets: impl Into<ReplaySets>,
    window_end: u64,
) -> Result<(ReplaySets, RebuildReport), StoreError> {
    let mut sets = sets.into();
    let thread_count = rayon::current_num_threads();
    let mut readers = (0..thread_count).map(|_| store.reader()).collect::<Result<Vec<_>, _>>()?;
    let mut report = RebuildReport::default();
    if window_end != u64::MAX {
        // Later games must not push out what the window holds.
        sets.fix_window(0);
    }
    let spans = newest_spans(&store.reader()?, &sets, window_end)?;
    for chunk in spans.chunks(thread_count * THREAD_GAMES) {
        for (span, game) in chunk.iter().zip(replay_chunk(encoding, &mut readers, chunk)?) {
            match game {
                Ok(game) => {
                    let sampled = SampledGame { samples: &game.samples, is_cut_off: game.is_cut_off };
                    sets.push_game(span.finish_number, span.moves_hash, sampled);
                    report.game_count += 1;
                }
                Err(refused) => {
                    let reason = one_line(&refused);
                    tracing::error!(game_id = span.game_id.get(), reason, "finished game does not replay, quarantined");
                    store.write(vec![Change::QuarantineGame { game_id: span.game_id, reason }])?;
                    report.quarantined_count += 1;
                }
            }
        }
    }
    if window_end == u64::MAX {
        sets.release();
    } else {
        sets.fix_window(window_end);
    }
    Ok((sets, report))
}

/// Returns the games that fill both buffers with positions up to `window_end`, and all later ones, oldest first.
fn newest_spans(reader: &Reader, sets: &ReplaySets, window_end: u64) -> Result<Vec<FinishedSpan>, StoreError> {
    let (mut learned_count, mut held_out_count) = (0, 0);
    reader.newest_self_play(|span| {
        let sample_count = u64::from(span.sample_count);
        match (span.finish_number <= window_end, sets.is_held_out(span.moves_hash)) {
            (true, false) => learned_count += sample_count,
            // One that was cut off measures nothing.
            (true, true) if !span.is_cut_off => held_out_count += sample_count,
            _ => {}
        }
        learned_count >= sets.capacity() && held_out_count >= sets.held_out_capacity()
    })
}

/// Reads and replays some games, each thread through a its own reader; the order stays.
fn replay_chunk<E: Encoding>(
    encoding: &E,
    readers: &mut [Reader],
    chunk: &[FinishedSpan],
) -> Result<Vec<Result<ReplayedGame, RefusedGame>>, StoreError> {
    let parts = readers.par_iter_mut().zip(chunk.par_chunks(THREAD_GAMES));
    let replayed: Vec<Result<Vec<_>, StoreError>> = parts
        .map(|(reader, spans)| spans.iter().map(|span| read_and_replay(encoding, reader, *span)).collect())
        .collect();
    Ok(replayed.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Reads and replays one game; the inner error says why it does not count.
fn read_and_replay<E: Encoding>(
    encoding: &E,
    reader: &Reader,
    span: FinishedSpan,
) -> Result<Result<ReplayedGame, RefusedGame>, StoreError> {
    match reader.game(span.game_id) {
        Ok(Some(game)) => Ok(replay_finished(encoding, &game)),
        Ok(None) => Ok(Err(RefusedGame::Gone)),
        Err(StoreError::Damaged { what }) => Ok(Err(RefusedGame::Damaged(what))),
        Err(error) => Err(error),
    }
}

/// Replays a finished game and compares the result with the stored one.
fn replay_finished<E: Encoding>(encoding: &E, game: &StoredGame) -> Result<ReplayedGame, RefusedGame> {
    let replayed = replay(encoding, &game.record)?;
    let stored = game.result.map(|result| result.outcome);
    if replayed.outcome == stored {
        Ok(replayed)
    } else {
        Err(RefusedGame::OtherOutcome { found: replayed.outcome, stored })
    }
}
