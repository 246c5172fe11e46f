//! `alveare verify`: compares the rules with files of known facts.

pub mod dama;
mod difference;
pub mod hive;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::start::GameName;
use difference::Difference;

const FORMATS: &str = "\
Hive: each line is a JSON object with the kind of game in \"gametype\" and one of these sets of facts:
  game, targets [[piece, q, r, level] or null for a pass, ...], state, board, last_moved
      the position after `game` (a UHP GameString); cells are told from the first piece of the game;
      state, board and last_moved may be missing
  game, n_legal [count, ...]
      the number of legal moves before each ply of a game, and after the last one
  moves [MoveString, ...], first_threefold_ply
      the ply after which a position has occurred for the third time

Draughts: a file of PDN, whose games must be legal, or lines with a JSON object of the position in \"fen\", the plies
since the last capture or move of a man in \"quiet\" (0 if missing), and some of these facts:
  moves [{move, captured, promotes, after, after_quiet}, ...] or legal [move, ...]
      all ways to move, captures with all squares visited, and what each does
  results, n_results
      the number of different positions that they lead to
  illegal [move, ...]; after {move: fen, ...}; over: null, \"1-0\" or \"0-1\"
      illegal moves; positions reached; the result
  steps [{move, fen, quiet, occurrence, result}, ...]
      a line of moves: the position after each, how often it has come up, and the result";

/// Compares legal moves and results with what FILEs say, and shows each difference.
///
/// The last line tells how many facts passed and failed; the exit code is 1 if any failed.
#[derive(Debug, clap::Args)]
#[command(after_help = FORMATS)]
pub struct Options {
    /// The game.
    #[arg(long, value_enum)]
    pub game: GameName,
    /// Files of facts.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Whether one fact agrees with the rules.
pub type Checked = Result<(), FailedFact>;

/// A fact that does not agree with the rules.
#[derive(Debug, thiserror::Error)]
#[error("{line}: {difference}")]
pub struct FailedFact {
    /// Its line in the file, from 1.
    pub line: usize,
    /// How it differs.
    pub difference: Difference,
}

/// Checks the facts of a file about one game.
pub type CheckFacts = fn(&str) -> Vec<Checked>;

/// Checks all facts of all files.
///
/// # Errors
/// If a fact failed, a file cannot be read or has none, or nobody reads what is printed. The other files are checked
/// first.
pub fn run(files: &[PathBuf], check_facts: CheckFacts, out: &mut impl Write) -> anyhow::Result<()> {
    let (mut passed_count, mut failed_count) = (0_u64, 0_u64);
    let mut unchecked = None;
    for file in files {
        let facts = match facts_of(file, check_facts) {
            Ok(facts) => facts,
            Err(error) => {
                writeln!(out, "{error:#}")?;
                unchecked.get_or_insert(error);
                continue;
            }
        };
        for checked in facts {
            match checked {
                Ok(()) => passed_count += 1,
                Err(failed) => {
                    failed_count += 1;
                    writeln!(out, "{}:{failed}", file.display())?;
                }
            }
        }
    }
    writeln!(out, "{passed_count} passed, {failed_count} failed")?;
    anyhow::ensure!(failed_count == 0, "{failed_count} facts differ from the rules");
    unchecked.map_or(Ok(()), Err)
}

/// Reads the facts of a file and checks them.
fn facts_of(file: &Path, check_facts: CheckFacts) -> anyhow::Result<Vec<Checked>> {
    let bytes = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
    let facts = check_facts(&notation::decode(bytes));
    anyhow::ensure!(
        !facts.is_empty(),
        "{}: no facts in it; `alveare verify --help` shows what they look like",
        file.display()
    );
    Ok(facts)
}

/// Checks a text line by line; blank lines are skipped.
fn check_lines(text: &str, check: impl Fn(&str) -> Result<(), Difference>) -> Vec<Checked> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| check(line).map_err(|difference| FailedFact { line: number, difference })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_facts_is_no_proof() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = run(&[file.path().to_owned()], hive::check_facts, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains(": no facts in it"), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_read_does_not_end_a_run_over_many() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good.pdn");
        // Latin-1, and a byte-order mark: neither is the matter of the moves.
        std::fs::write(&good, b"[Event \"Forl\xec\"] 21-17 12-15 *").unwrap();
        let marked = folder.path().join("marked.pdn");
        std::fs::write(&marked, b"\xef\xbb\xbf[Event \"x\"] 21-17 12-15 *").unwrap();
        let missing = folder.path().join("missing.pdn");
        let mut out = Vec::new();
        let error = run(&[missing.clone(), good, marked], dama::check_facts, &mut out).unwrap_err();
        assert_eq!(error.to_string(), format!("read {}", missing.display()));
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.starts_with(&format!("read {}: ", missing.display())), "{shown}");
        assert!(shown.ends_with("\n2 passed, 0 failed\n"), "{shown}");
    }

    #[test]
    fn files_are_counted_and_shown() {
        let facts = r#""gametype":"Base","game":"Base;NotStarted;White[1]""#;
        let of_hive = format!("{{{facts},\"n_legal\":[4]}}\n\n{{\"id\":\"bad\",{facts},\"n_legal\":[3]}}\n");
        let of_dama = "{\"fen\":\"W:W21:B\",\"results\":2}\n\n{\"id\":\"bad\",\"fen\":\"W:W21:B\",\"results\":3}\n";
        let checks: [(CheckFacts, _, _); 2] = [
            (hive::check_facts, &of_hive[..], "after 0 plies: 4 legal moves, expected 3"),
            (dama::check_facts, of_dama, "number of results: 2, expected 3"),
        ];
        for (check_facts, text, difference) in checks {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, text).unwrap();
            let mut out = Vec::new();
            let error = run(&[file.path().to_owned()], check_facts, &mut out).unwrap_err();
            assert_eq!(error.to_string(), "1 facts differ from the rules");
            let shown = String::from_utf8(out).unwrap();
            assert!(shown.ends_with(&format!(":3: bad: {difference}\n1 passed, 1 failed\n")), "{shown}");
        }
    }
}
