//! Progress of the worker: a log line at each interval, and a bar on a terminal.

use std::time::{Duration, Instant};

use tracing::info;

use crate::channels::WorkerState;
use crate::counters::Summary;
use crate::worker_settings::WorkerSettings;

/// How often the bar on a terminal is updated.
const BAR_INTERVAL: Duration = Duration::from_millis(500);

/// Reports the progress until the threads are to stop.
pub(crate) async fn report_progress(state: &WorkerState, settings: &WorkerSettings) {
    let bar = runtime::logging::spinner();
    let (mut last, mut last_at) = (Summary::default(), Instant::now());
    let mut next_line = Instant::now() + settings.progress_interval;
    while state.stop.run_until_cancelled(tokio::time::sleep(BAR_INTERVAL)).await.is_some() {
        let now = Instant::now();
        let summary = state.counters.summary();
        let rates = Rates::new(&last, &summary, now.duration_since(last_at));
        bar.set_message(format!(
            "{} games, {:.1} plies/s, {:.0} evaluations/s, {:.0} % from the cache",
            summary.game_count, rates.plies, rates.evaluations, rates.cache_hit_percent
        ));
        if now >= next_line {
            // A worker without a game says what it waits for.
            if summary.game_count > 0 || rates.plies > 0.0 {
                rates.log(&summary);
            }
            (last, last_at) = (summary, now);
            next_line = now + settings.progress_interval;
        }
    }
    bar.finish_and_clear();
}

/// Rates between two summaries.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rates {
    plies: f64,
    evaluations: f64,
    batch_leaves: f64,
    cache_hit_percent: f64,
}

impl Rates {
    fn new(before: &Summary, after: &Summary, time: Duration) -> Self {
        let seconds = time.as_secs_f64().max(1e-3);
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let evaluations = after.evaluation_count - before.evaluation_count;
        let lookups = after.cache_lookup_count - before.cache_lookup_count;
        Self {
            plies: (after.ply_count - before.ply_count) as f64 / seconds,
            evaluations: evaluations as f64 / seconds,
            batch_leaves: share(evaluations, after.batch_count - before.batch_count),
            cache_hit_percent: share(after.cache_hit_count - before.cache_hit_count, lookups) * 100.0,
        }
    }

    fn log(&self, summary: &Summary) {
        info!(
            games = summary.game_count,
            finished = summary.finished_game_count,
            plies_per_second = format_args!("{:.1}", self.plies),
            evaluations_per_second = format_args!("{:.0}", self.evaluations),
            leaves_per_batch = format_args!("{:.1}", self.batch_leaves),
            cache_hits = format_args!("{:.0} %", self.cache_hit_percent),
            generation = summary.generation.get(),
            "playing"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_time_between() {
        let before = Summary { ply_count: 10, evaluation_count: 100, batch_count: 5, ..Summary::default() };
        let after = Summary {
            ply_count: 30,
            evaluation_count: 500,
            batch_count: 9,
            cache_lookup_count: 800,
            cache_hit_count: 200,
            ..Summary::default()
        };
        let rates = Rates::new(&before, &after, Duration::from_secs(4));
        let expected = Rates { plies: 5.0, evaluations: 100.0, batch_leaves: 100.0, cache_hit_percent: 25.0 };
        assert_eq!(rates, expected);
    }
}
