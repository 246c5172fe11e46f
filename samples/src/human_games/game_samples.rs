//! The samples of a human game: in each position the move that was played, and how the game ended.

use notation::PlayedGame;
use shared::catalog::GameSpec;
use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::text::lowest_in_hand;
use shared::game::hive::{Hive, HiveRules};
use shared::game::{Game, Outcome};
use shared::record::{GameCourse, PolicyTarget, Sample};

/// The samples of one game.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GameSamples {
    /// A sample for each ply, first to last.
    pub samples: Vec<Sample>,
    /// Plies left out: the move is not legal by the rules that the network plays by, such as a queen as first piece.
    pub left_out_count: u64,
}

/// Human games were asked for in a run of another game than Hive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("game.name: human games are read for Hive only")]
pub struct NotHive;

/// Returns the encoding of positions of human games for the network of a run of `spec`: the run's own, without the ply
/// limit and the draw by repetition, since people play on.
///
/// # Errors
/// [`NotHive`] if the game is another one.
pub fn encoding_of(spec: &GameSpec) -> Result<HiveEncoding, NotHive> {
    match *spec {
        GameSpec::Hive { rules, frame } => {
            let rules = HiveRules { ply_limit: u32::MAX, repetition_draw: false, ..rules };
            Ok(HiveEncoding::new(Hive::new(rules), frame))
        }
        GameSpec::Dama { .. } | GameSpec::TicTacToe {} => Err(NotHive),
    }
}

/// Makes the samples of a game whose `outcome` is known. The game may be of a type within that of the encoding: what is
/// legal, and which pieces are in hand, follows from its own.
#[must_use]
pub fn samples_of(encoding: &HiveEncoding, game: &PlayedGame, outcome: Outcome) -> GameSamples {
    let hive = Hive::new(HiveRules { game_type: game.rules.game_type, ..*encoding.game().rules() });
    let mut position = hive.initial_position();
    let (mut legal, mut indices) = (Vec::new(), Vec::new());
    let mut made = GameSamples::default();
    let (mut course, mut places) = (GameCourse::default(), Vec::new());
    for (ply, &mv) in (0..).zip(&game.moves) {
        legal.clear();
        indices.clear();
        hive.legal_moves(&position, &mut legal);
        let listed = lowest_in_hand(&position, mv);
        if legal.contains(&listed) {
            encoding.policy_indices(&position, &[listed], &mut indices);
        }
        match indices.first().and_then(|index| PolicyTarget::from_visits([(*index, 1)]).ok()) {
            Some(policy_target) => {
                let mut packed = Vec::new();
                encoding.pack(&position, &mut packed);
                let side = hive.side_to_move(&position);
                let outcome_value = outcome.value_for(side).get();
                places.push((ply, side));
                made.samples.push(Sample {
                    packed,
                    side,
                    policy_target,
                    outcome_value,
                    search_value: None,
                    outlook: None,
                });
            }
            None => made.left_out_count += 1,
        }
        course.note(encoding, &position, mv);
        hive.play(&mut position, mv);
    }
    for (sample, outlook) in made.samples.iter_mut().zip(course.outlooks(encoding, &position, &places)) {
        sample.outlook = Some(outlook);
    }
    made
}
