//! Texts of other programs: what is read and written again is read alike.

use notation::dama::{hub, pdn};
use notation::pgn::{self, PgnGame};
use notation::uhp::GameString;
use notation::{ReadOptions, games};
use shared::game::dama::fen;

const OLD_GAMES: ReadOptions = ReadOptions { queen_first_allowed: true };

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A GameString of the Universal Hive Protocol.
pub fn uhp(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    // Parsed without the rules, then played through.
    let _ = text.parse::<GameString>();
    let Ok(game) = games::read(text, OLD_GAMES) else { return };
    let written = game.to_game_string();
    let again = games::read(&written, OLD_GAMES).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!((again.moves, again.outcome), (game.moves, game.outcome), "{written}");
}

/// A game of BoardSpace.
pub fn boardspace(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(game) = notation::boardspace::read(text, OLD_GAMES) else { return };
    assert_eq!(game.move_texts().len(), game.moves.len(), "a text for each move");
}

/// Games of draughts as PDN.
pub fn pdn(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for game in pdn::read(text).flatten() {
        let written = pdn::write(&game);
        let again: Vec<_> = pdn::read(&written).collect();
        let [Ok(again)] = &again[..] else { panic!("{written}: {again:?}") };
        assert_eq!((&again.moves, again.result), (&game.moves, game.result), "{written}");
    }
}

/// Games of Hive as PGN.
pub fn pgn(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for (_, text) in pgn::split(text) {
        let Ok(PgnGame { tags, game }) = pgn::read(text, OLD_GAMES) else { continue };
        let written = pgn::write(&tags, game.rules.game_type, &game.move_texts(), game.outcome);
        let again = pgn::read(&written, OLD_GAMES).unwrap_or_else(|error| panic!("{written}: {error}")).game;
        assert_eq!((again.moves, again.outcome), (game.moves, game.outcome), "{written}");
    }
}

/// A position of draughts as FEN.
pub fn fen(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(position) = fen::read(text) else { return };
    let written = fen::write(position.board(), position.side_to_move());
    let again = fen::read(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!((again.board(), again.side_to_move()), (position.board(), position.side_to_move()), "{written}");
}

/// A position of draughts as hub engines write it.
pub fn hub_position(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(position) = hub::read(text) else { return };
    let written = hub::write(position.board(), position.side_to_move());
    let again = hub::read(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!((again.board(), again.side_to_move()), (position.board(), position.side_to_move()), "{written}");
}
