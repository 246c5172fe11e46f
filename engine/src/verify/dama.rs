//! Facts about Italian draughts: legal moves with all ways to make them, lines of moves, and whole games as PDN.

use std::collections::{BTreeMap, BTreeSet};

use notation::dama::pdn;
use serde::Deserialize;
use shared::game::dama::fen;
use shared::game::dama::text::{find_move, format_move, format_route};
use shared::game::dama::{Dama, Move, Position, Square};
use shared::game::{Game, Outcome, Side};

use super::difference::{Difference, expect};
use super::{Checked, FailedFact, check_lines};

/// Checks a file: PDN, or facts one a line.
pub fn check_facts(text: &str) -> Vec<Checked> {
    if text.trim_start().starts_with('{') {
        return check_lines(text, check_line);
    }
    let check = |game: Result<_, pdn::PdnError>| {
        game.map(|_: pdn::PdnGame| ())
            .map_err(|error| FailedFact { line: error.line as usize, difference: error.reason.into() })
    };
    pdn::read_whole(text).map(check).collect()
}

/// One line of a file; which fields are there tells what it claims.
#[derive(Debug, Deserialize)]
struct Facts {
    id: Option<String>,
    fen: String,
    #[serde(default)]
    quiet: u32,
    moves: Option<Vec<MoveFacts>>,
    legal: Option<Vec<String>>,
    n_moves: Option<usize>,
    #[serde(alias = "n_results")]
    results: Option<usize>,
    illegal: Option<Vec<String>>,
    after: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "super::hive::present")]
    over: Option<Option<String>>,
    steps: Option<Vec<Step>>,
}

impl Facts {
    /// Returns whether the line claims nothing that is checked.
    fn is_empty(&self) -> bool {
        let Self { id: _, fen: _, quiet: _, moves, legal, n_moves, results, illegal, after, over, steps } = self;
        // No legal move is a claim; no illegal one, and nothing that comes after, is none.
        let lists = [
            moves.is_some(),
            legal.is_some(),
            illegal.as_ref().is_some_and(|texts| !texts.is_empty()),
            after.as_ref().is_some_and(|positions| !positions.is_empty()),
            steps.as_ref().is_some_and(|steps| !steps.is_empty()),
        ];
        lists == [false; 5] && (n_moves, results, over) == (&None, &None, &None)
    }
}

