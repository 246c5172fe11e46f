//! Facts about Hive, one JSON object a line, and games as UHP GameStrings.
//!
//! Moves are compared by what they do (piece, cell, level), not by how they are written.

use std::collections::{BTreeMap, BTreeSet};

use notation::uhp::{GameState, GameString};
use notation::{Ending, ReadOptions, games};
use serde::Deserialize;
use shared::game::Game;
use shared::game::hive::{Cell, GameType, Hive, HiveRules, Position};

use super::difference::{Difference, expect};
use super::{Checked, check_lines};

/// Checks a file: facts or games, one a line.
pub fn check_facts(text: &str) -> Vec<Checked> {
    let check = if text.trim_start().starts_with('{') { check_line } else { check_game };
    check_lines(text, check)
}

/// Checks a game; it may open with a queen, as on some sites. Who won is in question only where a queen is surrounded: people
/// resign, and clocks run out.
fn check_game(line: &str) -> Result<(), Difference> {
    let game = games::read(line, ReadOptions { queen_first_allowed: true })?;
    if game.ending != Ending::QueenSurrounded {
        return Ok(());
    }
    let [found, stated] = [game.outcome, game.stated_outcome].map(|outcome| GameState::from(outcome).to_string());
    expect("state", &found, &stated)
}

/// One line of a file; which fields are there tells what it claims.
#[derive(Debug, Deserialize)]
struct Facts {
    id: Option<String>,
    gametype: String,
    game: Option<String>,
    state: Option<String>,
    targets: Option<Vec<Option<Target>>>,
    board: Option<BTreeMap<String, (i32, i32, u8)>>,
    #[serde(default, deserialize_with = "present")]
    last_moved: Option<Option<String>>,
    n_legal: Option<serde_json::Value>,
    moves: Option<Vec<String>>,
    first_threefold_ply: Option<usize>,
}

/// A piece, the cell that it comes to (q, r), and the number of pieces under it.
type Target = (String, i32, i32, u8);

/// Tells a field that is `null` from one that is missing.
pub fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn check_line(line: &str) -> Result<(), Difference> {
    let facts: Facts = serde_json::from_str(line).map_err(Difference::NotFacts)?;
    check(&facts).map_err(|difference| difference.named(facts.id.as_deref()))
}

fn check(facts: &Facts) -> Result<(), Difference> {
    let game_type: GameType = facts.gametype.parse()?;
    let rules = HiveRules {
        game_type,
        ply_limit: u32::MAX,
        repetition_draw: false,
        queen_first_allowed: false,
        rest_counts: false,
    };
    if let (Some(moves), Some(ply)) = (&facts.moves, facts.first_threefold_ply) {
        return check_repetition(&Hive::new(HiveRules { repetition_draw: true, ..rules }), moves, ply);
    }
    let hive = Hive::new(rules);
    let game: GameString = match &facts.game {
        Some(game) => game.parse()?,
        None => return Err(Difference::Nothing("neither a game nor moves with first_threefold_ply")),
    };
    let (position, _) = game.replay(&hive)?;
    if let Some(state) = &facts.state {
        expect("state", &GameState::of(&hive, &position).to_string(), state)?;
    }
    match (&facts.targets, facts.n_legal.as_ref().and_then(|counts| counts.as_array())) {
        (Some(targets), _) => check_position(&hive, &position, facts, targets),
        (None, Some(counts)) => check_counts(&hive, &game, counts),
        (None, None) => Err(Difference::Nothing("neither targets nor a list n_legal")),
    }
}

fn check_position(
    hive: &Hive,
    position: &Position,
    facts: &Facts,
    targets: &[Option<Target>],
) -> Result<(), Difference> {
    let mut moves = Vec::new();
    hive.legal_moves(position, &mut moves);
    let target = |mv: shared::game::hive::Move| {
        let (q, r) = from_first(mv.target());
        mv.piece().map(|piece| (piece.to_string(), q, r, position.height(mv.target())))
    };
    let found: BTreeSet<Option<Target>> = moves.iter().map(|mv| target(*mv)).collect();
    let expected: BTreeSet<Option<Target>> = targets.iter().cloned().collect();
    if found != expected {
        let missing: Vec<_> = expected.difference(&found).map(show).collect();
        let extra: Vec<_> = found.difference(&expected).map(show).collect();
        return Err(Difference::LegalMoves { missing: missing.join(", "), extra: extra.join(", ") });
    }
    expect("number of legal moves", &hive.move_count(position), &targets.len())?;
    if let Some(board) = &facts.board {
        let found = position.pieces().filter_map(|piece| {
            let (q, r) = from_first(position.cell_of(piece)?);
            Some((piece.to_string(), (q, r, position.level_of(piece))))
        });
        expect("board", &found.collect(), board)?;
    }
    match &facts.last_moved {
        Some(piece) => expect("last_moved", &position.last_moved().map(|piece| piece.to_string()), piece),
        None => Ok(()),
    }
}

fn check_counts(hive: &Hive, game: &GameString, counts: &[serde_json::Value]) -> Result<(), Difference> {
    expect("number of counts", &counts.len(), &(game.moves.len() + 1))?;
    let mut position = hive.initial_position();
    for (ply, expected) in counts.iter().enumerate() {
        let found = hive.move_count(&position);
        if expected.as_u64() != Some(found as u64) {
            return Err(Difference::MoveCount { ply, found, expected: expected.clone() });
        }
        if let Some(text) = game.moves.get(ply) {
            let mv = hive.parse_move(&position, text)?;
            hive.play(&mut position, mv);
        }
    }
    Ok(())
}

