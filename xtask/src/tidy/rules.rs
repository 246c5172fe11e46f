//! The rules: a file goes in, complaints come out.

use std::collections::BTreeMap;

use super::source::Source;

const LINE_COUNT_MAX: usize = 300;
/// Rules of a game and notations belong together, however many there are.
const RULES_LINE_COUNT_MAX: usize = 600;
const RULES_FOLDERS: [&str; 2] = ["shared/src/game/", "notation/src/"];

/// Promises that an invariant holds, by crate. A small crate may still have a few.
const EXPECT_COUNT_PER_1000_LINES: usize = 3;
const EXPECT_COUNT_OF_SMALL_CRATE: usize = 5;

/// Written in two halves, so that this file passes its own rules.
const LEFTOVERS: [&str; 4] = [concat!("dbg", "!("), concat!("todo", "!("), concat!("unimplemented", "!("), ".unwrap()"];
const NOTES: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Types that say nothing to whoever must decide by an error.
const TEXT_ERRORS: [&str; 2] = ["String", "&'static str"];

/// The pure domain.
const PURE_FOLDERS: [&str; 2] = ["shared/src/", "notation/src/"];
/// What the pure domain must not name: it knows no clock, file, environment, thread or network.
const IMPURE: [&str; 11] = [
    "std::fs",
    "std::env",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "SystemTime",
    "tokio",
    "tonic",
    "tch::",
];

/// Every complaint about one file, as `path:line: what`.
pub fn check_file(source: &Source) -> Vec<String> {
    let mut complaints = check_words(source);
    if source.is_rust() {
        complaints.extend(check_shape(source));
        complaints.extend(check_code(source));
    }
    if source.path.ends_with("Cargo.toml") {
        complaints.extend(check_manifest(source));
    }
    complaints
}

/// Crates that promise too often that nothing can go wrong.
pub fn check_expect_counts(sources: &[Source]) -> Vec<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let (lines, expects) = counts.entry(source.crate_name()).or_default();
        *lines += source.production_line_count();
        *expects += source.production_code().filter(|(_, code)| code.contains(".expect(\"")).count();
    }
    let allowed = |lines: usize| (lines * EXPECT_COUNT_PER_1000_LINES).div_ceil(1000).max(EXPECT_COUNT_OF_SMALL_CRATE);
    let complaint = |(name, (lines, expects))| {
        (expects > allowed(lines))
            .then(|| format!("{name}: {expects} expects in {lines} lines, {} allowed", allowed(lines)))
    };
    counts.into_iter().filter_map(complaint).collect()
}

fn check_words(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        if let Some(path) = MACHINE_PATHS.iter().find(|path| line.contains(**path)) {
            complaints.push(format!("{}:{}: names the folder {path} of some machine", source.path, index + 1));
        }
        if source.is_rust() && NOTES.iter().any(|note| has_note_without_issue(line, note)) {
            complaints.push(format!(
                "{}:{}: a note for later without an issue, write {}(#42)",
                source.path,
                index + 1,
                NOTES[0]
            ));
        }
    }
    complaints
}

fn has_note_without_issue(line: &str, note: &str) -> bool {
    let Some((before, after)) = line.split_once(note) else { return false };
    let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
    let number = after.strip_prefix("(#").and_then(|after| after.split_once(')'));
    let has_issue =
        number.is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    is_word && !has_issue
}

fn check_shape(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    if !source.text.starts_with("//!") {
        complaints.push(format!("{}:1: does not open with //!", source.path));
    }
    let is_rules = RULES_FOLDERS.iter().any(|folder| source.path.starts_with(folder));
    let (count, max) = (source.code_line_count(), if is_rules { RULES_LINE_COUNT_MAX } else { LINE_COUNT_MAX });
    if count > max {
        complaints.push(format!("{}: {count} lines of code, {max} allowed", source.path));
    }
    complaints
}

fn check_code(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (line, code) in source.production_code() {
        let mut complain = |what: String| complaints.push(format!("{}:{line}: {what}", source.path));
        if let Some(leftover) = LEFTOVERS.iter().find(|leftover| code.contains(**leftover) && !is_own_rule(source)) {
            complain(format!("{leftover} outside a test"));
        }
        if has_text_error(code) {
            complain("an error that is a text: name its cases in an enum".to_owned());
        }
        if source.crate_name() != "net" && !is_own_rule(source) && names_tch(code) {
            complain("names tch, which only the crate net may".to_owned());
        }
        if PURE_FOLDERS.iter().any(|folder| source.path.starts_with(folder)) {
            if let Some(name) = IMPURE.iter().find(|name| code.contains(**name)) {
                complain(format!("{name} in the pure domain"));
            }
            if code.contains("use std::{") && ["fs", "env", "io", "thread"].iter().any(|name| has_word(code, name)) {
                complain("an impure part of std in the pure domain".to_owned());
            }
        }
    }
    complaints
}

fn is_own_rule(source: &Source) -> bool {
    source.path == "xtask/src/tidy/rules.rs"
}

/// Returns whether a line names a `Result` whose error is a text.
fn has_text_error(code: &str) -> bool {
    let is_text = |(start, name): (usize, &str)| match type_arguments(&code[start + name.len()..])[..] {
        [_, error] => TEXT_ERRORS.contains(&error),
        _ => false,
    };
    code.match_indices("Result<").any(is_text)
}

