//! Training steps: stochastic gradient descent with momentum, written out so that its state can be saved.
//!
//! With gradient g (of policy cross-entropy + weight x squared value error), velocity v and weights w:
//! g' = g + weight_decay x w;  v = momentum x v + g';  w = w - learning_rate x v. That is `torch.optim.SGD`, each head
//! being a parameter group of its own.

use std::ops::Bound::{Excluded, Included};
use std::ops::{Range, RangeInclusive};

use serde::{Deserialize, Serialize};
use shared::encoding::TrainingBatch;
use shared::setting::{SettingError, check_range};
use tch::{Kind, Reduction, Tensor};

use crate::grid::Grid;
use crate::model::{Model, NormConvolution};
use crate::moves::{MoveIndex, check_input};
use crate::outlook::{check_outlook, outlook_loss};
use crate::planes::upload;
use crate::weight_average::WeightAverage;
use crate::{NetError, Network, Precision};

/// Logit of what is no legal move: e to this power is 0 in f32, and times a target of 0 it is 0 and not NaN.
const ILLEGAL_LOGIT: f64 = -1e9;

/// Longest gradient that a user may set; longer ones do not occur.
const GRADIENT_CLIP_NORM_MAX: f64 = 1e6;

/// How weights are changed, apart from the learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// Share of the velocity kept from step to step, at least 0 and below 1.
    pub momentum: f64,
    /// Pull of every weight toward 0, at least 0 and below 1.
    pub weight_decay: f64,
    /// Longest gradient that is applied as it is, above 0 and at most 1,000,000; a longer one is shortened to this. `None`:
    /// never shortened.
    pub gradient_clip_norm: Option<f64>,
    /// Weight of the squared value error against the policy cross-entropy, 0..=1,000,000.
    pub value_loss_weight: f64,
    /// Weight of what the outlook heads get wrong against the policy cross-entropy, 0..=1,000,000. Without such heads it
    /// means nothing.
    pub outlook_loss_weight: f64,
    /// The numbers in which a step multiplies. Weights, statistics, losses and velocity are 32 bits always.
    pub precision: Precision,
    /// Share of the average of the weights that a step keeps, above 0 and below 1; `None`: there is no average.
    pub weight_average_decay: Option<f64>,
    /// Times the learning rate that the weights of the policy head alone are changed with, 0..=1,000,000.
    pub policy_rate_scale: f64,
    /// Times the learning rate that the weights of the value head alone are changed with, 0..=1,000,000.
    pub value_rate_scale: f64,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            momentum: 0.9,
            weight_decay: 1e-4,
            gradient_clip_norm: None,
            value_loss_weight: 1.0,
            outlook_loss_weight: 0.0,
            precision: Precision::Float32,
            weight_average_decay: None,
            policy_rate_scale: 1.0,
            value_rate_scale: 1.0,
        }
    }
}

impl TrainingSettings {
    /// Possible values of `momentum`.
    pub const MOMENTA: Range<f64> = 0.0..1.0;
    /// Possible values of `weight_decay`.
    pub const WEIGHT_DECAYS: Range<f64> = 0.0..1.0;
    /// Lengths of a gradient that a user may set; 0 stands for `None`.
    pub const GRADIENT_CLIP_NORMS: RangeInclusive<f64> = 0.0..=GRADIENT_CLIP_NORM_MAX;
    /// Shares of the average that a user may set; 0 stands for `None`.
    pub const WEIGHT_AVERAGE_DECAYS: Range<f64> = 0.0..1.0;
    /// Possible values of `value_loss_weight`, `outlook_loss_weight`, `policy_rate_scale` and `value_rate_scale`.
    pub const FACTORS: RangeInclusive<f64> = 0.0..=1e6;

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        check_range("momentum", self.momentum, Self::MOMENTA)?;
        check_range("weight_decay", self.weight_decay, Self::WEIGHT_DECAYS)?;
        check_range("value_loss_weight", self.value_loss_weight, Self::FACTORS)?;
        check_range("outlook_loss_weight", self.outlook_loss_weight, Self::FACTORS)?;
        check_range("policy_rate_scale", self.policy_rate_scale, Self::FACTORS)?;
        check_range("value_rate_scale", self.value_rate_scale, Self::FACTORS)?;
        if let Some(decay) = self.weight_average_decay {
            check_range("weight_average_decay", decay, (Excluded(0.0), Excluded(1.0)))?;
        }
        if let Some(norm) = self.gradient_clip_norm {
            check_range("gradient_clip_norm", norm, (Excluded(0.0), Included(GRADIENT_CLIP_NORM_MAX)))?;
        }
        Ok(())
    }
}

