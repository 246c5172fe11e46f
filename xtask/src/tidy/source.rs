//! One file, split into what ships and what tests it.

/// A text file of the repository.
#[derive(Debug)]
pub struct Source {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
    production_line_count: usize,
}

impl Source {
    /// Finds where the production code of `text` ends.
    pub fn new(path: String, text: String) -> Self {
        let production_line_count =
            if is_test_path(&path) { 0 } else { test_module_start(&text).unwrap_or_else(|| text.lines().count()) };
        Self { path, text, production_line_count }
    }

    /// Whether this is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The first folder of the path: the crate, for a source file.
    pub fn crate_name(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    /// How many lines ship, comments and all.
    pub fn production_line_count(&self) -> usize {
        self.production_line_count
    }

    /// How many lines of code ship. Comments and empty lines are free: nobody shall save on them.
    pub fn code_line_count(&self) -> usize {
        self.production_code().filter(|(_, code)| !code.trim().is_empty()).count()
    }

    /// Line number from 1, and the line without its comment, for what ships.
    pub fn production_code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().take(self.production_line_count).enumerate().map(|(index, line)| (index + 1, code_of(line)))
    }
}

/// Everything before a `//` that does not stand in a string, as far as one line tells.
fn code_of(line: &str) -> &str {
    let mut inside_string = false;
    let mut previous = ' ';
    for (index, character) in line.char_indices() {
        match character {
            '"' if previous != '\\' && previous != '\'' => inside_string = !inside_string,
            '/' if !inside_string && line[index..].starts_with("//") => return &line[..index],
            _ => {}
        }
        previous = character;
    }
    line
}

/// Index of the line that opens an inline `#[cfg(test)] mod`.
fn test_module_start(text: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let opens_module = |line: &&str| {
        let line = line.trim_start().trim_start_matches("pub(crate) ");
        line.starts_with("mod ") && !line.trim_end().ends_with(';')
    };
    (0..lines.len()).find(|&index| {
        let rest = lines.get(index + 1..).unwrap_or_default();
        lines[index].trim() == "#[cfg(test)]"
            && rest.iter().find(|line| !line.starts_with('#')).is_some_and(opens_module)
    })
}

/// Whole files that hold nothing but tests or benchmarks.
fn is_test_path(path: &str) -> bool {
    let folders = ["tests", "benches", "fixtures", "fuzz"];
    path.split('/').any(|part| folders.contains(&part)) || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_count(path: &str, text: &str) -> usize {
        Source::new(path.to_owned(), text.to_owned()).production_line_count
    }

    #[test]
    fn production_ends_at_the_test_module() {
        assert_eq!(line_count("a/src/b.rs", "//! b\nfn b() {}\n\n#[cfg(test)]\nmod tests {\n}\n"), 3);
        assert_eq!(line_count("a/src/b.rs", "//! b\n#[cfg(test)]\nmod tests;\nfn b() {}\n"), 4);
        assert_eq!(line_count("a/src/b.rs", "//! b\n#[cfg(test)]\n#[path = \"x\"]\nmod tests {\n}\n"), 1);
    }

    #[test]
    fn files_of_tests_do_not_ship() {
        assert_eq!(line_count("a/tests/b.rs", "fn b() {}\n"), 0);
        assert_eq!(line_count("a/src/b/tests.rs", "fn b() {}\n"), 0);
        assert_eq!(line_count("a/src/b_tests.rs", "fn b() {}\n"), 0);
    }

    #[test]
    fn only_code_lines_are_counted() {
        let text = "//! b\n\n/// Says b.\nfn b() {} // b\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(Source::new("a/src/b.rs".to_owned(), text.to_owned()).code_line_count(), 1);
    }

    #[test]
    fn comments_are_not_code_but_links_in_strings_are() {
        assert_eq!(code_of("let a = 1; // tokio"), "let a = 1; ");
        assert_eq!(code_of("let a = \"http://b\"; // c"), "let a = \"http://b\"; ");
        assert_eq!(code_of("let a = '\"'; // c"), "let a = '\"'; ");
    }
}
