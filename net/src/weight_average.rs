//! A running average of a network in training: what is played, while training goes on from the weights themselves.
//!
//! The last steps of stochastic gradient descent wander about a place that is better than each of them, and their mean
//! is nearer to it (Polyak and Juditsky 1992; Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima"). KataGo
//! averages snapshots with a decay of 0.75; here each step is one, so that one number says how far back it reaches.
//! The running statistics of the batch norms are averaged as the weights are (Cai et al. 2021, "Exponential Moving
//! Average Normalization"). To measure them anew, as Izmailov et al. do, would cost a pass over samples, and an average
//! of few hundred steps lies close to them all.

use tch::Tensor;

use crate::file::Contents;
use crate::file_writer::Vector;
use crate::{NetError, Network};

/// Names of averages in a checkpoint are those of the tensors with this before them.
const AVERAGE: &str = "average.";

/// The average.
pub(crate) struct WeightAverage {
    weights: Tensor,
    statistics: Tensor,
    /// Steps in it, apart from where it started.
    step_count: u64,
}

impl WeightAverage {
    /// Starts from `network` as it is.
    pub(crate) fn start(network: &Network) -> Result<Self, NetError> {
        let copy = network.copy_to(network.device)?;
        Ok(Self { weights: copy.weights, statistics: copy.statistics, step_count: 0 })
    }

    /// Reads the average of a checkpoint of `network`; `None` if it holds none.
    pub(crate) fn read(contents: &Contents<'_>, network: &Network) -> Result<Option<Self>, NetError> {
        let Some(step_count) = contents.header().average_step_count else { return Ok(None) };
        let device = network.device.0;
        let weights = contents.vector(AVERAGE, &network.layout.weights, device)?;
        let statistics = contents.vector(AVERAGE, &network.layout.statistics, device)?;
        Ok(Some(Self { weights, statistics, step_count }))
    }

    /// Adds `network` after a step: `decay` of what there was and the rest of this; in the first steps the plain mean,
    /// so that the start weighs no more than each of them.
    pub(crate) fn add(&mut self, network: &Network, decay: f64) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        self.step_count += 1;
        let plain_mean = self.step_count as f64 / (self.step_count + 1) as f64;
        let share = 1.0 - decay.min(plain_mean);
        let _ = self.weights.f_lerp_(&network.weights, share)?;
        let _ = self.statistics.f_lerp_(&network.statistics, share)?;
        Ok(())
    }

    /// Returns what is averaged.
    pub(crate) const fn tensors(&self) -> [&Tensor; 2] {
        [&self.weights, &self.statistics]
    }

    /// Returns the number of steps in the average.
    pub(crate) const fn step_count(&self) -> u64 {
        self.step_count
    }

    /// Returns the average as a network like `network`, in memory of its own.
    pub(crate) fn network(&self, network: &Network) -> Result<Network, NetError> {
        let (weights, statistics) = (self.weights.f_detach_copy()?, self.statistics.f_detach_copy()?);
        let (spec, layout) = (network.spec.clone(), network.layout.clone());
        Ok(Network { spec, device: network.device, layout, weights, statistics })
    }

    /// The two flat vectors with their names, as a checkpoint of `network` wants them.
    pub(crate) fn vectors<'a>(&self, network: &'a Network) -> Result<[Vector<'a>; 2], NetError> {
        Ok([
            Vector::new(AVERAGE, &network.layout.weights, &self.weights)?,
            Vector::new(AVERAGE, &network.layout.statistics, &self.statistics)?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use shared::catalog::GameSpec;

    use super::*;
    use crate::{Architecture, Device, NetworkSettings, NetworkSpec, PolicyHead, Trunk};

    fn filled(value: f64) -> Network {
        let settings = NetworkSettings {
            architecture: Architecture::Residual,
            blocks: 1,
            filters: 4,
            trunk: Trunk::Frame,
            policy_head: PolicyHead::Full,
            value_hidden: 4,
            global_pooling_every: 0,
            outlook_heads: false,
        };
        let spec = NetworkSpec::new(&GameSpec::TicTacToe {}, settings).expect("a shape");
        let mut network = Network::random(&spec, Device::CPU, 1).expect("a network");
        let _ = network.weights.f_fill_(value).expect("filled");
        let _ = network.statistics.f_fill_(10.0 * value).expect("filled");
        network
    }

    #[test]
    fn the_first_steps_count_alike_and_later_ones_fade() {
        let mut average = WeightAverage::start(&filled(0.0)).expect("started");
        let one = filled(1.0);
        let mut found = Vec::new();
        for _ in 0..5 {
            average.add(&one, 0.75).expect("added");
            let network = average.network(&one).expect("a network");
            let mean = |values: &Tensor| f64::try_from(values.f_mean(tch::Kind::Double).expect("a mean")).expect("f64");
            assert!((mean(&network.statistics) - 10.0 * mean(&network.weights)).abs() < 1e-5, "averaged alike");
            found.push(mean(&network.weights));
        }
        // 1/2, 2/3, 3/4 of steps that are 1; then 0.75 x 0.75 + 0.25 and 0.75 x that + 0.25.
        let expected = [0.5, 2.0 / 3.0, 0.75, 0.8125, 0.859_375];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
        assert_eq!(average.step_count(), 5);
    }
}
