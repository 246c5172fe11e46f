//! No circles between the top-level modules of a crate, which are the files and folders directly under its `src`.
//!
//! A module imports another one if its code names it by a path from the crate's root, `crate::name` or `super::name`, or
//! names something that the root takes from it by `use`. Tests may import what they like.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::source::Source;

/// For each module those that it imports, each with the first place where it does, as `path:line`.
type Imports<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

/// A source file of a crate.
struct File<'a> {
    path: &'a str,
    /// Its module's path below the crate; empty for the root of the crate.
    module: Vec<&'a str>,
    /// What ships of it, without comments.
    code: String,
}

/// A complaint for each circle: its modules, with the imports that close it.
pub fn check_circles(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<File<'_>>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let Some((folder, file)) = source.path.split_once("/src/") else { continue };
        crates.entry(folder).or_default().push(File::new(source, file));
    }
    let of_crate = |(folder, files): (&&str, &Vec<File<'_>>)| {
        let complaint = |circle| format!("{folder}/src: a circle of modules: {circle}");
        circles(&imports(files)).into_iter().map(complaint).collect::<Vec<_>>()
    };
    crates.iter().flat_map(of_crate).collect()
}

impl<'a> File<'a> {
    fn new(source: &'a Source, file: &'a str) -> Self {
        let mut module: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
        if module.last() == Some(&"mod") || matches!(module[..], ["lib" | "main"]) {
            module.pop();
        }
        let lines: Vec<&str> = source.production_code().map(|(_, code)| code).collect();
        Self { path: &source.path, module, code: lines.join("\n") }
    }

    /// Returns the names of the crate's root that the code mentions, each with its place in the code.
    fn root_names(&self) -> Vec<(usize, &str)> {
        let mut names = Vec::new();
        for prefix in ["crate::".to_owned(), "super::".repeat(self.module.len())] {
            for (place, _) in
                self.code.match_indices(&prefix).filter(|(place, _)| !prefix.is_empty() && self.begins(*place))
            {
                names.extend(first_names(&self.code, place + prefix.len()));
            }
        }
        names
    }

    /// Returns whether a path begins here: no part of it stands before.
    fn begins(&self, place: usize) -> bool {
        !self.code[..place].ends_with(|before| is_of_word(before) || before == ':')
    }
}

fn imports<'a>(files: &'a [File<'a>]) -> Imports<'a> {
    let modules: BTreeSet<&str> = files.iter().filter_map(|file| file.module.first().copied()).collect();
    let roots = files.iter().filter(|file| file.module.is_empty());
    let taken_from: BTreeMap<&str, &str> = roots.flat_map(|root| taken_by_root(&root.code, &modules)).collect();
    let mut imports = Imports::new();
    for file in files {
        let Some(module) = file.module.first() else { continue };
        for (place, name) in file.root_names() {
            let Some(imported) = modules.get(name).or_else(|| taken_from.get(name)) else { continue };
            if imported != module {
                let line = file.code[..place].matches('\n').count() + 1;
                let of_module = imports.entry(*module).or_default();
                of_module.entry(*imported).or_insert_with(|| format!("{}:{line}", file.path));
            }
        }
    }
    imports
}

/// Returns what a crate's root takes from its modules, each name with its module.
fn taken_by_root<'a>(code: &'a str, modules: &BTreeSet<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut taken = Vec::new();
    for statement in code.split(';') {
        let Some((_, path)) = statement.split_once("use ") else { continue };
        let mut words =
            path.split(|character| !is_of_word(character)).filter(|word| !["", "crate", "self"].contains(word));
        if let Some(module) = words.next().and_then(|word| modules.get(word)) {
            taken.extend(words.map(|name| (name, *module)));
        }
    }
    taken
}

