//! The laws of [`Game`] and of its encodings, checked on seeded random games. A harness for tests: it panics with the
//! broken law, the game's seed and ply.

mod encodings;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::game::{Game, MOVE_TEXT_BYTES_MAX, MoveError, MoveNumber, Outcome, Side};

pub use encodings::check_encoding;

/// Plies after which a random game is given up.
const PLIES_MAX: u32 = 1000;

/// Plays `game_count` random games from `seed` on and checks the laws of [`Game`] at every ply.
///
/// # Panics
/// If a law is broken.
pub fn check_game<G: Game>(game: &G, seed: u64, game_count: u32) {
    for number in 0..u64::from(game_count) {
        let mut place = Place { seed: seed.wrapping_add(number), ply: 0 };
        let mut walk = Walk::new(game, place.seed);
        let mut stale = game.initial_position();
        while let Some(mv) = walk.choose() {
            check_position(game, &walk.position, &walk.moves, &place);
            check_copies(game, &walk.position, &mut stale, mv, &place);
            walk.advance(mv);
            place.ply += 1;
        }
        check_position(game, &walk.position, &walk.moves, &place);
        check_replay(game, &walk, &place);
    }
}

/// Checks that `count` random endgames from `seed` on can be read, go on, and come again with their seed.
///
/// # Panics
/// If one does not, or the game has none.
pub fn check_endgames<G: Game>(game: &G, seed: u64, count: u32) {
    for seed in (seed..).take(count as usize) {
        let place = Place { seed, ply: 0 };
        let text = game.random_endgame(seed).expect("the game has endgames");
        assert_eq!(game.random_endgame(seed).as_ref(), Some(&text), "{place:?}: the same seed, the same endgame");
        let position = game.start_position(Some(&text)).unwrap_or_else(|error| panic!("{place:?}: {error}"));
        assert_eq!(game.outcome(&position), None, "{place:?}: the game goes on");
        let mut moves = vec![];
        game.legal_moves(&position, &mut moves);
        check_position(game, &position, &moves, &Place { ply: game.ply(&position), ..place });
    }
}

/// Where a law is checked, for messages.
#[derive(Debug)]
struct Place {
    seed: u64,
    ply: u32,
}

/// A random game under way.
struct Walk<'a, G: Game> {
    game: &'a G,
    position: G::Position,
    moves: Vec<G::Move>,
    /// What was played, as text too.
    played: Vec<(G::Move, String)>,
    random: Pcg64Mcg,
}

impl<'a, G: Game> Walk<'a, G> {
    fn new(game: &'a G, seed: u64) -> Self {
        let position = game.initial_position();
        let moves = moves_of(game, &position);
        Self { game, position, moves, played: vec![], random: Pcg64Mcg::seed_from_u64(seed) }
    }

    fn choose(&mut self) -> Option<G::Move> {
        let is_over = self.moves.is_empty() || self.played.len() as u32 >= PLIES_MAX;
        (!is_over).then(|| self.moves[self.random.random_range(0..self.moves.len())])
    }

    fn advance(&mut self, mv: G::Move) {
        self.played.push((mv, self.game.format_move(&self.position, mv)));
        self.game.play(&mut self.position, mv);
        self.moves = moves_of(self.game, &self.position);
    }
}

fn moves_of<G: Game>(game: &G, position: &G::Position) -> Vec<G::Move> {
    let mut moves = vec![];
    game.legal_moves(position, &mut moves);
    moves
}

fn check_position<G: Game>(game: &G, position: &G::Position, moves: &[G::Move], place: &Place) {
    let is_over = game.outcome(position).is_some();
    assert_eq!(is_over, moves.is_empty(), "{place:?}: a position has an outcome or at least one move, never both");
    assert!(!game.is_cut_off(position) || is_over, "{place:?}: a game that is cut off is over");
    assert_eq!(game.ply(position), place.ply, "{place:?}: the ply counts the moves played");
    let side = if place.ply.is_multiple_of(2) { Side::White } else { Side::Black };
    assert_eq!(game.side_to_move(position), side, "{place:?}: sides alternate, White begins");
    let mut appended = vec![];
    for mv in moves {
        assert!(!appended.contains(mv), "{place:?}: {mv:?} is listed twice");
        assert_eq!(<G::Move as MoveNumber>::of_number(mv.number()), *mv, "{place:?}: a number brings its move back");
        appended.push(*mv);
    }
    game.legal_moves(position, &mut appended);
    assert_eq!(appended[moves.len()..], *moves, "{place:?}: moves are appended, in an order that never changes");
    check_chosen(game, position, moves, place);
    check_texts(game, position, moves, place);
}

