//! What happened, line by line: hashed, so that two runs of a seed can be compared, and printed if that is asked for.

use std::fmt::{self, Write};
use std::time::Duration;

/// Lines that are shown when an invariant is broken.
const LAST_LINES: usize = 40;

/// What happened.
pub(super) struct Trace {
    prints: bool,
    hash: u64,
    line: String,
    last: std::collections::VecDeque<String>,
}

impl Trace {
    /// Makes a trace without lines.
    pub(super) fn new(prints: bool) -> Self {
        Self { prints, hash: 0xcbf2_9ce4_8422_2325, line: String::new(), last: std::collections::VecDeque::new() }
    }

    /// Adds a line.
    pub(super) fn note(&mut self, at: Duration, what: fmt::Arguments<'_>) {
        self.line.clear();
        write!(self.line, "{:>10.6} {what}", at.as_secs_f64()).expect("a string takes everything");
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.hash = self.line.bytes().chain([b'\n']).fold(self.hash, fold);
        if self.prints {
            println!("{}", self.line);
        }
        let mut oldest = if self.last.len() < LAST_LINES { None } else { self.last.pop_front() }.unwrap_or_default();
        oldest.clone_from(&self.line);
        self.last.push_back(oldest);
    }

    /// Returns the hash of all lines.
    pub(super) const fn hash(&self) -> u64 {
        self.hash
    }

    /// Prints the last lines, unless all were printed.
    pub(super) fn print_end(&self) {
        if !self.prints {
            self.last.iter().for_each(|line| println!("{line}"));
        }
    }
}