/// Returns the first word of the path that goes on at `place`, or of each path in the braces there.
fn first_names(code: &str, place: usize) -> Vec<(usize, &str)> {
    let rest = &code[place..];
    if !rest.starts_with('{') {
        return vec![(place, first_word(rest))];
    }
    let (mut names, mut depth, mut is_start) = (Vec::new(), 0, false);
    for (index, character) in rest.char_indices() {
        match character {
            '{' => {
                depth += 1;
                is_start = depth == 1;
            }
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => is_start = depth == 1,
            _ if is_start && is_of_word(character) => {
                names.push((place + index, first_word(&rest[index..])));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> &str {
    text.split(|character| !is_of_word(character)).next().unwrap_or_default()
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns circles in words. A module stands in one of them if it stands in any.
fn circles(imports: &Imports<'_>) -> Vec<String> {
    let (mut known, mut circles) = (BTreeSet::new(), Vec::new());
    for start in imports.keys() {
        if known.contains(start) {
            continue;
        }
        if let Some(circle) = shortest_circle(imports, start) {
            let next = circle.iter().cycle().skip(1);
            let arrows = circle.iter().zip(next).map(|(from, to)| format!("{from} -> {to} ({})", imports[from][to]));
            circles.push(arrows.collect::<Vec<_>>().join(", "));
            known.extend(circle);
        }
    }
    circles
}

/// Returns the modules of the shortest circle through `start`, which comes first.
fn shortest_circle<'a>(imports: &Imports<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let (mut came_from, mut waiting) = (BTreeMap::new(), VecDeque::from([start]));
    while let Some(module) = waiting.pop_front() {
        for imported in imports.get(module).into_iter().flat_map(BTreeMap::keys).copied() {
            if imported == start {
                let mut circle: Vec<&str> =
                    std::iter::successors(Some(module), |at| came_from.get(at).copied()).collect();
                circle.reverse();
                return Some(circle);
            }
            if !came_from.contains_key(imported) {
                came_from.insert(imported, module);
                waiting.push_back(imported);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source::new((*path).to_owned(), (*text).to_owned());
        check_circles(&files.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn two_modules_that_import_each_other_are_a_circle() {
        let files = [
            ("a/src/lib.rs", "mod config;\nmod training;\n"),
            ("a/src/config/mod.rs", "//! c\nuse crate::training::Settings;\n"),
            (
                "a/src/training.rs",
                "//! t\nuse std::{fs, io};\nuse crate::{\n    other::{config, Thing},\n    config::Config,\n};\n",
            ),
        ];
        let circle = "config -> training (a/src/config/mod.rs:2), training -> config (a/src/training.rs:5)";
        assert_eq!(complaints(&files), [format!("a/src: a circle of modules: {circle}")]);
    }

    #[test]
    fn a_circle_may_go_through_folders_and_through_what_the_root_takes() {
        let files = [
            ("a/src/lib.rs", "mod x;\nmod y;\nmod z;\npub use x::{Other, X as Named};\npub use crate::y::deep::Y;\n"),
            ("a/src/x.rs", "use super::z;\n"),
            ("a/src/y/deep.rs", "use super::super::Named;\n"),
            ("a/src/z/mod.rs", "fn z(y: crate::Y) {}\n"),
        ];
        let circle = "x -> z (a/src/x.rs:1), z -> y (a/src/z/mod.rs:1), y -> x (a/src/y/deep.rs:1)";
        assert_eq!(complaints(&files), [format!("a/src: a circle of modules: {circle}")]);
    }

    #[test]
    fn arrows_of_one_direction_parents_tests_comments_and_other_crates_are_no_circle() {
        let files = [
            ("a/src/lib.rs", "mod x;\nmod y;\nuse x::X;\npub struct Root;\n"),
            ("a/src/x.rs", "// use crate::y::Y;\nuse crate::Root;\n#[cfg(test)]\nmod tests {\nuse crate::y::Y;\n}\n"),
            ("a/src/y/mod.rs", "mod part;\nuse crate::x::X;\nuse part::Part;\nuse self::part::Other;\n"),
            ("a/src/y/part.rs", "use super::Y;\nuse b::x::Z;\n"),
            ("a/src/y/tests.rs", "use crate::x::X;\n"),
            ("b/src/x.rs", "use crate::y::Y;\n"),
            ("b/src/y.rs", "use a::crate_x::X;\n"),
        ];
        assert!(complaints(&files).is_empty(), "{:?}", complaints(&files));
    }
}
