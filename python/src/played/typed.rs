//! A game and its positions, generic over the rules.

use shared::catalog::GameSpec;
use shared::encoding::{DecodeError, Encoding};
use shared::game::{MoveError, Outcome};

use super::notebook_game::{NoHistoryError, NotebookGame, PositionTextError};

/// A game with the way it is shown to networks.
#[derive(Debug, Clone)]
pub struct TypedGame<G: NotebookGame> {
    /// The rules.
    pub game: G,
    /// How networks see it.
    pub view: G::View,
}

/// A position that is never changed: playing makes another one.
#[derive(Clone)]
pub struct TypedPosition<G: NotebookGame> {
    game: TypedGame<G>,
    position: G::Position,
    /// How it came about; `None` if only the position is known.
    history: Option<History<G>>,
}

/// How a position came about.
#[derive(Clone)]
struct History<G: NotebookGame> {
    /// Where the game began, and its text; `None` at the initial position.
    start: Option<(G::Position, String)>,
    moves: Vec<G::Move>,
}

/// Why there is no such position.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The text is not a position.
    #[error(transparent)]
    Text(#[from] PositionTextError),
    /// A move cannot be played.
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl<G: NotebookGame> TypedGame<G> {
    /// Returns the specification.
    pub fn spec(&self) -> GameSpec {
        self.game.spec(self.view)
    }

    /// Returns how the game is shown.
    pub fn encoding(&self) -> G::Encoding {
        self.game.encoding(self.view)
    }

    /// Returns the position that `text` tells, the initial one without a text, after `moves`.
    ///
    /// # Errors
    /// [`BeginError`].
    pub fn position(&self, text: Option<&str>, moves: &[String]) -> Result<TypedPosition<G>, BeginError> {
        let mut begun = match text {
            None => TypedPosition::at(self, self.game.initial_position(), History { start: None, moves: vec![] }),
            Some(text) => self.read(text)?,
        };
        for text in moves {
            begun = begun.play(text)?;
        }
        Ok(begun)
    }

    fn read(&self, text: &str) -> Result<TypedPosition<G>, PositionTextError> {
        let (start, moves) = self.game.read(text)?;
        // A text of moves tells where the game began by itself.
        let is_initial = self.pack(&start) == self.pack(&self.game.initial_position());
        let start_text = (!is_initial).then(|| (start.clone(), text.to_owned()));
        let mut position = start;
        moves.iter().for_each(|mv| self.game.play(&mut position, *mv));
        Ok(TypedPosition::at(self, position, History { start: start_text, moves }))
    }

    /// Returns a position of which nothing is known but itself.
    pub fn without_history(&self, position: G::Position) -> TypedPosition<G> {
        TypedPosition { game: self.clone(), position, history: None }
    }

    /// Returns the position that `packed` holds.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are no position.
    pub fn unpack(&self, packed: &[u8]) -> Result<TypedPosition<G>, DecodeError> {
        let mut position = self.game.initial_position();
        self.encoding().unpack(packed, &mut position)?;
        Ok(self.without_history(position))
    }

    fn pack(&self, position: &G::Position) -> Vec<u8> {
        let mut packed = vec![];
        self.encoding().pack(position, &mut packed);
        packed
    }
}

impl<G: NotebookGame> TypedPosition<G> {
    fn at(game: &TypedGame<G>, position: G::Position, history: History<G>) -> Self {
        Self { game: game.clone(), position, history: Some(history) }
    }

    /// Returns the game.
    pub const fn game(&self) -> &TypedGame<G> {
        &self.game
    }

    /// Returns the position as the rules have it.
    pub const fn position(&self) -> &G::Position {
        &self.position
    }

    /// Returns the legal moves, in an order that never changes.
    pub fn moves(&self) -> Vec<G::Move> {
        let mut moves = vec![];
        self.game.game.legal_moves(&self.position, &mut moves);
        moves
    }

    /// Returns the texts of moves that are legal here.
    pub fn texts(&self, moves: &[G::Move]) -> Vec<String> {
        moves.iter().map(|mv| self.game.game.format_move(&self.position, *mv)).collect()
    }

    /// Returns the texts of moves that are played one after the other from here.
    pub fn line(&self, moves: &[G::Move]) -> Vec<String> {
        texts_from(&self.game.game, self.position.clone(), moves)
    }

    /// Returns the position after a move.
    ///
    /// # Errors
    /// [`MoveError`] if the text is no legal move.
    pub fn play(&self, text: &str) -> Result<Self, MoveError> {
        let mv = self.game.game.parse_move(&self.position, text)?;
        let mut next = self.clone();
        next.game.game.play(&mut next.position, mv);
        if let Some(history) = &mut next.history {
            history.moves.push(mv);
        }
        Ok(next)
    }

    /// Returns how the game ended, `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.game.game.outcome(&self.position)
    }

    /// Returns where the game began, `None` for the initial position, and the moves since; `None` if they are not known.
    pub fn history(&self) -> Option<(Option<String>, Vec<String>)> {
        let History { start, moves } = self.history.as_ref()?;
        let game = &self.game.game;
        let begun = start.as_ref().map_or_else(|| game.initial_position(), |(position, _)| position.clone());
        Some((start.as_ref().map(|(_, text)| text.clone()), texts_from(game, begun, moves)))
    }

    /// Returns the position as text.
    ///
    /// # Errors
    /// [`NoHistoryError`] if the text is made of moves that are not known.
    pub fn text(&self) -> Result<String, NoHistoryError> {
        let moves = self.history.as_ref().map(|history| history.moves.as_slice());
        self.game.game.write(&self.position, moves)
    }

    /// Returns the planes that a network is shown, f32 [C, H, W].
    pub fn planes(&self) -> Vec<f32> {
        let encoding = self.game.encoding();
        let mut planes = vec![0.0; encoding.plane_shape().len()];
        encoding.encode(&self.position, &mut planes);
        planes
    }

    /// Returns the policy indices of moves that are legal here.
    pub fn policy_indices(&self, moves: &[G::Move]) -> Vec<u16> {
        let mut indices = vec![];
        self.game.encoding().policy_indices(&self.position, moves, &mut indices);
        indices
    }

    /// Returns a number that is equal for equal positions.
    pub fn hash(&self) -> u64 {
        self.game.game.evaluation_hash(&self.position)
    }

    /// Returns whether rules and networks cannot tell the two apart.
    pub fn is_equal(&self, other: &Self) -> bool {
        let are_seen_alike = || self.game.pack(&self.position) == other.game.pack(&other.position);
        self.game.spec() == other.game.spec() && self.hash() == other.hash() && are_seen_alike()
    }
}

fn texts_from<G: NotebookGame>(game: &G, mut position: G::Position, moves: &[G::Move]) -> Vec<String> {
    let text = |mv: &G::Move| {
        let text = game.format_move(&position, *mv);
        game.play(&mut position, *mv);
        text
    };
    moves.iter().map(text).collect()
}
