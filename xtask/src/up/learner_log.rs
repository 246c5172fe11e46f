//! Reads the lines of the learner's log that `up` understands: progress, and the best network at the end.
//!
//! `… progress phase="self-play" done=12 total=32 …` and `… best network file="…" generation=3 game="hive"`.

use std::path::PathBuf;

/// How far the learner is.
#[derive(Debug, PartialEq, Eq)]
pub struct LearnerProgress {
    /// What it does.
    pub phase: String,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
    /// The other fields, as written.
    pub rest: String,
}

/// The network that a run ended with.
#[derive(Debug, PartialEq, Eq)]
pub struct BestNetwork {
    /// Where it lies, as the learner names it.
    pub file: PathBuf,
    /// How many promotions led to it.
    pub generation: u64,
    /// The game, by its name in the catalog.
    pub game: String,
}

impl LearnerProgress {
    /// Returns what a line says, if it is a progress line.
    pub fn parse(line: &str) -> Option<Self> {
        let fields = fields(line, "progress")?;
        let number = |name: &str| fields.get(name)?.parse().ok();
        let others = fields.0.iter().filter(|(name, _)| !matches!(name.as_str(), "phase" | "done" | "total"));
        let rest: Vec<String> = others.map(|(name, value)| format!("{name}={value}")).collect();
        Some(Self {
            phase: fields.get("phase")?.to_owned(),
            done: number("done")?,
            total: number("total")?,
            rest: rest.join(" "),
        })
    }
}

impl BestNetwork {
    /// Returns what a line says, if it names the best network.
    pub fn parse(line: &str) -> Option<Self> {
        let fields = fields(line, "best network")?;
        Some(Self {
            file: fields.get("file")?.into(),
            generation: fields.get("generation")?.parse().ok()?,
            game: fields.get("game")?.to_owned(),
        })
    }

    /// Returns what a person types to play it, and for what; nothing if there are no programs to play the game with.
    pub fn play_commands(&self) -> Vec<(&'static str, String)> {
        let (program, purpose) = match self.game.as_str() {
            "hive" => ("uhp", "the engine for a Hive program"),
            "dama" => ("dama", "the engine for a draughts program"),
            _ => return Vec::new(),
        };
        let network = shell_word(&self.file.to_string_lossy());
        let command = |program: &str| format!("alveare {program} --network {network}");
        vec![("play it", command("play")), (purpose, command(program))]
    }
}

/// The text as a shell takes it for one word.
fn shell_word(text: &str) -> String {
    let is_plain = text.chars().all(|character| character.is_alphanumeric() || "/._-+:@%".contains(character));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Names and values, in the order of the line, without quotes.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The fields behind `message`, if the line has this message.
fn fields(line: &str, message: &str) -> Option<Fields> {
    let plain = without_colours(line);
    let (before, mut rest) = plain.split_once(message)?;
    let is_word = (before.is_empty() || before.ends_with(' ')) && rest.starts_with(' ');
    if !is_word {
        return None;
    }
    let mut fields = Vec::new();
    while let Some((name, after)) = rest.split_once('=') {
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        fields.push((name.trim().to_owned(), value.to_owned()));
        rest = after;
    }
    Some(Fields(fields))
}

/// The line without terminal escape sequences.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().skip(1).find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_order() {
        let line =
            "2026-01-01T00:00:00Z  INFO learner::status: progress phase=\"self-play\" done=12 total=32 rate=4.5/s";
        let progress = LearnerProgress::parse(line).unwrap();
        assert_eq!((progress.phase.as_str(), progress.done, progress.total), ("self-play", 12, 32));
        assert_eq!(progress.rest, "rate=4.5/s");
        assert_eq!(LearnerProgress::parse("INFO progress total=2 phase=gate done=1").unwrap().phase, "gate");
    }

    #[test]
    fn colours_do_not_matter() {
        let line =
            "\u{1b}[32m INFO\u{1b}[0m progress \u{1b}[3mphase\u{1b}[0m\u{1b}[2m=\u{1b}[0m\"gate\" done=1 total=2";
        assert_eq!(LearnerProgress::parse(line).unwrap().phase, "gate");
    }

    #[test]
    fn other_lines_are_none() {
        assert_eq!(LearnerProgress::parse("INFO loss step=10"), None);
        assert_eq!(LearnerProgress::parse("INFO progress phase=gate done=x total=2"), None);
        assert_eq!(BestNetwork::parse("INFO progress phase=gate done=1 total=2"), None);
        assert_eq!(BestNetwork::parse("WARN best network of another game"), None);
    }

    #[test]
    fn the_best_network_and_how_to_play_it_are_read() {
        let line = "INFO learner::run: best network generation=3 game=\"hive\" file=\"my run/networks/n.safetensors\"";
        let best = BestNetwork::parse(line).unwrap();
        assert_eq!((best.generation, best.file.to_str().unwrap()), (3, "my run/networks/n.safetensors"));
        assert_eq!(best.play_commands()[0].1, "alveare play --network 'my run/networks/n.safetensors'");
        let command = |line: &str| BestNetwork::parse(line).unwrap().play_commands().pop().map(|(_, command)| command);
        assert_eq!(
            command("best network file=a.safetensors generation=0 game=dama").unwrap(),
            "alveare dama --network a.safetensors"
        );
        assert_eq!(command("best network file=a.safetensors generation=0 game=tictactoe"), None);
    }
}
