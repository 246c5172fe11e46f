//! The plan of a run: made of the settings, and shown as a table.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use net::NetworkSpec;
use shared::ids::Generation;
use shared::setting::SettingError;

use super::model::{plan, run_start};
use super::{Assumptions, Hardware, Limit, Plan, PlanReport, Rates, Workload};
use crate::config::LearnerConfig;

/// Iterations whose cost is shown.
const START_ITERATIONS: u32 = 50;
/// Calls a second that ask for games: above it, the learner's processor is busy with them.
const CALLS_MAX: f64 = 10_000.0;

impl PlanReport {
    /// Plans a run of these settings: an iteration at full search, and the first fifty.
    ///
    /// # Errors
    /// [`SettingError`] if there can be no such network.
    pub fn new(config: &LearnerConfig, hardware: Hardware, assumptions: Assumptions) -> Result<Self, SettingError> {
        let parameter_count = NetworkSpec::new(&config.game, config.network)?.shape.parameter_count();
        let workload_at =
            |generation, iteration| Workload::of(config, &assumptions, (generation, iteration), parameter_count);
        let workload = workload_at(Generation::new(u32::MAX), u32::MAX);
        let plan = plan(&hardware, &workload, &assumptions);
        let start = run_start(START_ITERATIONS, &hardware, &assumptions, workload_at);
        Ok(Self { hardware, assumptions, workload, plan, start, notes: notes(&hardware, &workload, &plan) })
    }
}

/// Returns what the settings do not allow, or what could be spared.
fn notes(hardware: &Hardware, workload: &Workload, plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    let Hardware { actor_count, actor_cores, .. } = *hardware;
    if actor_count >= workload.connections_max {
        notes.push(format!(
            "{actor_count} actors and an evaluator need as many connections; server.connections_max is {}",
            workload.connections_max
        ));
    }
    let cores = f64::from(actor_count) * actor_cores;
    let games_per_core = f64::from(hardware.games_per_core);
    // Both to search that fast, and to play that many games.
    let enough = plan.actor_cores_needed.max(plan.games_in_flight / games_per_core).ceil();
    if cores > 2.0 * enough {
        notes.push(format!("{enough:.0} core(s) of actors are enough: of {cores:.0}, the others wait for games"));
    }
    if plan.limit == Limit::GamesInFlight {
        notes.push("more games a core (games_per_thread of the actor), or more actors, hide the round trip".to_owned());
    }
    if plan.calls_per_second > CALLS_MAX {
        let calls = plan.calls_per_second;
        notes.push(format!("actors that wait make {calls:.0} calls a second, more than a learner answers"));
    }
    notes
}

impl Limit {
    const fn text(self) -> &'static str {
        match self {
            Self::Devices => "the devices",
            Self::ActorCores => "the actors' cores",
            Self::GamesInFlight => "games in flight: too few for the round trip",
            Self::Bandwidth => "the learner's connection",
            Self::LearnerCores => "the learner's processor",
        }
    }
}

impl Display for PlanReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { plan, start, workload, .. } = self;
        let Rates { devices, actor_cores, games_in_flight, bandwidth, learner_cores } = plan.rates;
        let row = |f: &mut Formatter<'_>, name: &str, value: String| writeln!(f, "{name:<28}{value}");
        row(f, "evaluations/s", format!("{:.0}, limited by {}", plan.evaluations_per_second, plan.limit.text()))?;
        for (name, rate) in [
            ("  devices", devices),
            ("  actors' cores", actor_cores),
            ("  games in flight", games_in_flight),
            ("  learner's connection", bandwidth),
            ("  learner's processor", learner_cores),
        ] {
            row(f, name, format!("{rate:.0}"))?;
        }
        row(f, "actor cores needed", format!("{:.2} to search that fast", plan.actor_cores_needed))?;
        row(f, "games at once", format!("{:.0}", plan.games_in_flight))?;
        row(
            f,
            "network load",
            format!("{} to the learner, {} back", bits(plan.upload_bits), bits(plan.download_bits)),
        )?;
        writeln!(f, "\nat full search, {:.0} simulations a move", workload.self_play_simulations)?;
        row(f, "a game", time(plan.game_seconds))?;
        row(f, "a gate", time(plan.gate_seconds))?;
        row(f, "a training", time(plan.training_seconds))?;
        let in_turn = plan.training_seconds + plan.gate_seconds;
        let by = match (workload.is_overlapped, in_turn >= plan.iteration_seconds) {
            (true, true) => "training and gate, one after the other, take longest",
            (true, false) => "its evaluations take longest",
            (false, _) => "self-play, training and gate, one after the other",
        };
        row(f, "an iteration", format!("{}: {by}", time(plan.iteration_seconds)))?;
        row(f, "  evaluations needed", format!("{:.0}", plan.iteration_evaluations))?;
        row(f, "  disk", bytes(plan.iteration_disk_bytes))?;
        writeln!(f, "\nthe first {} iterations", start.iterations)?;
        row(f, "time", time(start.hours * 3600.0))?;
        row(f, "price", format!("{:.2}", start.price))?;
        row(f, "disk", bytes(start.disk_bytes))?;
        self.notes.iter().try_for_each(|note| write!(f, "\nnote: {note}"))?;
        if self.notes.is_empty() { Ok(()) } else { writeln!(f) }
    }
}

fn time(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.1}s");
    }
    humantime::format_duration(Duration::from_secs_f64(seconds.min(1e12).round())).to_string()
}

fn bits(per_second: f64) -> String {
    if per_second < 1e6 { format!("{:.0} kbit/s", per_second / 1e3) } else { format!("{:.1} Mbit/s", per_second / 1e6) }
}

fn bytes(count: f64) -> String {
    if count < 1e9 { format!("{:.1} MB", count / 1e6) } else { format!("{:.1} GB", count / 1e9) }
}
