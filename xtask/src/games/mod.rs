//! `cargo xtask games`: downloads human games to learn from, and says how.

mod download;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;

use download::{Downloader, Fetched};

/// The largest public archive of Hive that is one download: a data set of Hugging Face, in the copy as Parquet that the
/// site makes of each (numbered files of some hundred megabytes).
const ARCHIVE: &str =
    "https://huggingface.co/datasets/rhstephens/hive-player-games/resolve/refs%2Fconvert%2Fparquet/default/train";
/// What its files are called here, before their numbers.
const ARCHIVE_NAME: &str = "hive-player-games";
/// Most files of it that are asked for.
const FILE_COUNT_MAX: u32 = 100;

/// Which games to get, and where to put them.
#[derive(Debug, Args)]
pub struct GamesArguments {
    /// Folder that the files are put into.
    #[arg(long, value_name = "DIR", default_value = "games")]
    out: PathBuf,
    /// Address of a file of games (.parquet, .csv, .zip, .uhp, .pgn, .sgf) to get instead of the public archive.
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// SHA-256 that the file of --from must have, in hexadecimal digits.
    #[arg(long, value_name = "HEX", requires = "from", value_parser = read_sha256)]
    sha256: Option<String>,
}

/// Downloads the files that are not there yet.
///
/// # Errors
/// If the address does not answer, has no such file, or gives another one; or the disk refuses it.
pub fn games(arguments: &GamesArguments) -> Result<ExitCode> {
    let out = &arguments.out;
    std::fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
    let downloader = Downloader::new();
    match &arguments.from {
        Some(url) => {
            let path = out.join(name_in(url)?);
            let fetched = downloader.fetch(url, &path, arguments.sha256.as_deref())?;
            report(&path, &fetched.with_context(|| format!("{url}: there is no such file"))?);
        }
        None => fetch_archive(&downloader, ARCHIVE, out)?,
    }
    println!("next: learner pretrain --preset hive-4090 --games {}", out.display());
    Ok(ExitCode::SUCCESS)
}

/// Downloads the numbered files of the archive, up to the first number that it does not have.
fn fetch_archive(downloader: &Downloader, archive: &str, out: &Path) -> Result<()> {
    for number in 0..FILE_COUNT_MAX {
        let path = out.join(format!("{ARCHIVE_NAME}-{number:04}.parquet"));
        let url = format!("{archive}/{number:04}.parquet");
        match downloader.fetch(&url, &path, None)? {
            Some(fetched) => report(&path, &fetched),
            None if number == 0 => bail!("{url}: there is no such file: name another address with --from URL"),
            None => return Ok(()),
        }
    }
    bail!("{archive}: more than {FILE_COUNT_MAX} files: name those that you want with --from URL")
}

fn report(path: &Path, fetched: &Fetched) {
    let Fetched { sha256, byte_count, was_there } = fetched;
    let there = if *was_there { " (was there already)" } else { "" };
    println!("{}: {byte_count} bytes, SHA-256 {sha256}{there}", path.display());
}

/// Returns the name of the file at an address.
fn name_in(url: &str) -> Result<&str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.split_once("://").and_then(|(_, rest)| rest.rsplit_once('/')).map_or("", |(_, name)| name);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
        bail!("--from {url}: it does not end with the name of a file, such as games.parquet");
    }
    Ok(name)
}

fn read_sha256(text: &str) -> Result<String> {
    let is_sum = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_sum { Ok(text.to_ascii_lowercase()) } else { bail!("not 64 hexadecimal digits") }
}

#[cfg(test)]
mod tests;
