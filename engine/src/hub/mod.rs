//! `alveare dama`: the engine for programs that speak the hub protocol for draughts.
//!
//! Here are the command line, the thread that reads lines, and the loop over them; what is said and done is told in
//! `docs/hub.md`.

mod level;

mod session;
mod watch;

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use crate::player::PlayerOptions;
use anyhow::Context;
use runtime::lines::next_line;
use session::Session;
use watch::{Inbox, Next};

/// Lines that wait to be read; the program at the other end waits when there are more.
const LINES_WAITING_MAX: usize = 64;

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
    let (player, preset) = (options.player.player()?, options.player.preset);
    let mut session = Session::new(player, preset, options.seed.unwrap_or_else(rand::random));
    let lines = read_lines(input).context("start the thread that reads lines")?;
    match converse(&mut session, lines, out) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("talk to the other program"),
    }
}

/// Reads lines on a thread of its own: some come in while a search runs. It ends with the input, or with the program.
fn read_lines(mut input: impl BufRead + Send + 'static) -> io::Result<Receiver<io::Result<String>>> {
    let (sender, receiver) = sync_channel(LINES_WAITING_MAX);
    let read = move || {
        loop {
            let line = match next_line(&mut input) {
                Ok(Some(Ok(line))) => Ok(line),
                // Rubbish is passed over like a command that nobody knows.
                Ok(Some(Err(_))) => continue,
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let is_last = line.is_err();
            if sender.send(line).is_err() || is_last {
                return;
            }
        }
    };
    std::thread::Builder::new().name("lines".to_owned()).spawn(read)?;
    Ok(receiver)
}

/// The lines read, and the failure that ended them.
struct Lines {
    receiver: Receiver<io::Result<String>>,
    failure: Option<io::Error>,
}

impl Lines {
    fn keep(&mut self, line: io::Result<String>) -> Option<String> {
        line.map_err(|error| self.failure = Some(error)).ok()
    }
}

impl Inbox for Lines {
    fn poll(&mut self) -> Option<Option<String>> {
        match self.receiver.try_recv() {
            Ok(line) => Some(self.keep(line)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }
}

fn converse(session: &mut Session, receiver: Receiver<io::Result<String>>, out: &mut impl Write) -> io::Result<()> {
    let mut lines = Lines { receiver, failure: None };
    while let Ok(line) = lines.receiver.recv() {
        let Some(line) = lines.keep(line) else { break };
        if session.execute(&line, &mut lines, out)? == Next::Quit {
            break;
        }
    }
    lines.failure.map_or(Ok(()), Err)
}
