//! `cargo xtask tidy`: what no compiler checks, over every file that git tracks.
//!
//! The rules themselves, text in and complaints out, live in `rules`, `circles`, `links` and `changelog`; how a source is
//! split into production code and tests lives in `source`.

mod changelog;
mod circles;
mod links;
mod rules;
mod source;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use source::Source;

/// Checks the tree and says how much of it there is.
pub fn tidy(workspace: &Workspace) -> Result<ExitCode> {
    check(workspace)?;
    Ok(ExitCode::SUCCESS)
}

/// Checks the tree; the error lists every complaint.
pub fn check(workspace: &Workspace) -> Result<()> {
    let (count, complaints) = complaints(workspace.root())?;
    if complaints.is_empty() {
        println!("xtask: tidy: {count} files are tidy");
        return Ok(());
    }
    bail!("tidy: {} complaints\n  {}", complaints.len(), complaints.join("\n  "))
}

fn complaints(root: &Path) -> Result<(usize, Vec<String>)> {
    let sources = sources(root)?;
    let mut complaints: Vec<String> = sources.iter().flat_map(rules::check_file).collect();
    complaints.extend(rules::check_expect_counts(&sources));
    complaints.extend(circles::check_circles(&sources));
    complaints.extend(links::check_links(&sources));
    complaints.extend(changelog::check_changelog(&sources, env!("CARGO_PKG_VERSION")));
    Ok((sources.len(), complaints))
}

/// Every text file of the tree. What is not UTF-8 is not ours to read.
fn sources(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in tracked_files(root)? {
        let bytes = match fs::read(root.join(&path)) {
            Ok(bytes) => bytes,
            // Removed here and not yet in git, or a link that leads nowhere.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
        };
        if let Ok(text) = String::from_utf8(bytes) {
            sources.push(Source::new(path.to_string_lossy().into_owned(), text));
        }
    }
    Ok(sources)
}

/// Files that git tracks or would track, relative to `root`.
fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.output().context("run git ls-files")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        let (count, complaints) = complaints(Workspace::locate().unwrap().root()).unwrap();
        assert!(count > 20, "only {count} files found");
        assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
    }
}
