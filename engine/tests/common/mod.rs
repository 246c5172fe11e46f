//! The real program, spoken to through pipes.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Returns `alveare COMMAND` without a network, seeded, its input and output piped.
pub fn program(command: &str) -> Command {
    let mut program = program_with("none", command);
    program.args(["--seed", "1"]);
    program
}

/// Returns `alveare COMMAND` that plays `network`, its input and output piped.
pub fn program_with(network: &str, command: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_alveare"));
    program.args([command, "--network", network]);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    program
}

/// The program, running.
pub struct Running {
    pub child: Child,
    pub input: ChildStdin,
    pub output: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(mut program: Command) -> Self {
        let mut child = program.spawn().expect("the program starts");
        let input = child.stdin.take().expect("stdin is a pipe");
        let output = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Self { child, input, output }
    }

    pub fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the program listens");
    }

    /// Returns the lines up to the first that `is_last`.
    pub fn hear(&mut self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines: Vec<String> = vec![];
        while lines.last().is_none_or(|line| !is_last(line)) {
            let mut line = String::new();
            let count = self.output.read_line(&mut line).expect("the program answers");
            assert!(count > 0, "the program ended after {lines:?}");
            lines.push(line.trim_end().to_owned());
        }
        lines
    }

    /// Sends it an interrupt, as Ctrl-C does.
    pub fn interrupt(id: u32) {
        let status = Command::new("kill").args(["-INT", &id.to_string()]).status().expect("kill runs");
        assert!(status.success(), "the program runs");
    }

    /// Says a line, and interrupts the program until it has answered up to the first line that `is_last`: until its
    /// search has begun there is nothing to end.
    pub fn interrupted(&mut self, line: &str, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let (id, is_answered) = (self.child.id(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_answered.load(Relaxed) {
                    Self::interrupt(id);
                }
            });
            self.say(line);
            let answer = self.hear(is_last);
            is_answered.store(true, Relaxed);
            answer
        })
    }

    /// Ends the input. Returns the exit code. The output stays open until then.
    pub fn end(self) -> Option<i32> {
        let Self { mut child, input, output: _output } = self;
        drop(input);
        child.wait().expect("the program ends").code()
    }
}
