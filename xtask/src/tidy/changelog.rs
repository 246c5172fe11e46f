//! The changelog goes back to the version that is being worked on: what was released stays in it.

use super::source::Source;

const FILE: &str = "CHANGELOG.md";

/// Complains of a changelog without a section for changes to come, or for `version`.
pub fn check_changelog(sources: &[Source], version: &str) -> Vec<String> {
    let text = sources.iter().find(|source| source.path == FILE).map_or("", |source| &source.text);
    let has =
        |section: &str| text.lines().any(|line| line.strip_prefix("## ").is_some_and(|of| of.starts_with(section)));
    let wanted = ["Unreleased".to_owned(), format!("{version} (")];
    let missing = wanted.iter().filter(|section| !has(section));
    missing.map(|section| format!("{FILE}: no section \"## {}\"", section.trim_end_matches(" ("))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_version_stays_in_the_changelog() {
        let complaints = |text: &str| check_changelog(&[Source::new(FILE.to_owned(), text.to_owned())], "0.1.0");
        assert!(complaints("## Unreleased\n\n- a\n\n## 0.1.0 (2026-11-28)\n").is_empty());
        assert_eq!(complaints("## Unreleased\n\n- 0.1.0\n"), ["CHANGELOG.md: no section \"## 0.1.0\""]);
        assert_eq!(complaints("## 0.1.0 (2026-11-28)\n"), ["CHANGELOG.md: no section \"## Unreleased\""]);
        assert_eq!(check_changelog(&[], "0.1.0").len(), 2, "there is none");
    }
}
