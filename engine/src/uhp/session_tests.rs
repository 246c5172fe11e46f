//! Tests of the session without processes.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::Outcome;
use shared::game::hive::HiveRules;
use shared::search::{EvaluationError, Evaluator, LeafId, LeafSource};

use super::*;
use crate::player::PlayedNetwork;

/// A session without a network.
pub fn session() -> UhpSession {
    UhpSession::new(Player::new(None), SearchPreset::AlphaZero, 1)
}

/// Carries out a line, as the program does.
fn say(session: &mut UhpSession, line: &str) -> Result<String, Refusal> {
    Command::parse(line)
        .map_err(Refusal::from)
        .and_then(|command| session.execute(command, &mut || true))
        .map(|lines| lines.join("\n"))
}

/// Carries out a line that is refused, and returns the words.
fn refused(session: &mut UhpSession, line: &str) -> String {
    say(session, line).expect_err(line).line()
}

/// Plays random games until the side to move can win at once. Returns the game, and the result of winning.
fn mate_in_one(seed: u64) -> Option<(Vec<Move>, Outcome)> {
    let hive = Hive::new(HiveRules { ply_limit: u32::MAX, ..HiveRules::default() });
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut position, mut moves) = (hive.initial_position(), vec![]);
    for _ in 0..150 {
        let mut legal = vec![];
        hive.legal_moves(&position, &mut legal);
        let wanted = Outcome::Win(hive.side_to_move(&position));
        for mv in &legal {
            let mut after = position.clone();
            hive.play(&mut after, *mv);
            if hive.outcome(&after) == Some(wanted) && legal.len() > 1 {
                return Some((moves, wanted));
            }
        }
        let mv = *legal.get(random.random_range(0..legal.len().max(1)))?;
        hive.play(&mut position, mv);
        moves.push(mv);
    }
    None
}

#[test]
fn a_mate_in_one_is_played_by_both_sides_without_a_network() {
    let hive = Hive::new(HiveRules { ply_limit: u32::MAX, ..HiveRules::default() });
    let mut winners = vec![];
    for (moves, wanted) in (0..200).filter_map(mate_in_one).take(12) {
        let mut session = session();
        say(&mut session, &format!("newgame {}", format_game(&hive, &moves))).unwrap();
        let best = say(&mut session, "bestmove depth 400").unwrap();
        let after = say(&mut session, &format!("play {best}")).unwrap();
        let state = if wanted == Outcome::Win(shared::game::Side::White) { "WhiteWins" } else { "BlackWins" };
        assert!(after.contains(state), "{best} in {after}");
        for line in ["bestmove depth 9", "play pass"] {
            assert_eq!(refused(&mut session, line), "err the game is over; try newgame or undo");
        }
        assert!(say(&mut session, "undo").unwrap().contains("InProgress"));
        winners.push(wanted);
    }
    assert!(winners.len() == 12 && winners.iter().any(|winner| *winner != winners[0]), "{winners:?}");
}

#[test]
fn the_tree_is_kept_between_moves() {
    let mut session = session();
    say(&mut session, "newgame Base+MLP").unwrap();
    let best = say(&mut session, "bestmove depth 300").unwrap();
    say(&mut session, &format!("play {best}")).unwrap();
    assert!(session.kept_simulation_count().unwrap() > 1);
    say(&mut session, "options set Exploration 1.5").unwrap();
    assert!(session.thinker.search().is_none());
    say(&mut session, "bestmove depth 20").unwrap();
    assert_eq!(session.kept_simulation_count().unwrap(), 20);
}