/// What one step measured, before it changed the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLosses {
    /// Mean cross-entropy of the policy over legal moves, in nats.
    pub policy_loss: f64,
    /// Mean squared error of the value.
    pub value_loss: f64,
    /// Cross-entropy in nats of whether pieces move again, mean over pieces, + squared error of the numbers of the end, mean
    /// over numbers, where they are known; 0 without outlook heads.
    pub outlook_loss: f64,
    /// Policy loss + `value_loss_weight` x value loss + `outlook_loss_weight` x outlook loss.
    pub total: f64,
    /// Length of the gradient of `total`, before shortening and without weight decay.
    pub gradient_norm: f64,
    /// Share of positions whose likeliest move is the target's likeliest, 0..=1.
    pub policy_accuracy: f64,
}

/// A network in training.
pub struct Trainer {
    pub(crate) network: Network,
    pub(crate) momentum: Tensor,
    pub(crate) settings: TrainingSettings,
    pub(crate) training_step: u64,
    pub(crate) average: Option<WeightAverage>,
    model: Model<NormConvolution>,
    parameters: Vec<Tensor>,
    /// Times the learning rate of each weight, f32 flat; `None` where it is 1 for all.
    rate_scales: Option<Tensor>,
}

/// The targets of a batch on the device, and the way from ragged moves to a table [B, most moves].
struct Targets {
    /// Where move n lies in the flattened table, i64 [N].
    places: Tensor,
    /// Share of each move, f32 [B, most moves], 0 where there is none.
    policy: Tensor,
    /// f32 [B].
    value: Tensor,
}

impl Trainer {
    /// Starts to train `network` on the device it is on, with no velocity.
    ///
    /// # Errors
    /// [`NetError::Settings`], or [`NetError::Torch`] if memory does not suffice.
    pub fn new(network: Network, settings: TrainingSettings) -> Result<Self, NetError> {
        let momentum = network.weights.f_zeros_like()?;
        Self::resumed(network, momentum, None, settings, 0)
    }

    /// Starts to train another network of the same shape in the place of this one: with no velocity and an average of its
    /// own, and the steps of this one counted on.
    ///
    /// # Errors
    /// [`NetError::Mismatch`] if the shape is another, [`NetError::Torch`] if memory does not suffice.
    pub fn restart_from(&mut self, network: &Network) -> Result<(), NetError> {
        if network.shape() != self.network.shape() {
            return Err(NetError::Mismatch {
                file: "to go on from".to_owned(),
                found: network.shape().to_string(),
                wanted: self.network.shape().to_string(),
            });
        }
        let network = network.copy_to(self.network.device)?;
        let momentum = network.weights.f_zeros_like()?;
        *self = Self::resumed(network, momentum, None, self.settings, self.training_step)?;
        Ok(())
    }

    pub(crate) fn resumed(
        network: Network,
        momentum: Tensor,
        average: Option<WeightAverage>,
        settings: TrainingSettings,
        training_step: u64,
    ) -> Result<Self, NetError> {
        settings.check()?;
        let average = match (settings.weight_average_decay, average) {
            (None, _) => None,
            (Some(_), None) => Some(WeightAverage::start(&network)?),
            (Some(_), average) => average,
        };
        let (model, parameters) = network.model(true)?;
        let rate_scales = rate_scales(&network, &settings)?;
        Ok(Self { network, momentum, settings, training_step, average, model, parameters, rate_scales })
    }

