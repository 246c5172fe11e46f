//! Tests of the conversation without processes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use notation::dama::hub;
use proptest::prelude::*;
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::dama::text::find_move;
use shared::search::SearchPreset;

use super::*;
use crate::player::Player;

/// Lines that come in one after the other, each when it is asked for so many times.
#[derive(Default)]
struct Script(VecDeque<(u32, Option<&'static str>)>);

impl Lines for Script {
    fn poll(&mut self) -> Option<Option<String>> {
        let (wait, _) = self.0.front_mut()?;
        if *wait > 0 {
            *wait -= 1;
            return None;
        }
        self.0.pop_front().map(|(_, line)| line.map(str::to_owned))
    }
}

fn session() -> HubSession {
    HubSession::new(Player::new(None), SearchPreset::AlphaZero, 1)
}

fn say_while(session: &mut HubSession, line: &str, script: &[(u32, Option<&'static str>)]) -> (String, Next) {
    let mut out = Vec::new();
    let next = session.execute(line, &mut Script(script.iter().copied().collect()), &mut out).unwrap();
    (String::from_utf8(out).unwrap(), next)
}

fn say(session: &mut HubSession, line: &str) -> String {
    say_while(session, line, &[]).0
}

/// Returns the value of an argument in the last line.
fn argument<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let line = answer.lines().last()?;
    line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

#[test]
fn a_conversation() {
    let mut session = session();
    let greeting = say(&mut session, "hub");
    assert!(greeting.starts_with("id name=Alveare version=") && greeting.ends_with("\nwait\n"), "{greeting}");
    assert!(greeting.contains("param name=simulations value=800 type=int min=2 max=100000000\n"), "{greeting}");
    assert!(greeting.contains("param name=variant value=italian type=enum values=\"italian\"\n"), "{greeting}");
    let preset = "param name=preset value=alphazero type=enum values=\"vanilla grandmaster alphazero\"\n";
    assert!(greeting.contains(preset), "{greeting}");
    assert_eq!(say(&mut session, "set-param name=simulations value=60"), "");
    assert_eq!(say(&mut session, "set-param name=variant value=Italian"), "");
    assert_eq!(say(&mut session, "init"), "ready\n");
    assert_eq!(say(&mut session, "new-game"), "");
    assert_eq!(say(&mut session, "ping"), "pong\n");
    assert_eq!(say(&mut session, "level nodes=100"), "");
    let answer = say(&mut session, "go think");
    let [info, done] = answer.lines().collect::<Vec<_>>()[..] else { panic!("{answer}") };
    assert!(info.starts_with("info depth=") && info.contains(" nodes=100 "), "{info}");
    let start = Dama::default().initial_position();
    let best = find_move(&Dama::default(), &start, argument(done, "move").unwrap()).unwrap();
    let mut after = start;
    Dama::default().play(&mut after, best);
    find_move(&Dama::default(), &after, argument(done, "ponder").unwrap()).unwrap();
    assert_eq!(say_while(&mut session, "quit", &[]), (String::new(), Next::Quit));
}

#[test]
fn the_tree_is_kept_while_the_game_goes_on() {
    let mut session = session();
    let mut moves = String::new();
    for nodes in [200, 400] {
        say(&mut session, &format!("level nodes={nodes}"));
        let start = hub::write(Dama::default().initial_position().board(), shared::game::Side::White);
        say(&mut session, &format!("pos pos={start} moves=\"{moves}\""));
        let position = session.position.clone().unwrap();
        session.keep_tree(&position);
        assert_eq!(session.kept_simulation_count() > 0, !moves.is_empty());
        let answer = say(&mut session, "go think");
        moves = format!("{} {}", argument(&answer, "move").unwrap(), argument(&answer, "ponder").unwrap_or_default());
    }
    say(&mut session, "new-game");
    assert_eq!(session.kept_simulation_count(), 0);
}

#[test]
fn a_win_is_found_and_told() {
    let mut session = session();
    // White takes the last man, one way or the other.
    say(&mut session, "pos pos=Weeeeeeeeeeeeeeeeebeewweeeeeeeeee");
    say(&mut session, "level nodes=100");
    let answer = say(&mut session, "go analyze");
    assert!(answer.contains("score=99.99") && answer.contains("x18\n"), "{answer}");
    // An only move is played at once.
    say(&mut session, "pos pos=Weeeeeeeeeeeeeeeeebeeeweeeeeeeeee");
    assert_eq!(say(&mut session, "go think"), "done move=22x13x18\n");
}

#[test]
fn commands_are_heard_while_a_search_runs() {
    let mut session = session();
    say(&mut session, "level infinite");
    let (answer, next) =
        say_while(&mut session, "go analyze", &[(5, Some("ping")), (5, Some("pos")), (5, Some("stop"))]);
    assert!(answer.starts_with("pong\nerror message=\"pos: not while a search runs"), "{answer}");
    assert_eq!((argument(&answer, "move").is_some(), next), (true, Next::Listen), "{answer}");
    for script in [[(9, Some("quit"))], [(9, None)]] {
        let (answer, next) = say_while(&mut session, "go think", &script);
        assert_eq!((argument(&answer, "move").is_some(), next), (true, Next::Quit), "{answer}");
    }
    say(&mut session, "level move-time=0.06");
    let started = Instant::now();
    let (answer, _) = say_while(&mut session, "go ponder", &[(200, Some("ponder-hit"))]);
    assert!(argument(&answer, "move").is_some() && started.elapsed() < Duration::from_secs(60), "{answer}");
    say(&mut session, "level nodes=300");
    let (answer, _) = say_while(&mut session, "go ponder", &[(20, Some("ponder-hit"))]);
    assert!(argument(&answer, "move").is_some(), "{answer}");
}

#[test]
fn every_preset_searches_with_several_threads() {
    let mut session = session();
    say(&mut session, "set-param name=search-threads value=3");
    for preset in SearchPreset::ALL {
        assert_eq!(say(&mut session, &format!("set-param name=preset value={preset}")), "");
        say(&mut session, "level nodes=500");
        let answer = say(&mut session, "go think");
        assert!(answer.contains(" nodes=500 ") && argument(&answer, "move").is_some(), "{preset}: {answer}");
        assert!(session.kept_simulation_count() > 0);
    }
}

#[test]
fn depth_is_that_of_the_best_line() {
    let mut session = session();
    say(&mut session, "level depth=3");
    let answer = say(&mut session, "go think");
    assert!(answer.starts_with("info depth=3 mean-depth="), "{answer}");
}

#[test]
fn what_is_wrong_is_told_in_one_line() {
    let mut session = session();
    let error = |session: &mut HubSession, line: &str| {
        let answer = say(session, line);
        assert!(answer.starts_with("error message=\"") && answer.lines().count() == 1, "{line}: {answer}");
        answer
    };
    assert!(error(&mut session, "pos").contains("no position"));
    assert!(error(&mut session, "pos pos=Wwb").contains("33 letters"));
    assert!(error(&mut session, "level time=soon").contains("time: 'soon' is not a number"));
    assert_eq!(say(&mut session, "set-param name=magic value=1"), "", "it may be another engine's");
    assert!(error(&mut session, "level nodes=0").contains("level: nodes: '0' is not in 1..="));
    let parameter = |name, problem: &str| format!("error message=\"set-param: {name}: {problem}\"\n");
    for name in ["threads", "Threads"] {
        let answer = error(&mut session, &format!("set-param name={name} value=0"));
        assert_eq!(answer, parameter("threads", "'0' is not in 1..=1024"));
    }
    assert_eq!(
        error(&mut session, "set-param name=memory-mb value=lots"),
        parameter("memory-mb", "'lots' is not in 16..=32768")
    );
    assert_eq!(say(&mut session, "set-param name=GameSeconds value=-1"), "", "an option of Hive");
    assert!(error(&mut session, "set-param name=variant value=frisian").contains("'frisian' is not italian"));
    assert_eq!(
        error(&mut session, "set-param name=variant value=brazilian"),
        parameter("variant", "'brazilian' is not italian")
    );
    for line in ["set-param", "set-param value=3", "set-param name=", "set-param name"] {
        assert_eq!(error(&mut session, line), "error message=\"set-param: no name\"\n");
    }
    let start = hub::write(Dama::default().initial_position().board(), shared::game::Side::White);
    assert!(error(&mut session, &format!("pos pos={start} moves=\"22-14\"")).contains("illegal move '22-14' at ply 0"));
    assert!(error(&mut session, "go think").contains("go: the last position was refused"));
    assert!(error(&mut session, &format!("pos pos=W{}", "e".repeat(32))).contains("pos: no piece on the board"));
    assert!(error(&mut session, "go think").contains("go: the last position was refused"));
    say(&mut session, &format!("pos pos=Wb{}", "e".repeat(31)));
    assert!(error(&mut session, "go think").contains("the game is over"));
    assert_eq!(say(&mut session, "chat hello"), "");
}

#[test]
fn a_level_that_is_refused_leaves_the_one_before() {
    let mut session = session();
    say(&mut session, "level nodes=30");
    for wrong in ["level move-time=nan", "level time=inf", "level moves=0 time=60", "level depth=0"] {
        assert!(say(&mut session, wrong).starts_with("error message=\"level: "), "{wrong}");
    }
    assert!(say(&mut session, "go think").contains(" nodes=30 "));
    say(&mut session, "set-param name=simulations value=40");
    say(&mut session, "level");
    assert!(say(&mut session, "go foo").contains(" nodes=40 "), "unknown arguments are passed over");
}

#[test]
fn a_draw_by_the_rules_is_played_on() {
    let mut session = session();
    let moves = "25-21 8-12 21-25 12-8 ".repeat(2);
    let position = format!("W{}Beeeeeeeeeeeeeeeee{}", "e".repeat(7), "Weeeeeee");
    let position = position.replace("eeeeeeeeeeeeeeeeeW", "eeeeeeeeeeeeeeeeW");
    assert_eq!(say(&mut session, &format!("pos pos={position} moves=\"{moves}\"")), "");
    say(&mut session, "level nodes=20");
    assert!(argument(&say(&mut session, "go think"), "move").is_some());
}

fn any_line() -> impl Strategy<Value = String> {
    let words = "pos=[WBwbe]{33}|pos=W[we]{20}[eb]{12}|moves=\"[0-9x -]{0,12}\"|nodes=[0-9]{1,2}|depth=2|time=[0-9]{1,2}\
                 |name=[a-z]{4}|value=[0-9]|.{0,9}";
    let command = "(hub|init|pos|pos|level nodes=20|go think nodes|new-game|set-param|stop|ponder-hit)";
    let shaped = (command, proptest::collection::vec(words, 0..4)).prop_map(|(c, w)| format!("{c} {}", w.join(" ")));
    prop_oneof![4 => shaped, 1 => ".{0,60}"]
}

#[test]
fn a_line_that_cannot_be_read_may_have_been_a_position() {
    let mut session = session();
    let mut out = Vec::new();
    assert_eq!(session.refuse(&LineError::NotText, &mut out).unwrap(), Next::Listen);
    assert_eq!(String::from_utf8(out).unwrap(), "error message=\"line is not UTF-8\"\n");
    assert_eq!(say(&mut session, "go think"), "error message=\"go: the last position was refused\"\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rubbish_never_ends_the_conversation(lines in proptest::collection::vec(any_line(), 1..12)) {
        let mut session = session();
        say(&mut session, "set-param name=simulations value=20");
        for line in &lines {
            let (answer, next) = say_while(&mut session, line, &[(20, Some("stop"))]);
            prop_assert_eq!(next == Next::Quit, line.trim_start().starts_with("quit"));
            prop_assert!(answer.lines().all(|line| line.len() < 2000), "{answer}");
        }
    }
}
