//! `alveare uhp`: the engine for programs that speak the Universal Hive Protocol.
//!
//! Command line and input loop; the protocol is described in `docs/uhp.md`.

mod game_clock;
mod refusal;
mod report;
mod session;
mod verdict;

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use anyhow::Context;
use notation::uhp::command::Command;
use runtime::exit::UsageError;
use runtime::shutdown::Interrupts;
use shared::search::SearchPreset;

use refusal::Refusal;
use session::{UhpSession, Viewer};

use crate::inbox::{Inbox, Line};
use crate::options::PRESET;
use crate::player::PlayerOptions;

/// Plays Hive over the Universal Hive Protocol: commands on standard input, answers on standard output.
///
/// It plays the network that it carries, or another one (--network). Without one (--network none) all moves are equally
/// good until the rules prove otherwise.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    player: PlayerOptions,
    /// Seed for choosing moves at a temperature above 0. The default is another one each time.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Sets an option of the protocol at the start, such as Simulations=400; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

/// Talks until the input ends, the viewer says `exit`, or nobody reads the answers.
///
/// # Errors
/// Unknown or invalid options, or one that is set twice; a network that cannot be loaded; failed input or output.
pub fn run(options: &Options, input: impl BufRead + Send + 'static, out: &mut impl Write) -> anyhow::Result<()> {
    // Before the network is loaded: an interrupt never ends the program.
    let interrupts = Interrupts::watch().context("listen to interrupts")?;
    let (player, preset) = (options.player.player(None)?, options.player.preset);
    let mut session = UhpSession::new(player, preset, options.seed.unwrap_or_else(rand::random));
    set_all(&mut session, options)?;
    let inbox = Inbox::open(input).context("start the thread that reads lines")?;
    match converse(&mut session, inbox, &interrupts, out) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("talk to the viewer"),
    }
}

/// Sets the options of all `--set`, each once.
fn set_all(session: &mut UhpSession, options: &Options) -> Result<(), UsageError> {
    let mut names = HashMap::new();
    // The default may have been named, too: nobody can tell.
    if options.player.preset != SearchPreset::AlphaZero {
        names.insert(PRESET, format!("--preset {}", options.player.preset));
    }
    for setting in &options.settings {
        let name = set(session, setting)?;
        if let Some(before) = names.insert(name, format!("--set {setting}")) {
            return Err(UsageError(format!("--set {setting}: {before} sets {name} too: name it once")));
        }
    }
    Ok(())
}

/// Sets an option as `options set` does. Returns its name.
fn set(session: &mut UhpSession, setting: &str) -> Result<&'static str, UsageError> {
    let wrong = |what: &str| UsageError(format!("--set {setting}: {what}"));
    let (name, value) = setting.split_once('=').ok_or_else(|| wrong("write NAME=VALUE"))?;
    let refused = |refusal: Refusal| wrong(refusal.line().trim_start_matches("err "));
    session.set_option(name, value).map(|shown| shown.name).map_err(refused)
}

/// A search ends by an interrupt that came after its command, or once the viewer has said `exit`.
fn converse(
    session: &mut UhpSession,
    mut inbox: Inbox,
    interrupts: &Interrupts,
    out: &mut impl Write,
) -> io::Result<()> {
    answer(session, Ok(Command::Info), &mut || true, out)?;
    loop {
        session.ponder(&mut || inbox.is_quiet());
        let Some(Line { text, read_at }) = inbox.wait() else { break };
        let command = match text {
            Ok(line) if line.is_empty() => continue,
            Ok(line) => Command::parse(&line).map_err(Refusal::from),
            Err(error) => Err(error.into()),
        };
        if command == Ok(Command::Exit) {
            break;
        }
        let mut goes_on = || !interrupts.came_since(read_at) && !inbox.holds(is_exit);
        answer(session, command, &mut goes_on, out)?;
    }
    inbox.finish()
}