    /// Learns from `batch` once.
    ///
    /// # Errors
    /// [`NetError::Batch`] if the batch contradicts itself or the shape, [`NetError::NotFinite`] if loss or gradient
    /// are not finite, [`NetError::Settings`] if the learning rate is not. Nothing has changed then.
    pub fn step(&mut self, batch: &TrainingBatch, learning_rate: f64) -> Result<StepLosses, NetError> {
        check_range("learning_rate", learning_rate, 0.0..=1e3)?;
        check_batch(&self.network, batch)?;
        let statistics = self.network.statistics.f_detach_copy()?;
        let measured = self.measure(batch);
        let usable =
            measured.as_ref().is_ok_and(|(losses, _)| losses.total.is_finite() && losses.gradient_norm.is_finite());
        if !usable {
            // The forward pass has moved the running statistics already.
            let _no_gradients = tch::no_grad_guard();
            self.network.statistics.f_copy_(&statistics)?;
        }
        let (losses, gradient) = measured?;
        if !usable {
            let StepLosses { policy_loss, value_loss, gradient_norm, .. } = losses;
            let training_step = self.training_step;
            return Err(NetError::NotFinite { training_step, policy_loss, value_loss, gradient_norm });
        }
        self.descend(gradient, losses.gradient_norm, learning_rate)?;
        self.training_step += 1;
        if let (Some(average), Some(decay)) = (&mut self.average, self.settings.weight_average_decay) {
            average.add(&self.network, decay)?;
        }
        Ok(losses)
    }

    /// Returns the network as it is now.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Checks all that would be saved: a step whose loss and gradient were finite may still have made weights that are
    /// not, or moved the running statistics there.
    ///
    /// # Errors
    /// [`NetError::WeightsNotFinite`].
    pub fn check_finite(&self) -> Result<(), NetError> {
        let mut all = vec![
            ("the weights", &self.network.weights),
            ("the running statistics", &self.network.statistics),
            ("the velocities", &self.momentum),
        ];
        all.extend(self.average.iter().flat_map(WeightAverage::tensors).map(|values| ("the averages", values)));
        for (what, values) in all {
            if values.f_isfinite()?.f_all()?.f_int64_value(&[])? == 0 {
                return Err(NetError::WeightsNotFinite { training_step: self.training_step, what });
            }
        }
        Ok(())
    }

    /// Returns the network to play with: the average of the weights if there is one, else a copy of the network.
    ///
    /// # Errors
    /// As [`Self::check_finite`]; [`NetError::Torch`] if memory does not suffice.
    pub fn candidate(&self) -> Result<Network, NetError> {
        self.check_finite()?;
        match &self.average {
            Some(average) => average.network(&self.network),
            None => self.network.copy_to(self.network.device),
        }
    }

