//! `alveare verify`: compares the rules with files of known facts.

pub mod dama;
mod difference;
pub mod hive;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use runtime::counted::counted;
use runtime::exit::one_line;
use runtime::logging;

use crate::start::GameName;
use difference::Difference;

/// Differences of a file that are shown, unless all are wanted.
const SHOWN_MAX: usize = 10;

/// First bytes of a zip archive with files in it.
const ZIP_START: &[u8] = b"PK\x03\x04";

const FORMATS: &str = "\
Hive: a file of UHP GameStrings, one a line, as `alveare match --out` and `learner export --games` write them: the moves
must be legal, the turn theirs, and the state that of surrounded queens, if any is. Or each line is a JSON object with the
kind of game in \"gametype\" and one of these sets of facts:
  game, targets [[piece, q, r, level] or null for a pass, ...], state, board, last_moved
      the position after `game` (a UHP GameString); cells are counted from the first piece of the game;
      state, board and last_moved may be missing
  game, n_legal [count, ...]
      the number of legal moves before each ply of a game, and after the last one
  moves [MoveString, ...], first_threefold_ply
      the ply after which a position has occurred for the third time

Draughts: a file of PDN, whose games must be legal, and end with a result if the tag Result has one; or lines with a JSON
object of the position in \"fen\", the plies since the last capture or move of a man in \"quiet\" (0 if missing), and some
of these facts:
  moves [{move, captured, promotes, after, after_quiet}, ...] or legal [move, ...]
      all ways to move, captures with all squares visited, and what each does
  results, n_results
      the number of different positions that they lead to
  illegal [move, ...]; after {move: fen, ...}; over: null, \"1-0\" or \"0-1\"
      illegal moves; positions reached; the result
  steps [{move, fen, quiet, occurrence, result}, ...]
      a line of moves: the position after each, how often it has come up, and the result";