#[test]
fn time_and_memory_end_a_search() {
    let mut session = session();
    say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
    let started = Instant::now();
    say(&mut session, "bestmove time 00:00:00.3").unwrap();
    let time = started.elapsed();
    // Less than 250 ms: a batch that was slow once is allowed for.
    assert!(time >= Duration::from_millis(100), "{time:?}");
    assert!(session.kept_simulation_count().unwrap() > 10);
    say(&mut session, "newgame").unwrap();
    say(&mut session, "bestmove time 00:00:00").unwrap();
    assert!(session.kept_simulation_count().unwrap() >= 2);
    say(&mut session, "options set MemoryMB 16").unwrap();
    say(&mut session, "play wG1").unwrap();
    say(&mut session, "bestmove time 01:00:00").unwrap();
    let byte_count = session.thinker.search().unwrap().byte_count();
    assert!((4 << 20..=16 << 20).contains(&byte_count), "{byte_count}");
}

#[test]
fn a_network_that_fails_is_told_and_forgotten() {
    struct Broken;
    impl Evaluator<Hive> for Broken {
        fn evaluate(&mut self, _: &mut dyn LeafSource<Hive>, _: &[LeafId]) -> Result<(), EvaluationError> {
            Err(EvaluationError::DeviceFailed("no\nmemory".into()))
        }
    }
    struct BrokenNetwork;
    impl PlayedNetwork<Hive> for BrokenNetwork {
        fn set_threads(&mut self, _: u32, _: u32) -> Result<(), EvaluationError> {
            Ok(())
        }
        fn evaluator(&self) -> Box<dyn Evaluator<Hive> + Send> {
            Box::new(Broken)
        }
    }
    let mut session = UhpSession::new(Player::new(Some(Box::new(BrokenNetwork))), SearchPreset::AlphaZero, 1);
    say(&mut session, "newgame").unwrap();
    for threads in ["1", "4"] {
        say(&mut session, &format!("options set SearchThreads {threads}")).unwrap();
        assert_eq!(refused(&mut session, "bestmove depth 5"), "err search failed: cannot evaluate: no memory");
    }
    say(&mut session, "options set Preset grandmaster").unwrap();
    assert!(say(&mut session, "bestmove depth 50").is_ok(), "a preset without a network does not ask it");
    assert_eq!(refused(&mut session, "undo 1"), "err cannot take back 1 of 0 plies");
}

#[test]
fn every_preset_plays_and_several_threads_make_the_simulations_they_are_told() {
    let mut session = session();
    let shown = say(&mut session, "options get Preset").unwrap();
    assert_eq!(shown, "Preset;enum;alphazero;alphazero;vanilla;grandmaster;alphazero");
    for preset in SearchPreset::ALL {
        say(&mut session, &format!("options set Preset {preset}")).unwrap();
        assert!(session.thinker.search().is_none(), "another preset needs another tree");
        say(&mut session, "options set SearchThreads 4").unwrap();
        say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
        let best = say(&mut session, "bestmove depth 60").unwrap();
        assert_eq!(session.kept_simulation_count().unwrap(), 60, "{preset}");
        say(&mut session, &format!("play {best}")).unwrap();
    }
}

#[test]
fn a_game_is_loaded_as_it_was_played() {
    let mut session = session();
    let round = r";wQ \wS1;bQ bS1/;wQ -wS1;bQ bS1-";
    let opening = format!("wS1;bS1 wS1-;wQ -wS1;bQ bS1-{round}{round}");
    let drawn = format!("Base;Draw;White[7];{opening}");
    assert_eq!(say(&mut session, &format!("newgame {drawn}")), Ok(drawn), "it ends with the third occurrence");
    let queens = "Base;InProgress;White[2];wQ;bQ wQ-".to_owned();
    let repeated = format!("Base;InProgress;White[8];{opening};wA1 -wQ;bA1 bQ-");
    for (option, never, game) in [("QueenFirst", "False", queens), ("RepetitionDraw", "True", repeated)] {
        assert_eq!(say(&mut session, &format!("newgame {game}")), Ok(game.clone()));
        assert!(say(&mut session, "bestmove depth 20").is_ok(), "{game}");
        say(&mut session, &format!("options set {option} {never}")).unwrap();
        assert!(refused(&mut session, &format!("newgame {game}")).starts_with("err "), "{game}");
        say(&mut session, &format!("options set {option} auto")).unwrap();
    }
    assert_eq!(say(&mut session, "newgame Base"), Ok("Base;NotStarted;White[1]".into()));
    assert_eq!(refused(&mut session, "play wQ"), "invalidmove illegal move \"wQ\" at ply 0");
    say(&mut session, "options set QueenFirst True").unwrap();
    say(&mut session, "newgame Base").unwrap();
    assert!(say(&mut session, "play wQ").is_ok());
}

