//! Looking into a book.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use book::{Book, BookError};
use notation::ReplayRules;
use notation::uhp::{GameString, format_game};
use runtime::exit::UsageError;
use shared::catalog::NetworkGame;
use shared::game::Game;
use shared::game::dama::{Dama, DamaRules, fen};

use super::table::{table, totals};
use crate::start::wrong_position;

/// Prints what a book is of, and what it holds of a position; of the start of a game, if none is named.
pub fn show(file: &Path, position: Option<&str>, out: &mut impl Write) -> anyhow::Result<()> {
    let book = book::read(file)?;
    // A book of a game that this program does not know is refused as one of another game.
    if book.header().game == Dama::default().spec(Dama::USUAL_VIEW).name() {
        show_dama(&book, file, position, out)
    } else {
        show_hive(&book, file, position, out)
    }
}

fn show_hive(book: &Book, file: &Path, position: Option<&str>, out: &mut impl Write) -> anyhow::Result<()> {
    let game: GameString = position.unwrap_or(&book.header().type_name).parse().map_err(wrong_position)?;
    let hive = ReplayRules::default().hive(&game);
    book::check_game(book, file, Some(&hive)).map_err(refusal)?;
    let (position, moves) = game.replay(&hive).map_err(wrong_position)?;
    print(book, file, (&hive, &position), &format_game(&hive, &moves), out)
}

fn show_dama(book: &Book, file: &Path, position: Option<&str>, out: &mut impl Write) -> anyhow::Result<()> {
    let dama = Dama::new(DamaRules { ply_limit: u32::MAX });
    book::check_game(book, file, Some(&dama)).map_err(refusal)?;
    let position = position.map_or_else(|| Ok(dama.initial_position()), fen::read).map_err(wrong_position)?;
    print(book, file, (&dama, &position), &fen::write(position.board(), position.side_to_move()), out)
}

fn print<G: NetworkGame>(
    book: &Book,
    file: &Path,
    (game, position): (&G, &G::Position),
    heading: &str,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let moves = table(game, position, &book.moves(game, position));
    write!(out, "{}: {}\n{heading}\n{moves}", file.display(), totals(book)).context("print the moves")
}

fn refusal(error: BookError) -> anyhow::Error {
    if error.is_other_game() { UsageError(error.to_string()).into() } else { error.into() }
}