#[derive(Debug, Deserialize)]
struct MoveFacts {
    #[serde(rename = "move")]
    text: String,
    captured: Vec<u8>,
    promotes: bool,
    after: String,
    after_quiet: u32,
    wins: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Step {
    #[serde(rename = "move")]
    text: String,
    fen: String,
    quiet: u32,
    occurrence: u32,
    result: Option<String>,
}

fn check_line(line: &str) -> Result<(), Difference> {
    let facts: Facts = serde_json::from_str(line).map_err(Difference::NotFacts)?;
    check(&facts).map_err(|difference| difference.named(facts.id.as_deref()))
}

fn check(facts: &Facts) -> Result<(), Difference> {
    if facts.is_empty() {
        return Err(Difference::Nothing("none of moves, legal, n_moves, results, illegal, after, over, steps"));
    }
    let read = fen::read(&facts.fen)?;
    if facts.quiet > Dama::QUIET_PLY_LIMIT {
        return Err(Difference::Quiet { quiet: facts.quiet, limit: Dama::QUIET_PLY_LIMIT });
    }
    let position = Position::new(*read.board(), read.side_to_move(), facts.quiet);
    let ways = ways(&position);
    let listed = facts.moves.as_ref().map(|moves| moves.iter().map(|facts| facts.text.clone()).collect());
    for texts in listed.iter().chain(&facts.legal) {
        check_texts(&ways, texts)?;
    }
    if let Some(move_count) = facts.n_moves {
        expect("number of ways to move", &ways.len(), &move_count)?;
    }
    if let Some(results) = facts.results {
        expect("number of results", &ways.values().collect::<BTreeSet<_>>().len(), &results)?;
    }
    if let Some(over) = &facts.over {
        expect("result", &result(&position), over)?;
    }
    for facts in facts.moves.iter().flatten() {
        check_move(&position, ways[&facts.text], facts)?;
    }
    for (text, expected) in facts.after.iter().flatten() {
        let mv = *ways.get(text).ok_or_else(|| Difference::NotLegal(text.clone()))?;
        expect(&format!("after {text}"), &fen_of(&play(&position, mv)), expected)?;
    }
    for text in facts.illegal.iter().flatten() {
        // Start and end alone may name a longer capture; that is another way to write it.
        if ways.contains_key(text) {
            return Err(Difference::Legal(text.clone()));
        }
    }
    check_steps(position, facts.steps.as_deref().unwrap_or_default())
}

/// Every way to make each legal move, with all squares visited, and the move.
fn ways(position: &Position) -> BTreeMap<String, Move> {
    let dama = Dama::default();
    let routes = dama.routes(position);
    if !routes.is_empty() {
        return routes.iter().map(|route| (format_route(route), route.mv)).collect();
    }
    let mut moves = Vec::new();
    dama.legal_moves(position, &mut moves);
    moves.iter().map(|mv| (format_move(&dama, position, *mv), *mv)).collect()
}

fn check_texts(ways: &BTreeMap<String, Move>, texts: &[String]) -> Result<(), Difference> {
    let (found, expected): (BTreeSet<_>, BTreeSet<_>) = (ways.keys().collect(), texts.iter().collect());
    if found == expected {
        return Ok(());
    }
    let list =
        |one: &BTreeSet<&String>, other| one.difference(other).map(|text| text.as_str()).collect::<Vec<_>>().join(", ");
    Err(Difference::LegalMoves { missing: list(&expected, &found), extra: list(&found, &expected) })
}

fn check_move(position: &Position, mv: Move, facts: &MoveFacts) -> Result<(), Difference> {
    let named = |what: &str| format!("{what} of {}", facts.text);
    let captured: BTreeSet<u8> = Square::of_set(mv.captured()).map(Square::number).collect();
    expect(&named("pieces taken"), &captured, &facts.captured.iter().copied().collect())?;
    let after = play(position, mv);
    let kings = |position: &Position| position.board().kings(position.side_to_move());
    let was_king = kings(position) & mv.source().bit() != 0;
    let is_king = after.board().kings(position.side_to_move()) & mv.target().bit() != 0;
    expect(&named("promotion"), &(is_king && !was_king), &facts.promotes)?;
    expect(&named("position after it"), &fen_of(&after), &facts.after)?;
    expect(&named("quiet plies after it"), &after.quiet_ply_count(), &facts.after_quiet)?;
    let wins = Dama::default().outcome(&after) == Some(Outcome::Win(position.side_to_move()));
    facts.wins.map_or(Ok(()), |expected| expect(&named("win"), &wins, &expected))
}

fn check_steps(mut position: Position, steps: &[Step]) -> Result<(), Difference> {
    for step in steps {
        let mv = find_move(&Dama::default(), &position, &step.text)?;
        position = play(&position, mv);
        let named = |what: &str| format!("{what} after {}", step.text);
        expect(&named("position"), &fen_of(&position), &step.fen)?;
        expect(&named("quiet plies"), &position.quiet_ply_count(), &step.quiet)?;
        expect(&named("occurrences"), &position.occurrence_count(), &step.occurrence)?;
        expect(&named("result"), &result(&position), &step.result)?;
    }
    Ok(())
}

fn play(position: &Position, mv: Move) -> Position {
    let mut after = position.clone();
    Dama::default().play(&mut after, mv);
    after
}

fn fen_of(position: &Position) -> String {
    fen::write(position.board(), position.side_to_move())
}

fn result(position: &Position) -> Option<String> {
    let text = match Dama::default().outcome(position)? {
        Outcome::Win(Side::White) => "1-0",
        Outcome::Win(Side::Black) => "0-1",
        Outcome::Draw => "1/2-1/2",
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_facts_of(facts: &str) -> Result<(), Difference> {
        check_line(&format!(r#"{{"fen":"W:W21,K30:B26,25","quiet":3,{facts}}}"#))
    }

    #[test]
    fn facts_pass_and_fail() {
        let mv = r#"{"move":"30-27","captured":[],"promotes":false,"after":"B:W21,K27:B25,26","after_quiet":4}"#;
        let cases = [
            (r#""legal":["21-17"]"#.to_owned(), "legal moves: missing [], extra [21-18, 30-27]"),
            (format!(r#""moves":[{mv}]"#), "missing [], extra [21-17, 21-18]"),
            (r#""results":9"#.to_owned(), "number of results: 3, expected 9"),
            (r#""n_moves":9"#.to_owned(), "number of ways to move: 3, expected 9"),
            (r#""steps":[],"illegal":[]"#.to_owned(), "none of moves, legal, n_moves"),
            (r#""legl":["21-17"]"#.to_owned(), "none of moves, legal, n_moves"),
            (r#""over":"1-0""#.to_owned(), "result: None, expected Some(\"1-0\")"),
            (r#""illegal":["21-17","21-18"]"#.to_owned(), "21-17 is legal"),
            (r#""after":{"21-17":"B"}"#.to_owned(), "after 21-17: \"B:W17,K30:B25,26\", expected \"B\""),
            (r#""after":{"1-5":"B"}"#.to_owned(), "1-5 is not legal"),
            (
                r#""steps":[{"move":"30-27","fen":"B:W21,K27:B25,26","quiet":9,"occurrence":1,"result":null}]"#
                    .to_owned(),
                "quiet plies after 30-27: 4, expected 9",
            ),
        ];
        for (facts, difference) in cases {
            let found = check_facts_of(&facts).unwrap_err().to_string();
            assert!(found.contains(difference), "{facts}: {found}");
        }
        let moves = ["21-17", "21-18", "30-27"].map(|text| {
            let (start, end) = text.split_at(2);
            let after = format!("B:W{}:B25,26", if start == "21" { format!("{},K30", &end[1..]) } else { "21,K27".into() });
            let quiet = if start == "21" { 0 } else { 4 };
            format!(r#"{{"move":"{text}","captured":[],"promotes":false,"after":"{after}","after_quiet":{quiet},"wins":true}}"#)
        });
        let found = check_facts_of(&format!(r#""moves":[{}]"#, moves.join(","))).unwrap_err().to_string();
        assert_eq!(found, "win of 21-17: false, expected true");
        check_facts_of(r#""legal":["21-17","21-18","30-27"],"results":3,"illegal":["30-26"]"#).unwrap();
    }

    #[test]
    fn games_are_checked() {
        let checked = check_facts("1. 21-17 12-15 *\n\n[Event \"x\"]\n1. 21-17 12-15\n1-0\n");
        assert!(matches!(checked[..], [Ok(()), Ok(())]), "{checked:?}");
        let wrong = check_facts("[Event \"x\"]\n1. 21-17\n12-14 1-0\n");
        let wrong: Vec<_> = wrong.into_iter().map(|checked| checked.unwrap_err().to_string()).collect();
        assert_eq!(wrong, ["3: illegal move \"12-14\" at ply 1"]);
        let cut = "[Result \"1-0\"]\n1. 21-17 1-0\n[Result \"0-1\"]\n1. 21-17\n12-15 ";
        for text in [cut, cut.trim_end(), &format!("{cut}\n[Event \"x\"]\n1. 21-17 *")] {
            let failed: Vec<_> =
                check_facts(text).into_iter().filter_map(Result::err).map(|it| it.to_string()).collect();
            assert_eq!(failed, ["5: the tag Result says 0-1, the moves end without a result"]);
        }
        assert!(matches!(check_facts("[Result \"*\"]\n1. 21-17")[..], [Ok(())]), "nothing is claimed");
    }
}
