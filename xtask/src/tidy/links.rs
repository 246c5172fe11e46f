//! Links between our documents: each leads to a file or folder that is there.

use super::source::Source;

/// Complains of links in Markdown that lead nowhere. Links to other places are not followed.
pub fn check_links(sources: &[Source]) -> Vec<String> {
    let is_there = |path: &str| {
        let folder = format!("{path}/");
        sources.iter().any(|source| source.path == path || source.path.starts_with(&folder))
    };
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        for (index, line) in source.text.lines().enumerate() {
            for target in targets(line) {
                if !is_there(&resolve(&source.path, target)) {
                    complaints.push(format!("{}:{}: the link to {target} leads nowhere", source.path, index + 1));
                }
            }
        }
    }
    complaints
}

/// Where the links of a line lead, as far as that is in this repository.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = ends.map(|target| target.split('#').next().unwrap_or_default());
    paths.filter(|path| !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:"))
}

/// The path from the root that `target` means in the file at `path`.
fn resolve(path: &str, target: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let sources = [("docs/a.md", text), ("docs/b.md", ""), ("net/src/lib.rs", "//! net\n")];
        check_links(&sources.map(|(path, text)| Source::new(path.to_owned(), text.to_owned())))
    }

    #[test]
    fn links_to_files_folders_and_other_places_are_fine() {
        let text = "[b](b.md#part), [net](../net), [src](../net/src/), [web](https://example.org), [part](#part)";
        assert!(complaints(text).is_empty());
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named() {
        assert_eq!(complaints("see\n[c](c.md)"), ["docs/a.md:2: the link to c.md leads nowhere"]);
        assert_eq!(complaints("[n](../ne)").len(), 1);
    }
}
