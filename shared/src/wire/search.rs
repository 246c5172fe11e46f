//! How a worker is to search: a part of each lease.

use super::WireError;
use crate::search::{FirstPlayUrgency, RootSelection, SearchSettings};

/// Returns the message for search settings.
#[must_use]
pub fn search_settings_to_proto(settings: &SearchSettings) -> proto::SearchSettings {
    proto::SearchSettings {
        simulation_count: settings.simulation_count,
        exploration: settings.exploration,
        first_play_urgency_reduction: settings.first_play_urgency_reduction,
        virtual_loss: settings.virtual_loss,
        leaves_per_game: settings.leaves_per_game,
        dirichlet_alpha: settings.dirichlet_alpha,
        dirichlet_weight: settings.dirichlet_weight,
        temperature: settings.temperature,
        temperature_plies: settings.temperature_plies,
        temperature_after: settings.temperature_after,
        root: root_to_proto(settings.root).into(),
        considered_move_count: settings.considered_move_count,
        gumbel_visit_scale: settings.gumbel_visit_scale,
        gumbel_value_scale: settings.gumbel_value_scale,
        full_search_share: settings.full_search_share,
        fast_simulation_count: settings.fast_simulation_count,
        policy_temperature: settings.policy_temperature,
        first_play_urgency: urgency_to_proto(settings.first_play_urgency).into(),
    }
}

/// Reads search settings and checks them.
///
/// # Errors
/// [`WireError::Setting`] with the first key that is out of range, [`WireError::Invalid`] for an unknown root selection or
/// first-play urgency.
pub fn search_settings_from_proto(message: &proto::SearchSettings) -> Result<SearchSettings, WireError> {
    let settings = SearchSettings {
        simulation_count: message.simulation_count,
        exploration: message.exploration,
        first_play_urgency_reduction: message.first_play_urgency_reduction,
        virtual_loss: message.virtual_loss,
        leaves_per_game: message.leaves_per_game,
        dirichlet_alpha: message.dirichlet_alpha,
        dirichlet_weight: message.dirichlet_weight,
        temperature: message.temperature,
        temperature_plies: message.temperature_plies,
        temperature_after: message.temperature_after,
        root: root_from_proto(message.root)?,
        considered_move_count: message.considered_move_count,
        gumbel_visit_scale: message.gumbel_visit_scale,
        gumbel_value_scale: message.gumbel_value_scale,
        full_search_share: message.full_search_share,
        fast_simulation_count: message.fast_simulation_count,
        policy_temperature: message.policy_temperature,
        first_play_urgency: urgency_from_proto(message.first_play_urgency)?,
    };
    settings.check().map_err(|error| error.under("search"))?;
    Ok(settings)
}

const fn root_to_proto(root: RootSelection) -> proto::RootSelection {
    match root {
        RootSelection::Puct => proto::RootSelection::Puct,
        RootSelection::Gumbel => proto::RootSelection::Gumbel,
    }
}

const fn urgency_to_proto(urgency: FirstPlayUrgency) -> proto::FirstPlayUrgency {
    match urgency {
        FirstPlayUrgency::Reduced => proto::FirstPlayUrgency::Reduced,
        FirstPlayUrgency::Zero => proto::FirstPlayUrgency::Zero,
    }
}

fn urgency_from_proto(urgency: i32) -> Result<FirstPlayUrgency, WireError> {
    match proto::FirstPlayUrgency::try_from(urgency) {
        Ok(proto::FirstPlayUrgency::Reduced) => Ok(FirstPlayUrgency::Reduced),
        Ok(proto::FirstPlayUrgency::Zero) => Ok(FirstPlayUrgency::Zero),
        _ => {
            Err(WireError::invalid("search.first_play_urgency", format!("{urgency} is no value of an unvisited move")))
        }
    }
}

fn root_from_proto(root: i32) -> Result<RootSelection, WireError> {
    match proto::RootSelection::try_from(root) {
        Ok(proto::RootSelection::Puct) => Ok(RootSelection::Puct),
        Ok(proto::RootSelection::Gumbel) => Ok(RootSelection::Gumbel),
        _ => Err(WireError::invalid("search.root", format!("{root} is no way to search a root"))),
    }
}
