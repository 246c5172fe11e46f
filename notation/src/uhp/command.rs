//! The commands of the Universal Hive Protocol as text. What they do is the engine's.

use std::time::Duration;

use shared::quoted::Quoted;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Who plays, and with which expansions.
    Info,
    /// The list of commands.
    Help,
    /// A new game; the text is a type or a whole GameString.
    NewGame(Option<String>),
    /// Plays a move.
    Play(String),
    /// Lists the legal moves.
    ValidMoves,
    /// Searches for a move.
    BestMove(BestMoveLimit),
    /// Takes back so many plies.
    Undo(usize),
    /// Lists all options.
    ListOptions,
    /// Shows one option.
    GetOption(String),
    /// Changes one option.
    SetOption {
        /// Its name.
        name: String,
        /// The new value.
        value: String,
    },
    /// Ends the program.
    Exit,
}

/// Why a line is not a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The first word is no command.
    #[error("unknown command {}; try help", Quoted(.0))]
    UnknownCommand(String),
    /// The arguments do not go with the command, whose usage this is.
    #[error("usage: {0}")]
    Usage(&'static str),
    /// Not a time.
    #[error("time {} is not like 00:00:05", Quoted(.0))]
    Time(String),
    /// Not a number of simulations.
    #[error("depth {} is not a number of simulations, at least 1", Quoted(.0))]
    Depth(String),
}

/// When a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BestMoveLimit {
    /// After so many simulations as the option says.
    Settings,
    /// After so many simulations.
    Simulations(u32),
    /// After so much time.
    Time(Duration),
}

/// Usage of every command, for `help` and for refusals.
pub const USAGES: [&str; 10] = [
    "info",
    "newgame [GameTypeString|GameString]",
    "play MoveString",
    "pass",
    "validmoves",
    "bestmove [time HH:MM:SS|depth SIMULATIONS]",
    "undo [PLIES]",
    "options [get NAME|set NAME VALUE]",
    "help",
    "exit",
];

impl Command {
    /// Reads a command; a line without a word is an unknown one.
    ///
    /// # Errors
    /// [`CommandError`] for a word that is no command, arguments that do not go with it, or a time or number of simulations
    /// that cannot be read.
    pub fn parse(line: &str) -> Result<Self, CommandError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (first, arguments) = words.split_first().map_or(("", &[] as &[&str]), |(first, rest)| (*first, rest));
        let name = first.to_ascii_lowercase();
        let usage = USAGES.into_iter().find(|usage| usage.split(' ').next() == Some(name.as_str()));
        let usage = usage.ok_or_else(|| CommandError::UnknownCommand(first.to_owned()))?;
        Self::with_arguments(&name, arguments).unwrap_or(Err(CommandError::Usage(usage)))
    }

    /// Reads the arguments of a known command. `None`: they do not go with it.
    fn with_arguments(name: &str, arguments: &[&str]) -> Option<Result<Self, CommandError>> {
        Some(Ok(match (name, arguments) {
            ("info", []) => Self::Info,
            ("help", _) => Self::Help,
            ("exit", []) => Self::Exit,
            ("newgame", []) => Self::NewGame(None),
            ("newgame", game) => Self::NewGame(Some(game.join(" "))),
            ("play", [_, ..]) => Self::Play(arguments.join(" ")),
            ("pass", []) => Self::Play("pass".to_owned()),
            ("validmoves", []) => Self::ValidMoves,
            ("bestmove", arguments) => return limit(arguments).map(|limit| limit.map(Self::BestMove)),
            ("undo", []) => Self::Undo(1),
            ("undo", [count]) => Self::Undo(count.parse().ok().filter(|count| *count > 0)?),
            ("options", []) => Self::ListOptions,
            ("options", [verb, name]) if verb.eq_ignore_ascii_case("get") => Self::GetOption((*name).to_owned()),
            ("options", [verb, name, value]) if verb.eq_ignore_ascii_case("set") => {
                Self::SetOption { name: (*name).to_owned(), value: (*value).to_owned() }
            }
            _ => return None,
        }))
    }
}

fn limit(arguments: &[&str]) -> Option<Result<BestMoveLimit, CommandError>> {
    match arguments {
        [] => Some(Ok(BestMoveLimit::Settings)),
        [kind, value] if kind.eq_ignore_ascii_case("time") => {
            let time = duration(value).ok_or_else(|| CommandError::Time((*value).to_owned()));
            Some(time.map(BestMoveLimit::Time))
        }
        [kind, value] if kind.eq_ignore_ascii_case("depth") => {
            let count = value.parse().ok().filter(|count| *count > 0);
            Some(count.map(BestMoveLimit::Simulations).ok_or_else(|| CommandError::Depth((*value).to_owned())))
        }
        _ => None,
    }
}

/// Reads `HH:MM:SS`, with a fraction of the last second if wanted.
fn duration(text: &str) -> Option<Duration> {
    let parts: Vec<&str> = text.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let whole = |text: &str, most: u64| number(text).filter(|count| *count <= most);
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let milliseconds = number(fraction).map(|_| format!("{fraction:0<3.3}"))?;
    let whole_seconds = whole(hours, 9999)? * 3600 + whole(minutes, 59)? * 60 + whole(seconds, 59)?;
    Some(Duration::from_secs(whole_seconds) + Duration::from_millis(number(&milliseconds)?))
}

fn number(digits: &str) -> Option<u64> {
    let is_number = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let time = |text| match Command::parse(&format!("bestmove time {text}")) {
            Ok(Command::BestMove(BestMoveLimit::Time(time))) => Some(time.as_millis()),
            _ => None,
        };
        assert_eq!(time("00:00:05"), Some(5000));
        assert_eq!(time("01:02:03"), Some(3_723_000));
        assert_eq!(time("0:0:0.25"), Some(250));
        assert_eq!(time("00:00:00.0015000"), Some(1));
        for wrong in ["5", "00:05", "00:00:60", "00:60:00", "-1:00:00", "00:00:", "00:00:+5", "a:b:c", "00:00:1.é"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn commands_are_read_whatever_their_case() {
        let play = Command::Play("wS1 bA1-".to_owned());
        assert_eq!(Command::parse("PLAY  wS1   bA1-"), Ok(play));
        assert_eq!(Command::parse("pass"), Ok(Command::Play("pass".to_owned())));
        assert_eq!(Command::parse("bestmove depth 64"), Ok(Command::BestMove(BestMoveLimit::Simulations(64))));
        assert_eq!(Command::parse("undo"), Ok(Command::Undo(1)));
    }

    #[test]
    fn a_refusal_shows_the_usage() {
        let refused = |line| Command::parse(line).unwrap_err().to_string();
        assert_eq!(refused("castle"), "unknown command \"castle\"; try help");
        assert_eq!(refused("play"), "usage: play MoveString");
        assert_eq!(refused("undo 0"), "usage: undo [PLIES]");
        assert_eq!(refused("bestmove depth 0"), "depth \"0\" is not a number of simulations, at least 1");
        assert_eq!(refused("options set Threads"), "usage: options [get NAME|set NAME VALUE]");
    }
}
