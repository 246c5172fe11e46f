//! Reads the learner's progress lines: `… progress phase="self-play" done=12 total=32 …`.

/// How far the learner is.
#[derive(Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is at.
    pub phase: String,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
    /// The other fields, as written.
    pub rest: String,
}

/// What a line says, if it is a progress line.
pub fn parse(line: &str) -> Option<Progress> {
    let plain = without_colours(line);
    let (_, fields) = plain.split_once("progress ").filter(|(before, _)| before.is_empty() || before.ends_with(' '))?;
    let mut rest = Vec::new();
    let (mut phase, mut done, mut total) = (None, None, None);
    for field in fields.split_whitespace() {
        match field.split_once('=') {
            Some(("phase", value)) => phase = Some(value.trim_matches('"').to_owned()),
            Some(("done", value)) => done = value.parse().ok(),
            Some(("total", value)) => total = value.parse().ok(),
            _ => rest.push(field),
        }
    }
    Some(Progress { phase: phase?, done: done?, total: total?, rest: rest.join(" ") })
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
        let progress = parse(line).unwrap();
        assert_eq!((progress.phase.as_str(), progress.done, progress.total), ("self-play", 12, 32));
        assert_eq!(progress.rest, "rate=4.5/s");
        assert_eq!(parse("INFO progress total=2 phase=gate done=1").unwrap().phase, "gate");
    }

    #[test]
    fn colours_do_not_matter() {
        let line =
            "\u{1b}[32m INFO\u{1b}[0m progress \u{1b}[3mphase\u{1b}[0m\u{1b}[2m=\u{1b}[0m\"gate\" done=1 total=2";
        assert_eq!(parse(line).unwrap().phase, "gate");
    }

    #[test]
    fn other_lines_are_none() {
        assert_eq!(parse("INFO loss step=10"), None);
        assert_eq!(parse("INFO progress phase=gate done=x total=2"), None);
    }
}