/// Returns the arguments of a type whose `<` stands before `text`.
fn type_arguments(text: &str) -> Vec<&str> {
    let (mut arguments, mut depth, mut start, mut previous) = (Vec::new(), 0_u32, 0, ' ');
    for (index, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' if previous == '-' => {}
            '>' if depth == 0 => {
                arguments.push(text[start..index].trim());
                break;
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                arguments.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
        previous = character;
    }
    arguments
}

fn names_tch(code: &str) -> bool {
    code.contains("tch::") && has_word(code, "tch")
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|character: char| !character.is_alphanumeric() && character != '_').any(|part| part == word)
}

fn check_manifest(source: &Source) -> Vec<String> {
    let banned: &[&str] = match source.crate_name() {
        "Cargo.toml" | "net" => &[],
        "shared" | "notation" => &["tch", "torch-sys", "tokio", "tonic"],
        "samples" => &["tch", "torch-sys", "net", "tokio", "tonic", "rusqlite"],
        "store" => &["tch", "torch-sys", "net", "tokio", "tonic"],
        "registry" | "backup" => &["tch", "torch-sys", "net", "tonic"],
        _ => &["tch", "torch-sys"],
    };
    let is_dependency =
        |line: &str, name: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '=', '.']));
    let complaint = |(index, line): (usize, &str)| {
        let name = banned.iter().find(|name| is_dependency(line.trim_start(), name))?;
        Some(format!("{}:{}: depends on {name}", source.path, index + 1))
    };
    source.text.lines().enumerate().filter_map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check_file(&Source::new(path.to_owned(), text.to_owned()))
    }

    #[test]
    fn a_clean_file_has_no_complaints() {
        assert!(complaints("a/src/b.rs", "//! b\n\n/// Says b.\npub fn b() {}\n").is_empty());
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert_eq!(complaints("a/src/b.rs", "fn b() {}\n"), ["a/src/b.rs:1: does not open with //!"]);
    }

    #[test]
    fn long_files_fail_and_rules_may_be_longer() {
        let text = format!("//! b\n{}", "fn b() {}\n".repeat(400));
        assert_eq!(complaints("a/src/b.rs", &text), ["a/src/b.rs: 400 lines of code, 300 allowed"]);
        assert!(complaints("shared/src/game/hive/rules.rs", &text).is_empty());
    }

    #[test]
    fn unwrap_fails_outside_tests_only() {
        let text = "//! b\nfn b() { c().unwrap() }\n#[cfg(test)]\nmod tests {\nfn d() { c().unwrap() }\n}\n";
        assert_eq!(complaints("a/src/b.rs", text), ["a/src/b.rs:2: .unwrap() outside a test"]);
    }

    #[test]
    fn errors_are_named_outside_tests() {
        let count = |code: &str| complaints("a/src/b.rs", &format!("//! b\n{code}\n")).len();
        assert_eq!(count("fn b(text: &str) -> Result<Vec<(u8, u8)>, String> {"), 1);
        assert_eq!(count("fn b(judge: impl FnOnce() -> Result<(), &'static str>) {"), 1);
        for named in ["Result<HashMap<String, String>, Error>", "Result<String>", "Result<(u8, String), BError>"] {
            assert_eq!(count(&format!("fn b() -> {named} {{")), 0, "{named}");
        }
        assert_eq!(count("#[cfg(test)]\nmod tests {\nfn c() -> Result<(), String> {}\n}"), 0);
        assert!(complaints("a/tests/b.rs", "//! b\nfn b() -> Result<(), String> {}\n").is_empty());
    }

    #[test]
    fn a_note_needs_an_issue() {
        let note = |text: &str| complaints("a/src/b.rs", &format!("//! b\n// {}{text}\n", NOTES[0])).len();
        assert_eq!((note(": later"), note("(#12): later"), note("(#): later"), note("S are not meant")), (1, 0, 1, 0));
    }

    #[test]
    fn machine_paths_fail_in_any_file() {
        let text = format!("see {}notes\n", MACHINE_PATHS[0]);
        assert_eq!(complaints("docs/a.md", &text).len(), 1);
    }

    #[test]
    fn only_net_names_tch() {
        let text = "//! b\nuse tch::Tensor; // tch::\n";
        assert_eq!(complaints("learner/src/b.rs", text).len(), 1);
        assert!(complaints("net/src/b.rs", text).is_empty());
        assert!(complaints("learner/src/b.rs", "//! no tch:: here\nuse patch::Tensor;\n").is_empty());
        assert_eq!(complaints("actor/Cargo.toml", "tch.workspace = true\n"), ["actor/Cargo.toml:1: depends on tch"]);
    }

    #[test]
    fn the_domain_stays_pure() {
        let text = "//! b\nuse std::fs;\nuse std::{env, fmt};\n#[cfg(test)]\nmod tests {\nuse std::fs;\n}\n";
        assert_eq!(complaints("shared/src/b.rs", text).len(), 2);
        assert_eq!(complaints("shared/Cargo.toml", "tokio = \"1\"\ntokio-util = \"1\"\n").len(), 1);
    }

    #[test]
    fn expects_are_counted_by_crate() {
        let file = |count: usize| Source::new("a/src/b.rs".to_owned(), "let b = c.expect(\"d\");\n".repeat(count));
        assert!(check_expect_counts(&[file(5)]).is_empty());
        assert_eq!(check_expect_counts(&[file(5), file(1)]), ["a: 6 expects in 6 lines, 5 allowed"]);
    }
}
