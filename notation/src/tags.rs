//! Tags as PGN and PDN have them: `[Name "value"]`.

/// What stands at a bracket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bracketed {
    /// A name and its value, without quotes and escapes.
    Tag {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
    /// Something else in brackets.
    Other,
    /// The bracket is not closed.
    Unclosed,
}

/// Reads what stands at the front of `text`, behind an opening bracket. Returns it with the bytes that it takes.
///
/// Name, value and bracket may stand on lines of their own; a value lies on one. Quotes in it need no escape, unless a
/// bracket follows.
pub(crate) fn read(text: &str) -> (Bracketed, usize) {
    let name_start = text.len() - text.trim_start().len();
    let rest = &text[name_start..];
    let name =
        &rest[..rest.find(|letter: char| letter.is_whitespace() || "\"]".contains(letter)).unwrap_or(rest.len())];
    let rest = rest[name.len()..].trim_start();
    let (value, after) = match rest.strip_prefix('"') {
        Some(quoted) => match read_quoted(quoted) {
            Some((value, after)) => (value, after),
            None => return (Bracketed::Unclosed, line_len(text)),
        },
        None => match rest.find([']', '\n']).filter(|at| rest[*at..].starts_with(']')) {
            Some(end) => (rest[..end].trim().to_owned(), &rest[end + 1..]),
            None => return (Bracketed::Unclosed, line_len(text)),
        },
    };
    let is_tag = !name.is_empty() && (rest.starts_with('"') || !value.is_empty());
    let found = if is_tag { Bracketed::Tag { name: name.to_owned(), value } } else { Bracketed::Other };
    (found, text.len() - after.len())
}

/// Reads a value up to the quote before the closing bracket. Returns it, and what follows the bracket.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' => return None,
            '"' => match text[at + 1..].trim_start().strip_prefix(']') {
                Some(after) => return Some((value, after)),
                None => value.push('"'),
            },
            '\\' if text[at + 1..].starts_with(['"', '\\']) => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    None
}

fn line_len(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Returns a line that [`read`] reads.
pub(crate) fn write(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(char::is_control, " ");
    format!("[{name} \"{value}\"]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, name: &str, value: &str, after: &str) {
        let (found, len) = read(text);
        assert_eq!(found, Bracketed::Tag { name: name.to_owned(), value: value.to_owned() }, "{text}");
        assert_eq!(&text[len..], after, "{text}");
    }

    #[test]
    fn tags_are_read_wherever_lines_end() {
        check("Event \"x\"] 32-28 *", "Event", "x", " 32-28 *");
        check(" Event\n\"x\"\n]\n1.", "Event", "x", "\n1.");
        check("Event\"a ] b\"][Site \"y\"]", "Event", "a ] b", "[Site \"y\"]");
        check(r#"Event "the "first" one" ]"#, "Event", r#"the "first" one"#, "");
        check(r#"Event "a \"quoted\"] \\ b \c"]"#, "Event", r#"a "quoted"] \ b \c"#, "");
        check("Result Draw]\n", "Result", "Draw", "\n");
        check("Site \"\"]", "Site", "", "");
    }

    #[test]
    fn what_is_no_tag_ends_with_its_bracket_or_line() {
        assert_eq!(read("Event] 1."), (Bracketed::Other, 6));
        assert_eq!(read("\"x\"]"), (Bracketed::Other, 4));
        assert_eq!(read("Event \"x\n[Site \"y\"]"), (Bracketed::Unclosed, 8));
        assert_eq!(read("Event\n1. 32-28"), (Bracketed::Unclosed, 5));
        assert_eq!(read(""), (Bracketed::Unclosed, 0));
    }

    #[test]
    fn what_is_written_is_read() {
        let value = "a \"test\" \\ ] \n";
        let line = write("Event", value);
        check(&line[1..], "Event", "a \"test\" \\ ]  ", "\n");
    }
}
