//! What a network sees of a game, and what it answers to: the planes, the packed form and the policy indices of a position
//! of Hive, printed. docs/encoding.md says what they mean.
//!
//! The same calls work for every game: all of them are those of the trait [`Encoding`].
//!
//! `cargo run -p shared --example encoding`

use std::error::Error;

use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::{GameType, Hive, HiveRules, Position};
use shared::game::{Game, MoveError};

/// The moves of a short opening, in UHP notation.
const MOVES: [&str; 6] = ["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-", "wA1 \\wQ", "bA1 bQ-"];
/// Side of the square of cells: as small as one can be, so that the planes fit on a page.
const FRAME: u8 = 8;

/// Prints the position as the network gets it, and checks that it comes back from its packed form.
pub fn main() -> Result<(), Box<dyn Error>> {
    let rules = HiveRules { game_type: GameType::MLP, ..HiveRules::default() };
    let encoding = HiveEncoding::new(Hive::new(rules), FRAME);
    let position = after_moves(encoding.game())?;
    println!("Base+MLP after {}\n", MOVES.join("; "));

    print_planes(&encoding, &position);
    let packed = print_packed(&encoding, &position);
    print_policy_indices(&encoding, &position);

    // What crosses the wire and lies in the replay buffer is the packed form alone: it must say everything.
    let mut unpacked = encoding.game().initial_position();
    encoding.unpack(&packed, &mut unpacked)?;
    assert_eq!(encoding.game().hash(&unpacked), encoding.game().hash(&position), "the position from its packed form");
    Ok(())
}

fn after_moves(hive: &Hive) -> Result<Position, MoveError> {
    let mut position = hive.initial_position();
    for text in MOVES {
        let mv = hive.parse_move(&position, text)?;
        hive.play(&mut position, mv);
    }
    Ok(position)
}

/// The input, f32 [C, H, W]: every plane that is not 0 throughout.
fn print_planes(encoding: &HiveEncoding, position: &Position) {
    let shape = encoding.plane_shape();
    let mut planes = vec![0.0; shape.len()];
    encoding.encode(position, &mut planes);
    println!("{} planes of {} x {}, from the side to move's view:", shape.planes, shape.rows, shape.columns);
    for (index, plane) in planes.chunks(shape.rows * shape.columns).enumerate() {
        if plane.iter().all(|number| *number == 0.0) {
            continue;
        }
        if plane.iter().all(|number| *number == plane[0]) {
            println!("plane {index}: {:.3} everywhere", plane[0]);
            continue;
        }
        println!("plane {index}:");
        for row in plane.chunks(shape.columns) {
            let cells: Vec<String> =
                row.iter().map(|number| if *number == 0.0 { ".".to_owned() } else { format!("{number:.2}") }).collect();
            println!("  {}", cells.iter().map(|cell| format!("{cell:>5}")).collect::<String>());
        }
    }
}

/// The packed form: the bytes by which workers, replay buffer and data sets name the position.
fn print_packed(encoding: &HiveEncoding, position: &Position) -> Vec<u8> {
    let mut packed = Vec::new();
    encoding.pack(position, &mut packed);
    let digits: String = packed.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("\npacked, {} bytes: {digits}", packed.len());
    packed
}

/// The output: one logit for each policy index, of which those of the legal moves count.
fn print_policy_indices(encoding: &HiveEncoding, position: &Position) {
    let (mut moves, mut policy_indices) = (Vec::new(), Vec::new());
    encoding.game().legal_moves(position, &mut moves);
    encoding.policy_indices(position, &moves, &mut policy_indices);
    println!("\n{} of {} policy indices are legal moves:", moves.len(), encoding.policy_size());
    for (mv, policy_index) in moves.into_iter().zip(policy_indices) {
        println!("{policy_index:5}  {}", encoding.game().format_move(position, mv));
    }
}