/// Compares legal moves and results with what FILEs say, games or facts, and shows the first differences of each.
///
/// The last line tells how many facts passed and failed; the exit code is 1 if any failed.
#[derive(Debug, clap::Args)]
#[command(after_help = FORMATS)]
pub struct Options {
    /// The game. The default is what each file is about.
    #[arg(long, value_enum)]
    pub game: Option<GameName>,
    /// Files of games or facts.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show every difference, however many a file has.
    #[arg(long, short)]
    pub verbose: bool,
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

/// Checks the facts of a file.
pub type CheckFacts<'a> = dyn Fn(&str) -> Vec<Checked> + 'a;

/// Checks all facts of all files.
///
/// # Errors
/// If a fact failed, a file cannot be read or has none, or nobody reads what is printed. The other files are checked
/// first. All errors but the last are printed to stderr.
pub fn run(options: &Options, check_facts: &CheckFacts<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let mut errors = check_files(options, check_facts, out)?;
    let last = errors.pop();
    for error in errors {
        logging::print_line(&format!("alveare: {}", one_line(error.as_ref())));
    }
    last.map_or(Ok(()), Err)
}

/// Checks all facts of all files. Returns why files could not be checked, and then that facts failed.
///
/// # Errors
/// If nobody reads what is printed.
fn check_files(
    options: &Options,
    check_facts: &CheckFacts<'_>,
    out: &mut impl Write,
) -> anyhow::Result<Vec<anyhow::Error>> {
    let shown_max = if options.verbose { usize::MAX } else { SHOWN_MAX };
    let (mut passed_count, mut failed_count) = (0, 0);
    let mut errors = vec![];
    for file in &options.files {
        let facts = match facts_of(file, check_facts) {
            Ok(facts) => facts,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let fact_count = facts.len();
        let failed: Vec<FailedFact> = facts.into_iter().filter_map(Result::err).collect();
        for failed in failed.iter().take(shown_max) {
            writeln!(out, "{}:{failed}", file.display())?;
        }
        if let Some(more) = failed.len().checked_sub(shown_max).filter(|more| *more > 0) {
            let more = counted(more, "more differs", "more differ");
            writeln!(out, "{}: {more}, of {fact_count} facts; --verbose shows them", file.display())?;
        }
        passed_count += fact_count - failed.len();
        failed_count += failed.len();
    }
    writeln!(out, "{passed_count} passed, {failed_count} failed")?;
    let differing = counted(failed_count, "fact differs", "facts differ");
    errors.extend((failed_count > 0).then(|| anyhow!("{differing} from the rules")));
    Ok(errors)
}

/// Reads the facts of a file and checks them.
fn facts_of(file: &Path, check_facts: &CheckFacts<'_>) -> anyhow::Result<Vec<Checked>> {
    anyhow::ensure!(!file.is_dir(), "{}: a folder: name the files that are in it", file.display());
    let bytes = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
    anyhow::ensure!(!bytes.starts_with(ZIP_START), "{}: a zip archive: name the files that are in it", file.display());
    anyhow::ensure!(!bytes.contains(&0), "{}: not a text", file.display());
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

    /// Checks files; returns what is printed, and the errors, one a line.
    fn check(files: &[&Path], verbose: bool, check_facts: &CheckFacts<'_>) -> (String, String) {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let options = Options { game: None, files, verbose };
        let mut out = Vec::new();
        let errors = check_files(&options, check_facts, &mut out).unwrap();
        let last = run(&options, check_facts, &mut Vec::new()).unwrap_err();
        assert_eq!(errors.last().map(ToString::to_string), Some(last.to_string()));
        let errors: Vec<String> = errors.iter().map(|error| one_line(error.as_ref())).collect();
        (String::from_utf8(out).unwrap(), errors.join("\n"))
    }

    #[test]
    fn a_file_without_facts_is_no_proof() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (_, error) = check(&[file.path()], false, &hive::check_facts);
        assert!(error.contains(": no facts in it"), "{error}");
    }

    #[test]
    fn what_is_no_text_is_refused_in_one_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, reason) in
            [(&b"PK\x03\x04 and more\n\n"[..], "a zip archive: name the files"), (b"a\n\0\n", "not a text")]
        {
            std::fs::write(&file, bytes).unwrap();
            let (shown, error) = check(&[file.path()], false, &hive::check_facts);
            assert_eq!(shown, "0 passed, 0 failed\n", "the error is said once");
            assert!(error.starts_with(&format!("{}: {reason}", file.path().display())), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let (_, error) = check(&[folder.path()], false, &hive::check_facts);
        assert_eq!(error, format!("{}: a folder: name the files that are in it", folder.path().display()));
    }

    #[test]
    fn of_many_differences_the_first_are_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "nonsense\n".repeat(25)).unwrap();
        let (shown, _) = check(&[file.path()], false, &hive::check_facts);
        let lines: Vec<&str> = shown.lines().collect();
        let more = format!("{}: 15 more differ, of 25 facts; --verbose shows them", file.path().display());
        assert_eq!((lines.len(), lines[10], lines[11]), (12, more.as_str(), "0 passed, 25 failed"));
        let (shown, _) = check(&[file.path()], true, &hive::check_facts);
        assert_eq!(shown.lines().count(), 26);
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
        let wrong = folder.path().join("wrong.pdn");
        std::fs::write(&wrong, "1. 21-14 *").unwrap();
        let (shown, error) = check(&[&missing, &good, &marked], false, &dama::check_facts);
        assert_eq!(error, format!("read {}: No such file or directory (os error 2)", missing.display()));
        assert_eq!(shown, "2 passed, 0 failed\n");
        let (shown, errors) = check(&[&missing, &wrong, folder.path()], false, &dama::check_facts);
        assert_eq!((shown.lines().count(), errors.lines().count()), (2, 3), "{shown}{errors}");
        assert!(errors.ends_with("\n1 fact differs from the rules"), "{errors}");
    }

    #[test]
    fn files_are_counted_and_shown() {
        let facts = r#""gametype":"Base","game":"Base;NotStarted;White[1]""#;
        let of_hive = format!("{{{facts},\"n_legal\":[4]}}\n\n{{\"id\":\"bad\",{facts},\"n_legal\":[3]}}\n");
        let of_dama = "{\"fen\":\"W:W21:B\",\"results\":2}\n\n{\"id\":\"bad\",\"fen\":\"W:W21:B\",\"results\":3}\n";
        let checks: [(&CheckFacts<'_>, _, _); 2] = [
            (&hive::check_facts, &of_hive[..], "after 0 plies: 4 legal moves, expected 3"),
            (&dama::check_facts, of_dama, "number of results: 2, expected 3"),
        ];
        for (check_facts, text, difference) in checks {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, text).unwrap();
            let (shown, error) = check(&[file.path()], false, check_facts);
            assert_eq!(error, "1 fact differs from the rules");
            assert!(shown.ends_with(&format!(":3: bad: {difference}\n1 passed, 1 failed\n")), "{shown}");
        }
    }
}
