//! Numbers over training steps or iterations, thinned out to as many points as a chart can show.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use store::Reader;

use super::answer::PageError;
use super::iterations::rounded;

/// Most points of one series.
pub(super) const POINT_COUNT_MAX: u32 = 2000;
/// Points of a series if nobody says how many.
pub(super) const POINT_COUNT: u32 = 300;
/// Most series of one answer.
const SERIES_COUNT_MAX: usize = 16;
/// Metrics that are written once an iteration, at the step that it started from.
const BY_ITERATION: [&str; 7] = [
    "draw_share",
    "cut_off_share",
    "mean_ply_count",
    "distinct_opening_share",
    "resigned_share",
    "played_on_count",
    "false_resignation_count",
];

/// Metrics that the charts of the page show: read before the first visitor asks.
pub(super) const CHARTED: &str = "policy_loss,value_loss,learning_rate,mean_ply_count,draw_share,cut_off_share";

/// The values of metrics as far as they were read: what is stored does not change, so only what came since is read again.
#[derive(Debug, Default)]
pub(super) struct MetricValues(Mutex<HashMap<String, Known>>);

/// Values of one metric by rising step, and the row of the last one that was stored.
#[derive(Debug, Clone, Default)]
struct Known {
    last_row: i64,
    values: Arc<Vec<(u64, f64)>>,
}

impl MetricValues {
    fn read(&self, reader: &Reader, name: &str) -> Result<Arc<Vec<(u64, f64)>>, PageError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { last_row, values } = known().get(name).cloned().unwrap_or_default();
        let new = reader.metric_since(name, last_row)?;
        let Some(newest) = new.iter().map(|value| value.row).max() else { return Ok(values) };
        let mut all = Vec::clone(&values);
        all.extend(new.iter().map(|value| (value.step, value.value)));
        // A training that was resumed repeats steps.
        all.sort_by_key(|(step, _)| *step);
        let all = Arc::new(all);
        known().insert(name.to_owned(), Known { last_row: newest, values: Arc::clone(&all) });
        Ok(all)
    }
}

/// Series by the name of their metric. What was never measured has no points.
#[derive(Debug, Serialize)]
pub(super) struct SeriesAnswer {
    series: BTreeMap<String, Series>,
}

/// A number over time: each point stands for a stretch, with the mean, the least and the largest value in it.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Series {
    /// What `x` counts: `step` or `iteration`.
    over: &'static str,
    /// The last step, or iteration, of each stretch.
    x: Vec<u64>,
    mean: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// Values before they were thinned out.
    value_count: usize,
}

/// Reads the metrics that `names` lists, divided by commas.
pub(super) fn read_series(
    reader: &Reader,
    known: &MetricValues,
    names: &str,
    point_count_max: usize,
) -> Result<SeriesAnswer, PageError> {
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > SERIES_COUNT_MAX {
        return Err(super::query::bad("names", format!("{} names, at most {SERIES_COUNT_MAX}", names.len())));
    }
    let mut starts = None;
    let mut series = BTreeMap::new();
    for name in names {
        let values = known.read(reader, name)?;
        let one = if BY_ITERATION.contains(&name) {
            if starts.is_none() {
                starts = Some(reader.iteration_starts()?);
            }
            over_iterations(&values, starts.as_deref().unwrap_or_default(), point_count_max)
        } else {
            series_of("step", &values, point_count_max)
        };
        series.insert(name.to_owned(), one);
    }
    Ok(SeriesAnswer { series })
}

/// Turns training steps into iterations: each value belongs to the last one that had begun by then.
fn over_iterations(values: &[(u64, f64)], starts: &[(u64, u32)], point_count_max: usize) -> Series {
    let iteration_at = |step: u64| {
        let after = starts.partition_point(|(start, _)| *start <= step);
        starts.get(after.wrapping_sub(1)).map_or(0, |(_, number)| u64::from(*number))
    };
    let values: Vec<_> = values.iter().map(|(step, value)| (iteration_at(*step), *value)).collect();
    series_of("iteration", &values, point_count_max)
}

fn series_of(over: &'static str, values: &[(u64, f64)], point_count_max: usize) -> Series {
    let mut series = Series { over, value_count: values.len(), ..Series::default() };
    for stretch in values.chunks(values.len().div_ceil(point_count_max.max(1)).max(1)) {
        let of_stretch = || stretch.iter().map(|(_, value)| *value);
        series.x.push(stretch[stretch.len() - 1].0);
        series.mean.push(significant(of_stretch().sum::<f64>() / stretch.len() as f64));
        series.low.push(significant(of_stretch().fold(f64::INFINITY, f64::min)));
        series.high.push(significant(of_stretch().fold(f64::NEG_INFINITY, f64::max)));
    }
    series
}

/// Returns a number to four places, and learning rates, which are small, to seven.
fn significant(number: f64) -> f64 {
    if number.abs() < 0.1 { (number * 1e7).round() / 1e7 } else { rounded(number) }
}

/// Leaves at most about `count_max` of `points`, evenly, the first and the last among them.
pub(super) fn thinned<T>(points: Vec<T>, count_max: usize) -> Vec<T> {
    let (count, stride) = (points.len(), points.len().div_ceil(count_max.max(1)).max(1));
    let is_kept = |index: usize| index == 0 || (count - 1 - index).is_multiple_of(stride);
    points.into_iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_keeps_its_mean_and_its_extremes() {
        let values: Vec<(u64, f64)> = (1..=10).map(|step| (step * 25, step as f64)).collect();
        let series = series_of("step", &values, 4);
        assert_eq!(series.x, [75, 150, 225, 250]);
        assert_eq!(series.mean, [2.0, 5.0, 8.0, 10.0]);
        assert_eq!((series.low, series.high), (vec![1.0, 4.0, 7.0, 10.0], vec![3.0, 6.0, 9.0, 10.0]));
        assert_eq!(series.value_count, 10);
        assert_eq!(series_of("step", &[], 4), Series { over: "step", ..Series::default() });
    }

    #[test]
    fn values_of_an_iteration_are_found_by_the_step_that_it_started_from() {
        let starts = [(0, 1), (200, 2), (400, 3)];
        assert_eq!(over_iterations(&[(0, 0.5), (200, 0.25), (400, 0.0)], &starts, 10).x, [1, 2, 3]);
    }

    #[test]
    fn first_and_last_stay_when_points_are_thinned_out() {
        let thin = thinned((0..1001).collect(), 100);
        assert_eq!((thin[0], thin[thin.len() - 1]), (0, 1000));
        assert!((90..=102).contains(&thin.len()), "{}", thin.len());
        assert_eq!(thinned(vec![1, 2], 100), [1, 2]);
        assert!(thinned(Vec::<u8>::new(), 5).is_empty());
    }
}
