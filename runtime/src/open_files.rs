//! The limit of open files: raised as far as the system lets a process, and shared out between files and connections.

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::debug;

/// Where Linux lists the open files of a process.
const OPEN_FILES: &str = "/proc/self/fd";

/// Fewer connections than this are of no use to anybody.
const CONNECTION_COUNT_MIN: usize = 8;

/// Raises the soft limit of open files to the hard one, and returns what it is then; `None` without a limit.
pub fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return limit.current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        Ok(()) => limit.maximum,
        // Within the limit that there is one can live too: connections are bounded by it.
        Err(error) => {
            debug!(%error, "the limit of open files stays as it is");
            limit.current
        }
    }
}

/// Returns how many files this process has open; `None` if the system does not say.
#[must_use]
pub fn open_count() -> Option<usize> {
    Some(Path::new(OPEN_FILES).read_dir().ok()?.count())
}

/// How many open files a process may have, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBudget {
    /// The limit of the process; `None`: there is none.
    pub limit: Option<u64>,
    /// Files that are open already.
    pub open_count: usize,
    /// Files kept back for what is not a connection.
    pub reserved_count: usize,
}

/// The limit of open files leaves no room for connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at most {limit} files may be open (ulimit -n), and a learner needs {needed}: raise the limit")]
pub struct TooFewFiles {
    limit: u64,
    needed: usize,
}

impl FileBudget {
    /// Returns how many of the connections that are wanted can be had.
    ///
    /// # Errors
    /// [`TooFewFiles`] if too few are left to be of use.
    pub fn connections(self, wanted: usize) -> Result<usize, TooFewFiles> {
        let Some(limit) = self.limit else { return Ok(wanted) };
        let others = self.open_count + self.reserved_count;
        let left = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(others);
        let needed = others + CONNECTION_COUNT_MIN.min(wanted);
        if left < CONNECTION_COUNT_MIN.min(wanted) { Err(TooFewFiles { limit, needed }) } else { Ok(left.min(wanted)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_files_leave() {
        let budget = |limit| FileBudget { limit, open_count: 30, reserved_count: 70 };
        assert_eq!(budget(None).connections(500), Ok(500));
        assert_eq!(budget(Some(u64::MAX)).connections(500), Ok(500));
        assert_eq!(budget(Some(600)).connections(500), Ok(500));
        assert_eq!(budget(Some(599)).connections(500), Ok(499));
        assert_eq!(budget(Some(108)).connections(500), Ok(8));
        assert_eq!(budget(Some(107)).connections(500), Err(TooFewFiles { limit: 107, needed: 108 }));
        assert_eq!(budget(Some(101)).connections(1), Ok(1), "no more were wanted");
        assert!(budget(Some(64)).connections(500).is_err());
    }

    #[test]
    fn the_limit_is_raised_to_what_the_system_allows() {
        let raised = raise_limit();
        assert_eq!(raised, getrlimit(Resource::Nofile).maximum);
        assert_eq!(raise_limit(), raised, "as far as it goes");
        assert!(open_count().is_some_and(|count| count > 2), "{:?}", open_count());
    }
}
