//! How a program ends: 0 after a clean run, 1 after a failure, 64 for wrong usage or configuration; one line a failure.

use std::io::Write;
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

/// Runs a program to its end and turns what came of it into an exit code, with one line on stderr after a failure.
pub fn run(program: &str, main: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    match main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::logging::print_line(&line(program, &error));
            ExitCode::from(code(&error))
        }
    }
}

/// Writes `text` to stdout. A reader that has gone, as after `| head -1`, is no failure.
///
/// # Errors
/// What the system says otherwise, such as a full disk.
pub fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Returns success instead of the failure that nobody reads what is printed any more, as after `| head -1`. For
/// programs that write to nothing but stdout and files.
///
/// # Errors
/// Every other failure.
pub fn unless_reader_has_gone(result: anyhow::Result<()>) -> anyhow::Result<()> {
    let is_closed = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    match result {
        Err(error) if error.chain().any(|cause| cause.downcast_ref().is_some_and(is_closed)) => Ok(()),
        result => result,
    }
}

/// Returns the one line that tells a person why `program` failed.
#[must_use]
pub fn line(program: &str, error: &anyhow::Error) -> String {
    format!("{program}: {}", format!("{error:#}").replace('\n', " "))
}

fn code(error: &anyhow::Error) -> u8 {
    let is_usage = error.chain().any(|cause| cause.is::<ConfigError>() || cause.is::<UsageError>());
    if is_usage { USAGE } else { 1 }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_failure_is_one_line_with_its_causes() {
        let error = Err::<(), _>(anyhow::anyhow!("no such\nfile")).context("open store").unwrap_err();
        assert_eq!(line("learner", &error), "learner: open store: no such file");
        assert_eq!(code(&error), 1);
    }

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        let failed = |kind| Err(anyhow::Error::from(std::io::Error::from(kind)).context("print"));
        assert!(unless_reader_has_gone(failed(std::io::ErrorKind::BrokenPipe)).is_ok());
        assert!(unless_reader_has_gone(failed(std::io::ErrorKind::StorageFull)).is_err());
    }

    #[test]
    fn wrong_usage_ends_with_64() {
        let error = anyhow::Error::from(UsageError("no game".into())).context("start");
        assert_eq!(code(&error), USAGE);
    }
}
