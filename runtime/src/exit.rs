//! How a program ends: 0 after a clean run, 1 after a failure, 64 for wrong usage or configuration; one line a failure.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::layers::ConfigError;

/// Exit code for wrong usage or configuration (EX_USAGE of sysexits).
pub const USAGE: u8 = 64;

/// Wrong usage that the command line parser cannot see. Ends the program with [`USAGE`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Reads the command line of this process, or ends it: 0 after `--help` and `--version`, 64 after wrong usage.
#[must_use]
pub fn parse<Cli: Parser>() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let code = if error.use_stderr() { i32::from(USAGE) } else { 0 };
        // A closed pipe is no reason to complain about the usage.
        let _ = error.print();
        std::process::exit(code)
    })
}

/// What a program ends with: any error that shows its causes, such as `anyhow::Error`.
type AnyError = dyn Error + Send + Sync + 'static;

/// Runs a program to its end and turns what came of it into an exit code, with one line on stderr after a failure.
pub fn run<E: AsRef<AnyError>>(program: &str, main: impl FnOnce() -> Result<(), E>) -> ExitCode {
    match main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::logging::print_line(&format!("{program}: {}", one_line(error.as_ref())));
            ExitCode::from(code(error.as_ref()))
        }
    }
}

/// Returns an error and its causes in one line; a cause that only repeats what is above it is left out.
#[must_use]
pub fn one_line(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = causes(error).map(|cause| cause.to_string().replace('\n', " ")).collect();
    texts.dedup();
    texts.join(": ")
}

/// Writes `text` to stdout. A reader that has gone, as after `| head -1`, is no failure.
///
/// # Errors
/// If stdout cannot be written for another reason, such as a full disk.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Returns success instead of the failure that nobody reads what is printed any more, as after `| head -1`. For
/// programs that write to nothing but stdout and files.
///
/// # Errors
/// The error of `result`, unless a closed pipe is among its causes.
pub fn unless_reader_has_gone<E: AsRef<AnyError>>(result: Result<(), E>) -> Result<(), E> {
    let is_closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    match result {
        Err(error) if causes(error.as_ref()).any(|cause| cause.downcast_ref().is_some_and(is_closed)) => Ok(()),
        result => result,
    }
}

fn code(error: &AnyError) -> u8 {
    let is_usage = causes(error).any(|cause| cause.is::<ConfigError>() || cause.is::<UsageError>());
    if is_usage { USAGE } else { 1 }
}

/// Returns the error, its cause, the cause of that, and so on.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_failure_is_one_line_with_its_causes() {
        let error = Err::<(), _>(anyhow::anyhow!("no such\nfile")).context("open store").unwrap_err();
        assert_eq!(one_line(error.as_ref()), "open store: no such file");
        assert_eq!(code(error.as_ref()), 1);
        let error = error.context("open store");
        assert_eq!(one_line(error.as_ref()), "open store: no such file", "said once");
    }

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        let failed = |kind| Err(anyhow::Error::from(io::Error::from(kind)).context("print"));
        assert!(unless_reader_has_gone(failed(io::ErrorKind::BrokenPipe)).is_ok());
        assert!(unless_reader_has_gone(failed(io::ErrorKind::StorageFull)).is_err());
    }

    #[test]
    fn wrong_usage_ends_with_64() {
        let error = anyhow::Error::from(UsageError("no game".into())).context("start");
        assert_eq!(code(error.as_ref()), USAGE);
    }
}