#[test]
fn what_people_write_is_read() {
    let mut session = session();
    let game = "Base+M;inprogress;white[9];WS1;Bs1 ws1-";
    assert_eq!(say(&mut session, &format!("newgame {game}")), Ok("Base+M;InProgress;White[2];wS1;bS1 wS1-".into()));
    let other_side = refused(&mut session, "newgame Base;InProgress;Black[2];wS1;bS1 wS1-");
    assert_eq!(other_side, "err turn Black[2] is claimed after moves that lead to White[2]");
    let refusal = refused(&mut session, r"play wA1 \wA1");
    assert_eq!(refusal, r#"invalidmove cannot read move "wA1 \wA1": wA1 is not on the board"#);
}

/// A viewer that keeps what it is told.
#[derive(Default)]
struct Listener {
    lines: Vec<String>,
    goes_on_for: Option<u32>,
}

impl Viewer for Listener {
    fn goes_on(&mut self) -> bool {
        self.goes_on_for.as_mut().is_none_or(|count| {
            *count = count.saturating_sub(1);
            *count > 0
        })
    }

    fn tell(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }
}

/// Asks for a move and returns the answer, with what was told before it.
fn listen(session: &mut UhpSession, line: &str) -> (String, Vec<String>) {
    let mut listener = Listener::default();
    let answer = session.execute(Command::parse(line).unwrap(), &mut listener).unwrap();
    (answer.join("\n"), listener.lines)
}

#[test]
fn information_is_told_only_if_it_is_wanted() {
    let mut session = session();
    say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
    say(&mut session, "options set MultiPV 3").unwrap();
    assert_eq!(listen(&mut session, "bestmove depth 100").1, Vec::<String>::new());
    say(&mut session, "options set InfoLines true").unwrap();
    let (best, lines) = listen(&mut session, "bestmove depth 200");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("info multipv 1 value ") && lines[0].contains(&format!(" line {best}")), "{lines:?}");
    assert!(lines[2].starts_with("info multipv 3 ") && lines[2].contains(" simulations 200 time "), "{lines:?}");
    say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
    let (_, lines) = listen(&mut session, "bestmove time 00:00:02.5");
    assert!(lines.len() >= 6, "told while it thinks: {lines:?}");
}

#[test]
fn pondering_goes_on_with_the_tree_while_it_is_the_opponents_turn() {
    let mut session = session();
    let ponder = |session: &mut UhpSession| {
        let mut count = 0;
        session.ponder(&mut || {
            count += 1;
            count < 50
        });
        count
    };
    say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
    let best = say(&mut session, "bestmove depth 100").unwrap();
    say(&mut session, &format!("play {best}")).unwrap();
    assert_eq!(ponder(&mut session), 0, "it is off");
    say(&mut session, "options set Ponder True").unwrap();
    let before = session.kept_simulation_count().unwrap();
    assert_eq!(ponder(&mut session), 50);
    let after = session.kept_simulation_count().unwrap();
    assert!(after > before, "{before} {after}");
    let reply = say(&mut session, "validmoves").unwrap().split(';').next().unwrap().to_owned();
    say(&mut session, &format!("play {reply}")).unwrap();
    assert_eq!(ponder(&mut session), 0, "its own turn");
    say(&mut session, "newgame Base").unwrap();
    assert_eq!(ponder(&mut session), 0, "it has not been asked in this game");
}