fn check_chosen<G: Game>(game: &G, position: &G::Position, moves: &[G::Move], place: &Place) {
    let mut scratch = vec![];
    assert!(!moves.is_empty() || game.choose_move(position, 0, &mut scratch).is_none(), "{place:?}: the game is over");
    for (index, mv) in moves.iter().enumerate() {
        // The least share of the move, and the greatest.
        let bound = |index: usize| (((index as u64) << 32).div_ceil(moves.len() as u64)) as u32;
        for share in [bound(index), bound(index + 1).wrapping_sub(1)] {
            let chosen = game.choose_move(position, share, &mut scratch);
            assert_eq!(chosen, Some(*mv), "{place:?}: share {share:#x} of {} moves", moves.len());
        }
    }
}

fn check_texts<G: Game>(game: &G, position: &G::Position, moves: &[G::Move], place: &Place) {
    for mv in moves {
        let text = game.format_move(position, *mv);
        assert!(text.len() <= MOVE_TEXT_BYTES_MAX, "{place:?}: {text:?} is too long");
        assert_eq!(game.parse_move(position, &text), Ok(*mv), "{place:?}: {text:?} is read as it was written");
    }
    for text in ["", " ", "\0", "no such move", "é☃", "wQ wQ wQ", "99", "-", "\\", &"x".repeat(1000)] {
        if let Ok(mv) = game.parse_move(position, text) {
            assert!(moves.contains(&mv), "{place:?}: {text:?} is read as {mv:?}, which is not legal");
        }
    }
    if game.outcome(position).is_some() {
        let read = game.parse_move(position, "no such move");
        assert!(matches!(read, Err(MoveError::GameOver { .. })), "{place:?}: no move is read after the end");
    }
}

/// A copy is independent of the original, whatever its memory held, and plays on like it.
fn check_copies<G: Game>(game: &G, position: &G::Position, stale: &mut G::Position, mv: G::Move, place: &Place) {
    let before = Seen::of(game, position);
    let mut copy = position.clone();
    game.play(&mut copy, mv);
    assert_eq!(Seen::of(game, position), before, "{place:?}: playing on a copy leaves the original alone");
    stale.clone_from(position);
    assert_eq!(Seen::of(game, stale), before, "{place:?}: clone_from gives an equal position");
    game.play(stale, mv);
    assert_eq!(Seen::of(game, stale), Seen::of(game, &copy), "{place:?}: copies play on alike");
}

/// The same moves give the same positions, whether played on move by move or read from text.
fn check_replay<G: Game>(game: &G, walk: &Walk<'_, G>, place: &Place) {
    let mut position = game.initial_position();
    for (ply, (mv, text)) in walk.played.iter().enumerate() {
        assert!(game.outcome(&position).is_none(), "{place:?}: the outcome at ply {ply} came only when replayed");
        assert_eq!(game.parse_move(&position, text), Ok(*mv), "{place:?}: {text:?} at ply {ply} is read as played");
        game.play(&mut position, *mv);
    }
    assert_eq!(Seen::of(game, &position), Seen::of(game, &walk.position), "{place:?}: a game replays to the same end");
}

/// All that the contract shows of a position.
#[derive(Debug, PartialEq)]
struct Seen<M> {
    moves: Vec<M>,
    outcome: Option<Outcome>,
    side: Side,
    ply: u32,
    hash: u64,
    is_cut_off: bool,
}

impl<M: Copy> Seen<M> {
    fn of<G: Game<Move = M>>(game: &G, position: &G::Position) -> Self {
        Self {
            moves: moves_of(game, position),
            outcome: game.outcome(position),
            side: game.side_to_move(position),
            ply: game.ply(position),
            hash: game.hash(position),
            is_cut_off: game.is_cut_off(position),
        }
    }
}
