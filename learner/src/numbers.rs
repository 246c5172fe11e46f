//! Numbers as log lines and tables show them.

/// Returns a share as a percentage with one digit after the point.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Returns a number with four significant digits, plenty for a log line.
#[must_use]
pub fn round(value: impl Into<f64>) -> f64 {
    let value = value.into();
    let scale = 10f64.powi(3 - value.abs().max(1e-12).log10().floor() as i32);
    (value * scale).round() / scale
}