    /// Returns the number of steps done, those before a checkpoint included.
    #[must_use]
    pub fn training_step(&self) -> u64 {
        self.training_step
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &TrainingSettings {
        &self.settings
    }

    /// Runs the network forward and backward. Returns the losses and the gradient of all weights, f32 flat.
    fn measure(&self, batch: &TrainingBatch) -> Result<(StepLosses, Tensor), NetError> {
        let (shape, device) = (self.network.shape(), self.network.device.0);
        let grid = Grid::for_learning(shape, &batch.input, device)?;
        let kind = self.settings.precision.kind();
        let planes = upload(&batch.input, shape, (&grid, batch.input.len()), device, kind)?;
        let index = MoveIndex::new(shape, &batch.input, &grid, device)?;
        let targets = Targets::new(batch, device)?;
        let output = self.model.forward(&planes, &grid)?;
        let logits = targets.table(&index.logits(shape, &output.policy)?)?;
        let shares = logits.f_log_softmax(1, Kind::Float)?;
        let policy_loss =
            shares.f_mul(&targets.policy)?.f_sum(Kind::Float)?.f_div_scalar(-(batch.input.len() as f64))?;
        let value_loss = output.value.f_mse_loss(&targets.value, Reduction::Mean)?;
        let outlook_loss = match &output.outlook {
            Some(outlook) => outlook_loss(outlook, &batch.outlook, &grid)?,
            None => value_loss.f_zeros_like()?,
        };
        let total = policy_loss
            .f_add(&value_loss.f_mul_scalar(self.settings.value_loss_weight)?)?
            .f_add(&outlook_loss.f_mul_scalar(self.settings.outlook_loss_weight)?)?;
        let gradients = Tensor::f_run_backward(&[&total], &self.parameters, false, false)?;
        let _no_gradients = tch::no_grad_guard();
        let flat = gradients.iter().map(|gradient| gradient.f_reshape([-1])).collect::<Result<Vec<_>, _>>()?;
        let gradient = Tensor::f_cat(&flat, 0)?;
        let hits = logits.f_argmax(1, false)?.f_eq_tensor(&targets.policy.f_argmax(1, false)?)?;
        let accuracy = hits.f_mean(Kind::Float)?;
        let norm = gradient.f_norm()?;
        // One copy from the device for all six.
        let report = Tensor::f_stack(&[&policy_loss, &value_loss, &outlook_loss, &total, &norm, &accuracy], 0)?;
        let mut numbers = [0.0_f32; 6];
        report.f_copy_data(&mut numbers, 6)?;
        let [policy_loss, value_loss, outlook_loss, total, gradient_norm, policy_accuracy] = numbers.map(f64::from);
        Ok((StepLosses { policy_loss, value_loss, outlook_loss, total, gradient_norm, policy_accuracy }, gradient))
    }

    /// Changes velocity and weights.
    fn descend(&mut self, mut gradient: Tensor, gradient_norm: f64, learning_rate: f64) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        if let Some(longest) = self.settings.gradient_clip_norm.filter(|&longest| gradient_norm > longest) {
            gradient = gradient.f_mul_scalar_(longest / gradient_norm)?;
        }
        let decay = self.network.weights.f_mul_scalar(self.settings.weight_decay)?;
        let _ = self.momentum.f_mul_scalar_(self.settings.momentum)?.f_add_(&gradient.f_add_(&decay)?)?;
        let mut step = self.momentum.f_mul_scalar(learning_rate)?;
        if let Some(scales) = &self.rate_scales {
            step = step.f_mul(scales)?;
        }
        let _ = self.network.weights.f_sub_(&step)?;
        Ok(())
    }
}

/// Returns what the learning rate of each weight is multiplied by: one number for each head's own weights, 1 for the
/// trunk, which both heads share.
fn rate_scales(network: &Network, settings: &TrainingSettings) -> Result<Option<Tensor>, NetError> {
    let TrainingSettings { policy_rate_scale, value_rate_scale, .. } = *settings;
    if (policy_rate_scale, value_rate_scale) == (1.0, 1.0) {
        return Ok(None);
    }
    let slots = &network.layout.weights;
    let mut scales = Vec::with_capacity(slots.count as usize);
    for slot in &slots.slots {
        let scale = match slot.name.split('.').next() {
            Some("policy") => policy_rate_scale,
            Some("value") => value_rate_scale,
            _ => 1.0,
        };
        scales.extend(std::iter::repeat_n(scale as f32, slot.count() as usize));
    }
    Ok(Some(Tensor::f_from_slice(&scales)?.f_to_device(network.device.0)?))
}

