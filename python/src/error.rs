//! Failures as Python raises them: the sentences of the crates below, their causes behind them, in one line.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError};
use shared::search::EvaluationError;

/// Returns a `ValueError`: what was asked for is wrong.
pub fn value_error(error: impl Into<anyhow::Error>) -> PyErr {
    PyValueError::new_err(one_line(&error.into()))
}

/// Returns an `OSError`, or the kind of it that says why: a file cannot be used.
pub fn file_error(error: impl Into<anyhow::Error>) -> PyErr {
    let error = error.into();
    let kind = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
    let text = one_line(&error);
    match kind {
        Some(ErrorKind::NotFound) => PyFileNotFoundError::new_err(text),
        Some(ErrorKind::PermissionDenied) => PyPermissionError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// Returns a `RuntimeError`, or a `ValueError` for positions that a network cannot be shown.
pub fn evaluation_error(error: EvaluationError) -> PyErr {
    match error {
        EvaluationError::LeafRefused(_) | EvaluationError::InvalidAnswer(_) => value_error(error),
        _ => PyRuntimeError::new_err(one_line(&error.into())),
    }
}

fn one_line(error: &anyhow::Error) -> String {
    let mut texts: Vec<String> = error.chain().map(|cause| cause.to_string().replace('\n', " ")).collect();
    texts.dedup();
    texts.join(": ")
}