fn check_repetition(hive: &Hive, moves: &[String], first_threefold_ply: usize) -> Result<(), Difference> {
    let mut position = hive.initial_position();
    let mut draw_ply = None;
    for (index, text) in moves.iter().enumerate() {
        let mv = hive.parse_move(&position, text)?;
        hive.play(&mut position, mv);
        if hive.outcome(&position).is_some() {
            draw_ply = Some(index + 1);
            break;
        }
    }
    expect("ply of the third occurrence", &draw_ply, &Some(first_threefold_ply))
}

/// Coordinates as the files tell them: the first piece of the game is at (0, 0).
fn from_first(cell: Cell) -> (i32, i32) {
    (i32::from(cell.q()) - i32::from(Cell::ORIGIN.q()), i32::from(cell.r()) - i32::from(Cell::ORIGIN.r()))
}

fn show(target: &Option<Target>) -> String {
    match target {
        Some((piece, q, r, level)) => format!("{piece} to ({q}, {r}) level {level}"),
        None => "pass".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use notation::uhp::format_game;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use shared::game::Outcome;

    use super::*;

    const START: &str = r#""gametype":"Base","game":"Base;NotStarted;White[1]""#;

    fn check_start(facts: &str) -> Result<(), Difference> {
        check_line(&format!("{{{START},{facts}}}"))
    }

    #[test]
    fn facts_pass_and_fail() {
        let targets = r#""targets":[["wA1",0,0,0],["wB1",0,0,0],["wG1",0,0,0],["wS1",0,0,0]]"#;
        check_start(&format!(r#"{targets},"board":{{}},"last_moved":null"#)).unwrap();
        check_start(r#""n_legal":[4]"#).unwrap();
        let cases = [
            (format!(r#"{targets},"state":"Draw""#), r#"state: "NotStarted", expected "Draw""#),
            (format!(r#"{targets},"last_moved":"wQ""#), r#"last_moved: None, expected Some("wQ")"#),
            (format!(r#"{targets},"board":{{"wQ":[0,0,0]}}"#), r#"board: {}, expected {"wQ": (0, 0, 0)}"#),
            (targets.replace("wA1", "wA2"), "missing [wA2 to (0, 0) level 0], extra [wA1 to (0, 0) level 0]"),
            (r#""n_legal":[5]"#.to_owned(), "after 0 plies: 4 legal moves, expected 5"),
            (r#""n_legal":5"#.to_owned(), "neither targets nor a list n_legal"),
        ];
        for (facts, difference) in cases {
            let found = check_start(&facts).unwrap_err().to_string();
            assert!(found.contains(difference), "{found}");
        }
    }

    #[test]
    fn games_are_checked() {
        let checked = check_facts("Base;Draw;White[2];wS1;bS1 wS1-\n\nBase+MLP;NotStarted;White[1]\n");
        assert!(matches!(checked[..], [Ok(()), Ok(())]), "{checked:?}");
        assert!(check_facts("Base;Draw;White[2];wQ;bQ wQ-").remove(0).is_ok(), "sites without the tournament rule");
        for (line, difference) in [
            ("Base;Draw;White[2];wS1;bS1 bS1-", "1: ply 2 unreadable: "),
            ("Base;Draw;Black[2];wS1;bS1 wS1-", "1: turn Black[2] is claimed after moves that lead to White[2]"),
            ("nonsense", "1: game type \"nonsense\" is not Base"),
        ] {
            let failed = check_facts(line).remove(0).unwrap_err().to_string();
            assert!(failed.starts_with(difference), "{failed}");
        }
    }

    #[test]
    fn a_state_that_surrounded_queens_contradict_fails() {
        let hive = Hive::new(HiveRules { ply_limit: u32::MAX, repetition_draw: false, ..HiveRules::default() });
        let game = won_game(&hive);
        check_game(&game).unwrap();
        for state in ["Draw", "InProgress"] {
            let other = game.replacen("WhiteWins", state, 1).replacen("BlackWins", state, 1);
            let found = check_game(&other).unwrap_err().to_string();
            assert!(found.starts_with("state: ") && found.ends_with(&format!("expected {state:?}")), "{found}");
        }
    }

    /// Plays at random until a queen is surrounded.
    fn won_game(hive: &Hive) -> String {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        loop {
            let (mut position, mut moves) = (hive.initial_position(), vec![]);
            while moves.len() < 300 {
                let mut legal = vec![];
                hive.legal_moves(&position, &mut legal);
                let mv = legal[random.random_range(0..legal.len())];
                hive.play(&mut position, mv);
                moves.push(mv);
                match hive.outcome(&position) {
                    Some(Outcome::Win(_)) => return format_game(hive, &moves),
                    Some(Outcome::Draw) => break,
                    None => {}
                }
            }
        }
    }

    #[test]
    fn rubbish_is_a_failure_with_a_reason() {
        for line in
            ["{", "[]", r#"{"gametype":"Base"}"#, r#"{"gametype":"X","game":"Base"}"#, r#"{"id":"a","actions":[]}"#]
        {
            assert!(check_line(line).is_err(), "{line}");
        }
    }
}