impl Targets {
    fn new(batch: &TrainingBatch, device: tch::Device) -> Result<Self, NetError> {
        let input = &batch.input;
        let widest = (0..input.len()).map(|position| input.move_range(position).len()).max().unwrap_or(0);
        let mut places = Vec::with_capacity(input.policy_indices.len());
        let mut policy = vec![0.0_f32; input.len() * widest];
        for position in 0..input.len() {
            let (range, start) = (input.move_range(position), position * widest);
            places.extend((start..start + range.len()).map(|place| place as i64));
            policy[start..start + range.len()].copy_from_slice(&batch.policy_targets[range]);
        }
        let dims = [input.len() as i64, widest as i64];
        Ok(Self {
            places: Tensor::f_from_slice(&places)?.f_to_device(device)?,
            policy: Tensor::f_from_slice(&policy)?.f_view(dims)?.f_to_device(device)?,
            value: Tensor::f_from_slice(&batch.value_targets)?.f_to_device(device)?,
        })
    }

    /// Lays logits f32 [N] out as [B, most moves], far below zero where there is no move.
    fn table(&self, logits: &Tensor) -> Result<Tensor, NetError> {
        let table = self.policy.f_flatten(0, -1)?.f_full_like(ILLEGAL_LOGIT)?;
        Ok(table.f_index_copy(0, &self.places, logits)?.f_view_as(&self.policy)?)
    }
}

/// Checks that `batch` agrees with itself and the network, and that every position has a move to learn.
fn check_batch(network: &Network, batch: &TrainingBatch) -> Result<(), NetError> {
    check_input(network.shape(), &batch.input)?;
    let refused = |reason: String| Err(NetError::Batch(reason));
    let (positions, moves) = (batch.input.len(), batch.input.policy_indices.len());
    if positions == 0 {
        return refused("no position to learn from".into());
    }
    if let Some(position) = (0..positions).find(|&position| batch.input.move_range(position).is_empty()) {
        return refused(format!("position {position} has no move to learn"));
    }
    if batch.policy_targets.len() != moves {
        return refused(format!("{} policy targets for {moves} moves", batch.policy_targets.len()));
    }
    if batch.value_targets.len() != positions {
        return refused(format!("{} value targets for {positions} positions", batch.value_targets.len()));
    }
    check_outlook(network.shape(), &batch.outlook, positions)
}

#[cfg(test)]
mod tests {
    use shared::catalog::GameSpec;

    use super::*;
    use crate::{Device, NetworkSettings, NetworkSpec, PolicyHead};

    #[test]
    fn what_is_not_finite_is_not_saved() {
        let settings = TrainingSettings { weight_average_decay: Some(0.9), ..TrainingSettings::default() };
        let trainer = || {
            let network = NetworkSettings {
                architecture: Default::default(),
                blocks: 1,
                filters: 4,
                trunk: Default::default(),
                policy_head: PolicyHead::Full,
                value_hidden: 4,
                global_pooling_every: 0,
                outlook_heads: false,
            };
            let spec = NetworkSpec::new(&GameSpec::TicTacToe {}, network).unwrap();
            Trainer::new(Network::random(&spec, Device::CPU, 1).unwrap(), settings).unwrap()
        };
        trainer().candidate().unwrap();
        type Spoil = fn(&mut Trainer) -> &mut Tensor;
        let spoils: [(Spoil, &str); 3] = [
            (|trainer| &mut trainer.network.weights, "the weights"),
            (|trainer| &mut trainer.network.statistics, "the running statistics"),
            (|trainer| &mut trainer.momentum, "the velocities"),
        ];
        for (spoil, what) in spoils {
            let mut trainer = trainer();
            let _no_gradients = tch::no_grad_guard();
            let _ = spoil(&mut trainer).f_narrow(0, 0, 1).unwrap().f_fill_(f64::INFINITY).unwrap();
            let refused = trainer.candidate().map(drop).unwrap_err().to_string();
            assert_eq!(refused, format!("after training step 0: {what} hold a number that is not finite"));
        }
    }
}
