//! Tests of the whole learner from within: what they need no program outside can reach.

mod simulated_cluster;
