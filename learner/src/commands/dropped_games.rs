//! Human games that were dropped while reading, on stderr.

use runtime::logging;
use samples::human_games::DroppedGame;

/// Dropped games that are named; of the others only the number is printed.
const NAMED_COUNT_MAX: usize = 20;

/// Prints which games were dropped, the first of them by name.
pub fn print_dropped(dropped: &[DroppedGame]) {
    for dropped in dropped.iter().take(NAMED_COUNT_MAX) {
        logging::print_line(&format!("left out: {dropped}"));
    }
    if let Some(more) = dropped.len().checked_sub(NAMED_COUNT_MAX).filter(|more| *more > 0) {
        logging::print_line(&format!("left out: {more} more"));
    }
}
