//! The Python package `alveare`: rules, networks, search and samples of both games for notebooks.
//!
//! Here is what Python sees of the other crates, and no logic of its own. Every failure becomes a Python exception with the
//! same one line that the programs print. The texts that `help()` shows are the docs of the classes here; their types, for
//! editors and type checkers, stand in `alveare/_native.pyi`.

mod callable;
mod error;
mod network;
mod played;
mod rules;
mod samples;
mod search;

/// Rules, networks, search and samples of Hive and Italian draughts.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::network::Network;
    #[pymodule_export]
    use crate::rules::{Game, Position};
    #[pymodule_export]
    use crate::samples::{SampleBatch, Samples, read_samples};
    #[pymodule_export]
    use crate::search::{SearchResult, search};
}
