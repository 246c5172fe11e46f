//! `alveare dama`: the engine for programs that speak the hub protocol for draughts.
//!
//! Command line and input loop; the protocol is described in `docs/hub.md`.

mod session;
mod watch;

use std::io::{self, BufRead, Write};

use anyhow::Context;
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
    let (player, preset) = (options.player.player(Some(&session::dama()))?, options.player.preset);
    let mut session = HubSession::new(player, preset, options.seed.unwrap_or_else(rand::random));
    let inbox = Inbox::open(input).context("start the thread that reads lines")?;
    match converse(&mut session, inbox, out) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("talk to the other program"),
    }
}

impl watch::Lines for Inbox {
    /// Rubbish is skipped like a command that nobody knows.
    fn poll(&mut self) -> Option<Option<String>> {
        loop {
            match Inbox::poll(self)? {
                Some(Line { text: Ok(text), .. }) => return Some(Some(text)),
                Some(_) => {}
                None => return Some(None),
            }
        }
    }
}

fn converse(session: &mut HubSession, mut inbox: Inbox, out: &mut impl Write) -> io::Result<()> {
    while let Some(line) = inbox.wait() {
        let next = match &line.text {
            Ok(text) => session.execute(text, &mut inbox, out)?,
            Err(error) => session.refuse(error, out)?,
        };
        if next == Next::Quit {
            break;
        }
    }
    inbox.finish()
}
