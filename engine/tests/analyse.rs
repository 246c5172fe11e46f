//! `alveare analyse`, interrupted: the real program.

mod common;

use std::io::Read;
use std::process::{Command, Stdio};

use common::Running;

#[test]
fn an_interrupt_ends_the_search_and_what_was_found_is_shown() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.args(["analyse", "--game", "dama", "--network", "none", "--time", "86400"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut analysis = Running::start(command);
    // Signals are listened to before the position is printed.
    assert!(analysis.hear(|_| true)[0].starts_with("W:W"));
    Running::interrupt(analysis.child.id());
    let mut shown = String::new();
    analysis.output.read_to_string(&mut shown).expect("text");
    assert!(shown.starts_with("value ") && shown.contains("\nbest line: "), "{shown}");
    assert_eq!(analysis.child.wait().expect("the program ends").code(), Some(0));
}
