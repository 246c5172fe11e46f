//! What the first description of the system measured, beside what benchmarks measure here: they print `measured KEY
//! VALUE`.
//!
//! A new row is a line of [`BASELINES`] and a benchmark that prints it.

use std::collections::HashMap;

/// A measure of the first description.
struct Baseline {
    /// Its name in the output of a benchmark.
    key: &'static str,
    /// Its name in the table.
    name: &'static str,
    /// Its value in the description, if that has one.
    described: Option<f64>,
    /// Our value must be at least this, or at most if less is better.
    bar: f64,
    is_less_better: bool,
}

/// On an Apple M2, as the first description of draughts has them; three times better is the bar.
const BASELINES: [Baseline; 8] = [
    more("vanilla_simulations_per_s", "vanilla search, one thread, simulations/s", Some(104_000.0), 312_000.0),
    more("nodes_per_s", "nodes allocated by it, a second", Some(26_000.0), 78_000.0),
    less("node_bytes", "tree node with its edges, bytes", Some(9_000.0), 100.0),
    more("vanilla_four_threads_ratio", "four threads on one tree, vanilla, times one thread", None, 1.7),
    more("instant_four_threads_ratio", "the same with leaves that cost nothing", None, 1.7),
    more("inference_positions_per_s", "inference by dama-cnn, batches of 16, positions/s", Some(1_744.0), 5_232.0),
    more("training_samples_per_s", "training of dama-cnn, samples/s", Some(608.0), 1_824.0),
    less("game_seconds", "a game at 800 simulations a move, s", Some(50.0), 50.0 / 3.0),
];

const fn more(key: &'static str, name: &'static str, described: Option<f64>, bar: f64) -> Baseline {
    Baseline { key, name, described, bar, is_less_better: false }
}

const fn less(key: &'static str, name: &'static str, described: Option<f64>, bar: f64) -> Baseline {
    Baseline { key, name, described, bar, is_less_better: true }
}

/// What benchmarks have printed.
#[derive(Debug, Default)]
pub struct Measurements(HashMap<String, f64>);

impl Measurements {
    /// Reads a line; other lines than measurements are skipped. The last one of a key counts.
    pub fn read(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        if let (Some("measured"), Some(key), Some(value)) = (words.next(), words.next(), words.next())
            && let Ok(value) = value.parse()
        {
            self.0.insert(key.to_owned(), value);
        }
    }

    /// Returns the table of all baselines; `None` if none was measured.
    pub fn table(&self) -> Option<String> {
        BASELINES.iter().any(|row| self.0.contains_key(row.key)).then(|| {
            let head = format!("{:<56}{:>12}{:>12}{:>12}\n", "", "described", "bar", "ours");
            BASELINES.iter().map(|row| row.line(self.0.get(row.key).copied())).fold(head, |table, line| table + &line)
        })
    }
}

impl Baseline {
    fn line(&self, ours: Option<f64>) -> String {
        let Self { name, described, bar, is_less_better, .. } = self;
        let sign = if *is_less_better { "<=" } else { ">=" };
        let bar_text = format!("{sign} {}", number(*bar));
        let is_reached = ours.is_some_and(|ours| if *is_less_better { ours <= *bar } else { ours >= *bar });
        let verdict = match ours {
            None => "",
            Some(_) if is_reached => "  reached",
            Some(_) => "  missed",
        };
        let [described, ours] = [*described, ours].map(|value| value.map_or_else(|| "-".to_owned(), number));
        format!("{name:<56}{described:>12}{bar_text:>12}{ours:>12}{verdict}\n")
    }
}

/// Returns a number with three digits or all before the point.
fn number(value: f64) -> String {
    let decimals = if value >= 100.0 { 0 } else { 2 };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_found_among_other_lines() {
        let mut measurements = Measurements::default();
        assert_eq!(measurements.table(), None);
        for line in ["search  fastest", "measured node_bytes 91.5", "measured nodes_per_s fast", "measured other 1"] {
            measurements.read(line);
        }
        let table = measurements.table().unwrap();
        assert_eq!(table.lines().count(), 1 + BASELINES.len());
        let row = table.lines().find(|line| line.starts_with("tree node")).unwrap();
        let words: Vec<&str> = row.split_whitespace().skip(6).collect();
        assert_eq!(words, ["9000", "<=", "100", "91.50", "reached"]);
        assert!(table.lines().any(|line| line.starts_with("nodes allocated") && line.ends_with(" -")), "not measured");
    }

    #[test]
    fn a_missed_bar_is_marked() {
        let mut measurements = Measurements::default();
        measurements.read("measured vanilla_four_threads_ratio 1.52");
        let table = measurements.table().unwrap();
        let row = table.lines().find(|line| line.starts_with("four threads")).unwrap();
        let words: Vec<&str> = row.split_whitespace().skip(9).collect();
        assert_eq!(words, ["-", ">=", "1.70", "1.52", "missed"], "{row}");
    }
}
