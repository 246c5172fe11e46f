//! The outer shape of SGF: one tree of nodes of properties. What they mean is not known here.

use crate::ReadError;

/// One property: `P0[3 done]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Property {
    /// What stands before the bracket.
    pub(super) key: String,
    /// What stands in it, without the escapes.
    pub(super) value: String,
}

/// Returns the nodes of the first tree of a text, the header first.
pub(super) fn first_tree(text: &str) -> Result<Vec<Vec<Property>>, ReadError> {
    let start = text.find('(').ok_or_else(|| error(0, "no game tree: there is no ("))?;
    let mut letters = text[start + 1..].chars();
    let mut nodes: Vec<Vec<Property>> = Vec::new();
    let mut key = String::new();
    while let Some(letter) = letters.next() {
        let node = nodes.len().saturating_sub(1) as u32;
        match letter {
            ')' if key.is_empty() => return Ok(nodes),
            ';' if key.is_empty() => nodes.push(Vec::new()),
            '[' => {
                let value = read_value(&mut letters).ok_or_else(|| error(node, "the text ends within a property"))?;
                let properties = nodes.last_mut().ok_or_else(|| error(0, "a property before the first node"))?;
                properties.push(Property { key: std::mem::take(&mut key), value });
            }
            // People annotate files so.
            '#' => drop(letters.by_ref().find(|letter| *letter == '\n')),
            letter if letter.is_whitespace() => {}
            letter if letter.is_ascii_alphanumeric() || letter == '-' => key.push(letter),
            letter => return Err(error(node, &format!("{letter:?} is out of place"))),
        }
    }
    Err(error(nodes.len().saturating_sub(1) as u32, "the text ends within the game tree"))
}

/// Reads up to the bracket that closes a value. `None` if there is none.
fn read_value(letters: &mut std::str::Chars<'_>) -> Option<String> {
    let mut value = String::new();
    loop {
        match letters.next()? {
            ']' => return Some(value),
            '\\' => value.push(letters.next()?),
            letter => value.push(letter),
        }
    }
}

fn error(node: u32, reason: &str) -> ReadError {
    ReadError::Tree { node, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match first_tree(text) {
            Ok(nodes) => {
                let show = |property: &Property| format!("{}={}", property.key, property.value);
                let nodes: Vec<_> =
                    nodes.iter().map(|node| node.iter().map(show).collect::<Vec<_>>().join(",")).collect();
                nodes.join(" ; ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn trees_are_taken_apart() {
        check(" (;\r\nGM[27] VV[1]\r\n; P0[0 Start P0]TM[5]\n;\n)\n ", "GM=27,VV=1 ; P0=0 Start P0,TM=5 ; ");
        check(r"(;A[\\wQ]; B[bQ\\]; P-1[Pop P0\[0\]])", r"A=\wQ ; B=bQ\ ; P-1=Pop P0[0]");
        check("(;A[1])(;A[2])", "A=1");
        check("(;A[1] # a [note];\n;B[#])", "A=1 ; B=#");
    }

    #[test]
    fn broken_trees_are_refused_by_node() {
        check("", "node 0: no game tree: there is no (");
        check("(A[1];)", "node 0: a property before the first node");
        check("(;A[1];B[2];C[3", "node 2: the text ends within a property");
        check("(;A[1];B[2]", "node 1: the text ends within the game tree");
        check("(;A[1];{", "node 1: '{' is out of place");
    }
}
