//! `alveare dama`: the engine for programs that speak the hub protocol for draughts.
//!
//! Command line and input loop; the protocol is described in `docs/hub.md`.

mod session;
mod watch;

use std::io::{self, BufRead, Write};
use std::time::Instant;

use anyhow::Context;
use runtime::shutdown::Interrupts;
use session::HubSession;
use watch::Next;

use crate::inbox::{Inbox, Line};
use crate::player::PlayerOptions;

/// Plays Italian draughts over the hub protocol: commands on standard input, answers on standard output.
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
}

/// Talks until the input ends, the other program says `quit`, or nobody reads the answers.
///
/// # Errors
/// A network that cannot be played; input or output that fails.
pub fn run(options: &Options, input: impl BufRead + Send + 'static, out: &mut impl Write) -> anyhow::Result<()> {
    // Before the network is loaded: an interrupt never ends the program.
    let interrupts = Interrupts::watch().context("listen to interrupts")?;
    let (player, preset) = (options.player.player(Some(&session::dama()))?, options.player.preset);
    let mut session = HubSession::new(player, preset, options.seed.unwrap_or_else(rand::random));
    let inbox = Inbox::open(input).context("start the thread that reads lines")?;
    match converse(&mut session, inbox, &interrupts, out) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("talk to the other program"),
    }
}

/// What comes in while a command that was read at `since` is carried out.
struct Heard<'a> {
    inbox: &'a mut Inbox,
    interrupts: &'a Interrupts,
    since: Instant,
}

impl watch::Lines for Heard<'_> {
    /// An interrupt is a `stop`. Rubbish is skipped like a command that nobody knows.
    fn poll(&mut self) -> Option<Option<String>> {
        if self.interrupts.came_since(self.since) {
            return Some(Some("stop".to_owned()));
        }
        loop {
            match self.inbox.poll()? {
                Some(Line { text: Ok(text), .. }) => return Some(Some(text)),
                Some(_) => {}
                None => return Some(None),
            }
        }
    }
}

fn converse(
    session: &mut HubSession,
    mut inbox: Inbox,
    interrupts: &Interrupts,
    out: &mut impl Write,
) -> io::Result<()> {
    while let Some(Line { text, read_at }) = inbox.wait() {
        let next = match text {
            Ok(text) => session.execute(&text, &mut Heard { inbox: &mut inbox, interrupts, since: read_at }, out)?,
            Err(error) => session.refuse(&error, out)?,
        };
        if next == Next::Quit {
            break;
        }
    }
    inbox.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use watch::Lines;

    #[test]
    fn an_interrupt_stops_the_search_that_runs() {
        let (reader, _writer) = io::pipe().unwrap();
        let mut inbox = Inbox::open(io::BufReader::new(reader)).unwrap();
        let interrupts = Interrupts::default();
        interrupts.note();
        let mut heard = Heard { inbox: &mut inbox, interrupts: &interrupts, since: Instant::now() };
        assert_eq!(heard.poll(), None, "it is the matter of an earlier search");
        while heard.poll().is_none() {
            interrupts.note();
        }
        assert_eq!(heard.poll(), Some(Some("stop".to_owned())));
    }
}