fn is_exit(line: &str) -> bool {
    !line.is_empty() && Command::parse(line) == Ok(Command::Exit)
}

fn answer(
    session: &mut UhpSession,
    command: Result<Command, Refusal>,
    goes_on: &mut dyn FnMut() -> bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut viewer = LiveViewer { goes_on, out: &mut *out, failure: None };
    let answer = command.and_then(|command| session.execute(command, &mut viewer));
    viewer.failure.map_or(Ok(()), Err)?;
    match answer {
        Ok(lines) => lines.iter().try_for_each(|line| writeln!(out, "{line}"))?,
        Err(refusal) => writeln!(out, "{}", refusal.line())?,
    }
    writeln!(out, "ok")?;
    out.flush()
}

/// A viewer that gets lines while a search runs.
struct LiveViewer<'a> {
    goes_on: &'a mut dyn FnMut() -> bool,
    out: &'a mut dyn Write,
    failure: Option<io::Error>,
}

impl Viewer for LiveViewer<'_> {
    fn goes_on(&mut self) -> bool {
        self.failure.is_none() && (self.goes_on)()
    }

    fn tell(&mut self, line: &str) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{line}").and_then(|()| self.out.flush()).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;
    use crate::uhp::session::tests::session;

    fn talk(input: &[u8]) -> String {
        let mut out = Vec::new();
        let inbox = Inbox::open(io::Cursor::new(input.to_vec())).unwrap();
        converse(&mut session(), inbox, &Interrupts::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_line_that_is_not_blank_gets_one_ok() {
        let text = talk(b"\n\xff\xff\nnewgame\r\n\tplay wS1\nplay wS1\nexit\ninfo\n");
        assert_eq!(text.lines().filter(|line| *line == "ok").count(), 5, "{text}");
        assert!(text.contains("err line is not UTF-8\nok\nBase;NotStarted;White[1]\nok\n"), "{text}");
        assert!(text.contains("Base;InProgress;Black[1];wS1\nok\ninvalidmove "), "{text}");
    }

    #[test]
    fn a_mark_before_a_line_is_passed_over() {
        let text = talk(b"\xef\xbb\xbfnewgame\n");
        assert!(text.ends_with("ok\nBase;NotStarted;White[1]\nok\n"), "{text}");
    }

    #[test]
    fn exit_ends_a_search_at_once_and_the_end_of_the_input_does_not() {
        let simulation_count = |input: &[u8]| {
            let (mut session, mut out) = (session(), Vec::new());
            let inbox = Inbox::open(io::Cursor::new(input.to_vec())).unwrap();
            converse(&mut session, inbox, &Interrupts::default(), &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.lines().filter(|line| *line == "ok").count(), 3, "{text}");
            session.kept_simulation_count().unwrap()
        };
        assert_eq!(simulation_count(b"newgame\nbestmove depth 300\n"), 300);
        assert!(simulation_count(b"newgame\nbestmove depth 100000000\nexit\n") < 100_000_000);
    }

    #[test]
    fn an_interrupt_ends_the_search_that_runs() {
        let interrupts = Interrupts::default();
        interrupts.note();
        let before = Instant::now();
        assert!(!interrupts.came_since(before), "it is the matter of an earlier search");
        let (mut session, mut out) = (session(), Vec::new());
        answer(&mut session, Ok(Command::NewGame(None)), &mut || true, &mut out).unwrap();
        let command = Command::parse("bestmove time 10:00:00").map_err(Refusal::from);
        let mut goes_on = || {
            interrupts.note();
            !interrupts.came_since(before)
        };
        answer(&mut session, command, &mut goes_on, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("\nok\n") && text.lines().nth(2).is_some_and(|line| line.starts_with('w')), "{text}");
    }

    proptest! {
        #[test]
        fn random_bytes_never_end_the_program(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let text = talk(&[&bytes[..], b"\nvalidmoves\n"].concat());
            prop_assert!(text.ends_with("err no game; try newgame\nok\n"), "{text}");
        }
    }
}
