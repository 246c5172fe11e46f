//! Planes and indices of a few Hive positions, drawn so that a reader can check them by eye.
//!
//! `UPDATE_GOLDEN=1 cargo test -p shared --test encoding_hive_golden` rewrites the file.

use std::fmt::Write;

use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::Game;
use shared::game::hive::{Hive, HiveRules, Piece, Position};

const FRAME: usize = 8;
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/hive_planes.txt");

/// What is shown, and the moves that lead there.
const POSITIONS: [(&str, &str, &[&str]); 4] = [
    ("the first move", "Base+MLP", &[]),
    ("four pieces in a row, White to move", "Base", &["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-"]),
    (
        "a white beetle has climbed its own spider, Black to move",
        "Base",
        &["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-", "wB1 \\wS1", "bA1 bQ-", "wB1 wS1"],
    ),
    (
        "a pillbug may throw the enemy ant, White to move",
        "Base+P",
        &["wP", "bS1 wP-", "wQ -wP", "bQ bS1-", "wA1 \\wQ", "bA1 bQ-", "wG1 /wQ", "bA1 wP/", "wB1 -wQ", "bB1 bQ-"],
    ),
];

const PLANES: [&str; 24] = [
    "my Q",
    "my B",
    "my S",
    "my G",
    "my A",
    "my L",
    "my M",
    "my P",
    "their Q",
    "their B",
    "their S",
    "their G",
    "their A",
    "their L",
    "their M",
    "their P",
    "height / 7",
    "top: + mine, - theirs",
    "where I may place",
    "filled neighbours of my queen / 6",
    "filled neighbours of their queen / 6",
    "may not move without splitting the hive",
    "ply / 200",
    "my pieces in hand / 14",
];

#[test]
fn planes_and_indices_are_as_drawn() {
    let mut text = String::from(
        "# Planes of Hive positions in a frame of 8, rows indented as the hexes lie. Planes that are 0 are left out.\n\
         # A number in the picture is the value times 7 (height) or the value; '.' is 0.\n\
         # Rewritten by UPDATE_GOLDEN=1 cargo test -p shared --test encoding_hive_golden\n",
    );
    for (title, game_type, moves) in POSITIONS {
        draw(&mut text, title, game_type, moves);
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &text).expect("write the golden file");
    }
    let golden = std::fs::read_to_string(GOLDEN).expect("read the golden file");
    for (number, (line, golden)) in text.lines().zip(golden.lines()).enumerate() {
        assert_eq!(line, golden, "line {} of {GOLDEN}", number + 1);
    }
    assert_eq!(text.lines().count(), golden.lines().count(), "lines of {GOLDEN}");
}

fn draw(text: &mut String, title: &str, game_type: &str, moves: &[&str]) {
    let rules = HiveRules { game_type: game_type.parse().expect("a game type"), ..HiveRules::default() };
    let encoding = HiveEncoding::new(Hive::new(rules), FRAME as u8);
    let mut position = encoding.game().initial_position();
    for text in moves {
        let mv = encoding.game().parse_move(&position, text).expect("a legal move");
        encoding.game().play(&mut position, mv);
    }
    writeln!(text, "\n== {title} ==\n{game_type};{}", moves.join(";")).expect("write to a string");
    draw_board(text, &encoding, &position);
    draw_planes(text, &encoding, &position);
    list_moves(text, &encoding, &position);
}

/// The top pieces by name.
fn draw_board(text: &mut String, encoding: &HiveEncoding, position: &Position) {
    let mut names = vec![".".to_owned(); FRAME * FRAME];
    for piece in Piece::all() {
        if let Some(cell) = position.cell_of(piece).filter(|cell| position.top(*cell) == Some(piece)) {
            names[usize::from(encoding.frame_cell(position, cell).expect("inside"))] = piece.to_string();
        }
    }
    draw_rows(text, 4, |place| names[place].clone());
}

fn draw_planes(text: &mut String, encoding: &HiveEncoding, position: &Position) {
    let mut planes = vec![f32::NAN; encoding.plane_shape().len()];
    encoding.encode(position, &mut planes);
    for (number, (name, plane)) in PLANES.iter().zip(planes.chunks(FRAME * FRAME)).enumerate() {
        if [19, 20, 22, 23].contains(&number) {
            assert!(plane.iter().all(|value| *value == plane[0]), "plane {number} is one number");
            writeln!(text, "plane {number} {name}: {:.4} everywhere", plane[0]).expect("write to a string");
        } else if plane.iter().any(|value| *value != 0.0) {
            writeln!(text, "plane {number} {name}").expect("write to a string");
            let factor = if number == 16 { 7.0 } else { 1.0 };
            draw_rows(text, 2, |place| match plane[place] * factor {
                0.0 => ".".into(),
                1.0 if number == 17 => "+".into(),
                -1.0 => "-".into(),
                value => value.to_string(),
            });
        }
    }
}

fn draw_rows(text: &mut String, width: usize, name: impl Fn(usize) -> String) {
    for row in 0..FRAME {
        let mut line = " ".repeat(row * width / 2);
        for column in 0..FRAME {
            write!(line, "{:width$}", name(row * FRAME + column)).expect("write to a string");
        }
        writeln!(text, "{}", line.trim_end()).expect("write to a string");
    }
}

fn list_moves(text: &mut String, encoding: &HiveEncoding, position: &Position) {
    let (mut moves, mut indices, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    encoding.game().legal_moves(position, &mut moves);
    encoding.policy_indices(position, &moves, &mut indices);
    encoding.move_cells(position, &indices, &mut cells).expect("legal moves");
    writeln!(text, "moves: index = (direction * 28 + mover) * 28 + reference").expect("write to a string");
    for ((mv, index), cells) in moves.into_iter().zip(indices).zip(cells) {
        let name = encoding.game().format_move(position, mv);
        let (direction, mover, reference) = (index / 784, index / 28 % 28, index % 28);
        writeln!(text, "{name:10} {index:4} = ({direction} * 28 + {mover}) * 28 + {reference}  {cells:?}")
            .expect("write to a string");
    }
}
