//! Lines of the hub protocol: a command and its arguments, `name=value`, `name="a value"` or `name` alone.

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HubLine {
    /// The command; empty if the line is blank.
    pub command: String,
    arguments: Vec<(String, String)>,
}

impl HubLine {
    /// Reads a line. What cannot be understood is skipped, as the protocol wants it.
    pub fn parse(text: &str) -> Self {
        let mut rest = text.trim_start();
        let mut line = Self { command: take_word(&mut rest, char::is_whitespace), ..Self::default() };
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return line;
            }
            let name = take_word(&mut rest, |letter| letter.is_whitespace() || letter == '=');
            let value = rest.strip_prefix('=').map(|after| take_value(after, &mut rest));
            line.arguments.push((name, value.unwrap_or_default()));
        }
    }

    /// Returns the value of an argument; empty if it has none.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether there is such an argument, with a value or without.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

fn take_word(rest: &mut &str, is_end: impl Fn(char) -> bool) -> String {
    let end = rest.find(is_end).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    word.to_owned()
}

/// Takes a value, quoted or not, from `after`; what follows is left in `rest`. A quote without an end goes to the end.
fn take_value<'a>(after: &'a str, rest: &mut &'a str) -> String {
    *rest = after;
    let Some(quoted) = after.strip_prefix('"') else { return take_word(rest, char::is_whitespace) };
    let (value, after) = quoted.split_once('"').unwrap_or((quoted, ""));
    *rest = after;
    value.to_owned()
}

/// Returns a value as it stands in a line: quoted if it must be.
pub fn quoted(value: &str) -> String {
    let clean: String =
        value.chars().map(|letter| if letter == '"' || letter.is_control() { '\'' } else { letter }).collect();
    let is_plain = !clean.is_empty() && !clean.contains(|letter: char| letter.is_whitespace() || letter == '=');
    if is_plain { clean } else { format!("\"{clean}\"") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_are_plain_quoted_or_alone() {
        let line = HubLine::parse(" pos  pos=Wbb moves=\"22-18 12-16\" flag  empty=\"\"");
        assert_eq!(line.command, "pos");
        assert_eq!(line.value("pos"), Some("Wbb"));
        assert_eq!(line.value("moves"), Some("22-18 12-16"));
        assert_eq!((line.value("flag"), line.value("empty"), line.value("other")), (Some(""), Some(""), None));
        assert_eq!(HubLine::parse("level move-time=0.5").value("move-time"), Some("0.5"));
        assert_eq!(HubLine::parse("  ").command, "");
    }

    proptest! {
        #[test]
        fn rubbish_is_read_somehow_and_quoting_is_undone(text in ".{0,60}") {
            let _ = HubLine::parse(&text);
            let value = HubLine::parse(&format!("a b={}", quoted(&text))).value("b").map(str::to_owned);
            prop_assert_eq!(value.unwrap().chars().count(), text.chars().count());
        }
    }
}
