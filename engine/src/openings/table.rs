//! What a book holds, as people read it.

use std::fmt::Write;

use book::{Book, BookMove, Results};
use runtime::counted::counted;
use shared::game::Game;

/// Returns what a book is of, and how much there is in it.
pub fn totals(book: &Book) -> String {
    let header = book.header();
    let moves = counted(book.entries().len(), "move", "moves");
    let positions = counted(book.position_count(), "position", "positions");
    let [from, least] = [header.game_count, header.games_min.into()].map(|count| counted(count, "game", "games"));
    let plies = counted(header.plies, "ply", "plies");
    format!("{}, {moves} of {positions} from {from}: {plies}, at least {least} a move", header.type_name)
}

/// Returns in how many games a move was played, and what they scored.
pub fn summary(results: Results) -> String {
    format!("played in {}, score {:.1} %", counted(results.game_count(), "game", "games"), 100.0 * results.score())
}

/// Returns a line for each move, the most played first, from the view of whoever plays it.
pub fn table<G: Game>(game: &G, position: &G::Position, moves: &[BookMove<G::Move>]) -> String {
    if moves.is_empty() {
        return "book: nothing of this position\n".to_owned();
    }
    let all: u64 = moves.iter().map(|found| found.results.game_count()).sum();
    let mut text =
        format!("{:>8} {:>7} {:>7} {:>7} {:>7} {:>7}  book move\n", "games", "share", "score", "won", "drawn", "lost");
    for BookMove { mv, results } in moves {
        let (count, Results { wins, draws, losses }) = (results.game_count(), *results);
        let share = 100.0 * count as f64 / all.max(1) as f64;
        let score = 100.0 * results.score();
        let mv = game.format_move(position, *mv);
        writeln!(text, "{count:>8} {share:>5.1} % {score:>5.1} % {wins:>7} {draws:>7} {losses:>7}  {mv}").ok();
    }
    text
}