#[test]
fn the_engine_keeps_a_clock_for_the_whole_game() {
    let mut session = session();
    say(&mut session, "options set GameSeconds 3").unwrap();
    say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
    for line in ["bestmove", "bestmove time 01:00:00", "bestmove depth 100000000"] {
        let started = Instant::now();
        say(&mut session, line).unwrap();
        assert!(started.elapsed() < Duration::from_secs(2), "{line}: {:?}", started.elapsed());
    }
    let left = session.clock.unwrap().move_time(Side::White).without(Duration::ZERO);
    assert!(left < Duration::from_millis(100), "{left:?}");
    say(&mut session, "newgame Base").unwrap();
    let fresh = session.clock.unwrap().move_time(Side::White).without(Duration::ZERO);
    assert_eq!(fresh, Duration::from_millis(100));
}

#[test]
fn resignation_and_draws_are_told_before_the_move() {
    let mut session = session();
    say(&mut session, "options set DrawValue 1").unwrap();
    say(&mut session, "options set ResignValue 0.9").unwrap();
    say(&mut session, "options set RepetitionDraw False").unwrap();
    say(&mut session, "newgame Base+MLP").unwrap();
    let mut told = vec![];
    for _ in 0..60 {
        let Ok(moves) = say(&mut session, "validmoves") else { break };
        let (best, lines) = listen(&mut session, "bestmove depth 20");
        told.extend(lines.into_iter().map(|line| (session.game.as_ref().unwrap().moves.len(), line)));
        assert!(moves.split(';').any(|mv| mv == best), "the move is there all the same");
        say(&mut session, &format!("play {best}")).unwrap();
    }
    assert!(told.iter().all(|(ply, line)| *ply >= 40 || line == "info resign"), "{told:?}");
    assert!(told.iter().any(|(_, line)| line == "info draw"), "{told:?}");
}

#[test]
fn another_resting_piece_makes_another_position_if_wanted() {
    let mut session = session();
    let opening = r"wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wA1 /wS1;bA1 bS1\";
    // White stands three times so: twice the queen rests, once the ant.
    let shuffle = r"wQ \wS1;bA1 bQ-;wQ -wS1;bA1 bQ/;wA1 -wQ;bA1 bQ-;wA1 /wS1;bA1 bQ\;wQ \wS1;bA1 bQ-;wQ -wS1";
    let load = |session: &mut UhpSession| {
        let game = say(session, &format!("newgame Base;InProgress;Black[9];{opening};{shuffle}")).unwrap();
        game.split(';').nth(1).unwrap().to_owned()
    };
    assert_eq!(load(&mut session), "Draw");
    say(&mut session, "options set RestCounts True").unwrap();
    assert_eq!(load(&mut session), "InProgress");
}

fn any_line() -> impl Strategy<Value = String> {
    let words = "info|help|newgame|play|pass|validmoves|undo|options|get|set|bestmove|depth|time|00:00:00|[0-9]{1,3}\
                 |Base|Base\\+MLP|InProgress|White\\[2\\]|[wb][QSBGAMLP][1-3]?|[-/\\\\]?[wb][QSBGAMLP][1-3]?[-/\\\\]?|;|.{0,9}";
    let command = "(info|newgame|play|pass|validmoves|undo|options (get|set)|bestmove depth|bestmove time)";
    let shaped = (command, proptest::collection::vec(words, 0..4)).prop_map(|(c, w)| format!("{c} {}", w.join(" ")));
    prop_oneof![4 => shaped, 1 => ".{0,60}"]
}

proptest! {
    #[test]
    fn rubbish_gets_one_line_and_changes_nothing(lines in proptest::collection::vec(any_line(), 1..12)) {
        let mut session = session();
        say(&mut session, "newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-").unwrap();
        for line in lines.iter().filter(|line| !line.trim().is_empty()) {
            let before = session.game.as_ref().map(Played::text);
            if let Err(refusal) = say(&mut session, line) {
                let refusal = refusal.line();
                let is_known = refusal.starts_with("err ") || refusal.starts_with("invalidmove ");
                prop_assert!(is_known && refusal.len() < 1000 && !refusal.contains('\n'), "{refusal}");
                prop_assert_eq!(session.game.as_ref().map(Played::text), before);
            }
        }
    }
}
