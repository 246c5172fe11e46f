//! A curve as a picture: Elo with its interval over the cost, a line a run.

use std::ops::Range;

use plotters::prelude::*;

use super::error::CurveError;
use super::points::{Curve, CurvePoint};
use super::run::CurveAxis;

/// Size of the picture, in pixels.
const SIZE: (u32, u32) = (960, 600);
/// Part of the height that stays empty above the highest and below the lowest interval.
const MARGIN: f64 = 0.05;

/// Draws the curves as SVG.
///
/// # Errors
/// [`CurveError::Plot`].
pub fn svg(curves: &[Curve], axis: CurveAxis, anchor: &str) -> Result<String, CurveError> {
    let mut text = String::new();
    draw(curves, axis, anchor, &mut text).map_err(|error| CurveError::Plot(error.to_string()))?;
    Ok(text)
}

fn draw(
    curves: &[Curve],
    axis: CurveAxis,
    anchor: &str,
    text: &mut String,
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (places, elos) = ranges(curves);
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(places, elos)?;
    chart
        .configure_mesh()
        .x_desc(axis.label())
        .y_desc(format!("Elo above {anchor}, 95 % interval"))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (index, curve) in curves.iter().enumerate() {
        let colour = Palette99::pick(index).to_rgba();
        let line = LineSeries::new(curve.points.iter().map(|point| (point.place, point.elo)), colour.stroke_width(2));
        chart
            .draw_series(line)?
            .label(curve.name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        let bar = |point: &CurvePoint| {
            let (low, high) = (point.elo - point.margin, point.elo + point.margin);
            ErrorBar::new_vertical(point.place, low, point.elo, high, colour.filled(), 8)
        };
        chart.draw_series(curve.points.iter().map(bar))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()
}

/// Returns what the axes show: everything, from a cost of 0 on.
fn ranges(curves: &[Curve]) -> (Range<f64>, Range<f64>) {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let end = points().map(|point| point.place).fold(0.0, f64::max);
    let low = points().map(|point| point.elo - point.margin).fold(0.0, f64::min);
    let high = points().map(|point| point.elo + point.margin).fold(0.0, f64::max);
    let space = (high - low).max(1.0) * MARGIN;
    let end = if end > 0.0 { end * (1.0 + MARGIN) } else { 1.0 };
    (0.0..end, low - space..high + space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::text::tests::curve;

    #[test]
    fn every_run_has_a_line_and_a_name() {
        let picture = svg(&[curve("run-a"), curve("<b> & c")], CurveAxis::Cost, "random").expect("it is drawn");
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{picture}");
        for text in ["cost of the run (PFLOP)", "Elo above random, 95 % interval", "run-a", "&lt;b&gt; &amp; c"] {
            assert!(picture.contains(text), "{text} is not in {picture}");
        }
        assert!(picture.matches("<polyline").count() >= 2 && !picture.contains("NaN"), "{picture}");
    }

    #[test]
    fn a_run_with_one_network_is_a_point() {
        let mut alone = curve("alone");
        alone.points.truncate(1);
        let picture = svg(&[alone], CurveAxis::Games, "random").expect("it is drawn");
        assert!(picture.contains("self-play games (cost unknown)") && !picture.contains("NaN"), "{picture}");
    }
}
