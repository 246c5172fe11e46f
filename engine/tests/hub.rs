//! `alveare dama` as another program sees it: the real program, spoken to through pipes.

mod common;

use std::io::Write;

use common::{Running, program};
use notation::dama::hub;
use shared::game::Game;
use shared::game::dama::text::parse_move;
use shared::game::dama::{Dama, Position};

/// The program, greeted.
struct Engine(Running);

impl Engine {
    /// Starts the program and greets it.
    fn start() -> Self {
        let mut engine = Self(Running::start(program("dama")));
        engine.say("hub");
        let greeting = engine.hear("wait");
        assert!(greeting[0].starts_with("id name=Alveare "), "{greeting:?}");
        engine.say("init");
        assert_eq!(engine.hear("ready").len(), 1);
        engine
    }

    fn say(&mut self, line: &str) {
        self.0.say(line);
    }

    /// Returns the lines up to the one that starts with `last`.
    fn hear(&mut self, last: &str) -> Vec<String> {
        self.0.hear(|line| line.starts_with(last))
    }

    /// Ends the input. Returns the exit code.
    fn end(self) -> Option<i32> {
        self.0.end()
    }
}

fn text_of(position: &Position) -> String {
    hub::write(position.board(), position.side_to_move())
}

#[test]
fn a_game_against_itself() {
    let dama = Dama::default();
    let mut players = [Engine::start(), Engine::start()];
    let (mut position, mut moves) = (dama.initial_position(), String::new());
    let start = text_of(&position);
    for ply in 0..60 {
        let player = &mut players[ply % 2];
        // One is told the whole game, the other the position.
        if ply % 2 == 0 {
            player.say(&format!("pos pos={start} moves=\"{moves}\""));
        } else {
            player.say(&format!("pos pos={}", text_of(&position)));
        }
        player.say("level nodes=60");
        player.say("go think");
        let answer = player.hear("done").pop().expect("an answer");
        let words: Vec<&str> = answer.split(' ').collect();
        let text = words[1].strip_prefix("move=").expect("a move");
        let mv = parse_move(&dama, &position, text).unwrap_or_else(|error| panic!("ply {ply}: {error}"));
        dama.play(&mut position, mv);
        moves = format!("{moves} {text}");
        if dama.outcome(&position).is_some() {
            break;
        }
    }
    assert!(position.ply() > 20, "{moves}");
    for player in players {
        assert_eq!(player.end(), Some(0));
    }
}

#[test]
fn a_search_can_be_stopped_and_asked_whether_it_lives() {
    let mut engine = Engine::start();
    engine.say("level infinite");
    engine.say("go analyze");
    engine.say("ping");
    assert_eq!(engine.hear("pong").last().map(String::as_str), Some("pong"));
    engine.say("stop");
    let answer = engine.hear("done");
    assert!(answer[answer.len() - 2].starts_with("info depth="), "{answer:?}");
    engine.say("ping");
    assert_eq!(engine.hear("pong").len(), 1);
    engine.say("quit");
    assert_eq!(engine.0.child.wait().expect("the program ends").code(), Some(0));
}

#[test]
fn the_end_of_the_input_ends_a_search() {
    let mut engine = Engine::start();
    engine.say("level infinite");
    engine.say("go ponder");
    assert_eq!(engine.end(), Some(0));
}

#[test]
fn an_interrupt_ends_a_search_and_never_the_program() {
    let mut engine = Engine::start();
    Running::interrupt(engine.0.child.id());
    engine.say("ping");
    assert_eq!(engine.hear("pong").len(), 1);
    engine.say("level infinite");
    for mode in ["think", "ponder", "analyze"] {
        let answer = engine.0.interrupted(&format!("go {mode}"), |line| line.starts_with("done"));
        assert!(answer.last().is_some_and(|line| line.starts_with("done move=")), "{answer:?}");
    }
    assert_eq!(engine.end(), Some(0));
}

#[test]
fn rubbish_does_not_end_the_program() {
    let mut engine = Engine::start();
    for rubbish in [vec![0xff, 0xfe, 0], vec![b'x'; 3 << 20], b"pos pos=\"\0\x1b[2J".to_vec(), "go ♘=♘".into()] {
        engine.0.input.write_all(&rubbish).expect("the program listens");
        engine.say("");
        engine.say("ping");
        engine.hear("pong");
    }
    assert_eq!(engine.end(), Some(0));
}
