//! A search while it runs: lines that come in, the clock, and its reports.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use shared::game::Value;
use shared::game::dama::Dama;
use shared::game::dama::text::format_with_captured;
use shared::search::{ParallelSearch, Proof};

use notation::dama::hub_line::{HubLine, quoted};

/// How often a search tells how far it is.
const INFO_INTERVAL: Duration = Duration::from_secs(1);
/// Score of a proven win now; each ply until then is a hundredth less, as other engines have it.
const WIN_SCORE: f32 = 100.0;

/// Whether the conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It goes on.
    Listen,
    /// It is over.
    Quit,
}

/// Lines that come in while a search runs.
pub trait Lines {
    /// Returns the next line if there is one already; the inner `None` is the end of the input.
    fn poll(&mut self) -> Option<Option<String>>;
}

/// Where a search ends by itself.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// Plies of the best line.
    pub depth: Option<usize>,
    /// Simulations.
    pub simulation_count: Option<u32>,
    /// Time from when the clock runs.
    pub time: Option<Duration>,
}

/// Looks after a search while it runs.
pub struct Watch<'a> {
    lines: &'a mut dyn Lines,
    out: &'a mut dyn Write,
    ends: Ends,
    started: Instant,
    /// When the clock began to run; `None` while the opponent thinks.
    clock: Option<Instant>,
    told: Instant,
    kept_count: u32,
    next: Next,
    failure: Option<io::Error>,
}

impl<'a> Watch<'a> {
    /// Starts to look after a search that begins with `kept_count` simulations. While pondering no clock runs.
    pub fn new(lines: &'a mut dyn Lines, out: &'a mut dyn Write, ends: Ends, kept_count: u32, ponders: bool) -> Self {
        let started = Instant::now();
        let clock = (!ponders).then_some(started);
        Self { lines, out, ends, started, clock, told: started, kept_count, next: Next::Listen, failure: None }
    }

    /// Returns when the search must be over, as far as that is known now.
    pub fn deadline(&self) -> Option<Instant> {
        Some(self.clock? + self.ends.time?)
    }

    /// Looks after the search between two batches. Returns whether it goes on.
    pub fn goes_on(&mut self, search: &ParallelSearch<Dama>) -> bool {
        while let Some(line) = self.lines.poll() {
            if !self.listen(line) {
                return false;
            }
        }
        let now = Instant::now();
        if now.duration_since(self.told) >= INFO_INTERVAL {
            self.tell(search);
        }
        self.failure.is_none() && !self.is_over(search, now)
    }

    /// Tells the last of the search. Returns whether the conversation goes on.
    ///
    /// # Errors
    /// If something could not be written since the start.
    pub fn finish(mut self, search: &ParallelSearch<Dama>) -> io::Result<Next> {
        self.tell(search);
        self.failure.map_or(Ok(self.next), Err)
    }

    fn is_over(&self, search: &ParallelSearch<Dama>, now: Instant) -> bool {
        if self.clock.is_none() {
            return false;
        }
        let is_deep = self.ends.depth.is_some_and(|depth| search.principal_variation().len() >= depth);
        let is_large = self.ends.simulation_count.is_some_and(|count| search.simulation_count() >= count);
        is_deep || is_large || self.deadline().is_some_and(|deadline| now >= deadline)
    }

    /// Listens to a line. Returns whether the search goes on.
    fn listen(&mut self, line: Option<String>) -> bool {
        let Some(text) = line else {
            self.next = Next::Quit;
            return false;
        };
        match HubLine::parse(&text).command.as_str() {
            "stop" => return false,
            "quit" => {
                self.next = Next::Quit;
                return false;
            }
            "ping" => self.write("pong"),
            "ponder-hit" => self.clock = self.clock.or(Some(Instant::now())),
            "" => {}
            other => {
                let message = quoted(&format!("{other}: not while a search runs; send stop first"));
                self.write(&format!("error message={message}"));
            }
        }
        true
    }

    /// Tells how far the search is.
    fn tell(&mut self, search: &ParallelSearch<Dama>) {
        self.told = Instant::now();
        let line: Vec<String> = search.principal_variation().into_iter().map(format_with_captured).collect();
        let count = search.simulation_count();
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = f64::from(count.saturating_sub(self.kept_count)) / seconds.max(1e-9) / 1e6;
        self.write(&format!(
            "info depth={} mean-depth={:.1} score={:.2} nodes={count} time={seconds:.3} nps={rate:.4} pv=\"{}\"",
            line.len(),
            search.mean_depth(),
            score(search.proof(), search.root_value(), line.len()),
            line.join(" ")
        ));
    }

    fn write(&mut self, text: &str) {
        if let Err(error) = writeln!(self.out, "{text}").and_then(|()| self.out.flush()) {
            self.failure = Some(error);
        }
    }
}

/// Returns the value of the position, -1 to 1, or for a proven win or loss a number near 100 or -100.
fn score(proof: Proof, value: Value, line_len: usize) -> f32 {
    let distance = line_len as f32 / 100.0;
    match proof {
        Proof::Win => WIN_SCORE - distance,
        Proof::Loss => distance - WIN_SCORE,
        Proof::Draw | Proof::Unknown => value.rounded(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_even_has_no_sign() {
        let shown = |proof, value| format!("{:.2}", score(proof, Value::new(value), 5));
        assert_eq!([-0.0, -0.004, 0.004].map(|value| shown(Proof::Unknown, value)), ["0.00"; 3]);
        assert_eq!(shown(Proof::Draw, -0.0), "0.00");
        assert_eq!((shown(Proof::Unknown, -0.006), shown(Proof::Loss, -1.0)), ("-0.01".into(), "-99.95".into()));
    }
}
