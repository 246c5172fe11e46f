//! The observation as metrics, in Prometheus' text format 0.0.4.
//!
//! Everything is counted where it happens; metrics are made of the counts when Prometheus asks. Counters count since the
//! start of the process, as Prometheus expects, except those of the whole run, whose names say so.

use prometheus::{Counter, CounterVec, Encoder, Gauge, GaugeVec, Opts, Registry, TextEncoder};
use registry::{FinishedCounters, GameProgress};

use super::alarm_board::AlarmKind;
use super::run_observer::RunObservation;
use super::snapshot::{PhaseProgress, ProgressSnapshot};

/// Collects the metrics of one answer.
#[derive(Default)]
struct Families(Registry);

impl Families {
    fn gauge(&self, name: &str, help: &str, value: f64) -> prometheus::Result<()> {
        let gauge = Gauge::new(name, help)?;
        gauge.set(value);
        self.0.register(Box::new(gauge))
    }

    fn counter(&self, name: &str, help: &str, value: f64) -> prometheus::Result<()> {
        let counter = Counter::new(name, help)?;
        counter.inc_by(value);
        self.0.register(Box::new(counter))
    }

    fn gauges(&self, name: &str, help: &str, label: &str, values: &[(&str, f64)]) -> prometheus::Result<()> {
        let gauges = GaugeVec::new(Opts::new(name, help), &[label])?;
        for (label, value) in values {
            gauges.with_label_values(&[label]).set(*value);
        }
        self.0.register(Box::new(gauges))
    }

    fn counters(&self, name: &str, help: &str, label: &str, values: &[(&str, u64)]) -> prometheus::Result<()> {
        let counters = CounterVec::new(Opts::new(name, help), &[label])?;
        for (label, value) in values {
            counters.with_label_values(&[label]).inc_by(*value as f64);
        }
        self.0.register(Box::new(counters))
    }
}

impl RunObservation {
    /// Returns the metrics.
    ///
    /// # Errors
    /// [`prometheus::Error`] for a metric whose name is not valid or comes twice, which a test rules out.
    pub(crate) fn to_metrics(&self) -> prometheus::Result<String> {
        let families = Families::default();
        self.add_identity(&families)?;
        self.add_inference(&families)?;
        self.add_workers(&families)?;
        if let Some(progress) = self.progress.as_deref() {
            add_phase(&families, progress)?;
            add_games(&families, &self.games)?;
            add_learning(&families, progress)?;
            add_gate(&families, progress)?;
            self.add_costs(&families, progress)?;
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&families.0.gather(), &mut text)?;
        String::from_utf8(text).map_err(|error| prometheus::Error::Msg(error.to_string()))
    }

    fn add_identity(&self, families: &Families) -> prometheus::Result<()> {
        let help = "Always 1; the labels say what runs.";
        let info = GaugeVec::new(Opts::new("alveare_run_info", help), &["run_id", "game", "version"])?;
        info.with_label_values(&[&*self.identity.run_id, &*self.identity.game, env!("CARGO_PKG_VERSION")]).set(1.0);
        families.0.register(Box::new(info))?;
        let help = "Number of the best network, 0 for the first; rises with each promotion.";
        families.gauge("alveare_generation", help, f64::from(self.best.generation.get()))?;
        let is_on = |kind: AlarmKind| self.alarms.iter().any(|alarm| alarm.kind == kind);
        let alarms = AlarmKind::ALL.map(|kind| (kind.name(), f64::from(u8::from(is_on(kind)))));
        families.gauges("alveare_alarm", "1 while the alarm of this name is on.", "name", &alarms)?;
        self.add_backups(families)?;
        if let Some(bytes) = self.disk_free_bytes {
            families.gauge("alveare_disk_free_bytes", "Bytes free on the disk of the run directory.", bytes as f64)?;
        }
        if let Some(time) = self.disk_full_in {
            let help = "When that disk will be full at the rate of the last day; missing while it does not fill.";
            families.gauge("alveare_disk_full_seconds", help, time.as_secs_f64())?;
        }
        Ok(())
    }

    /// Backups, if this process has tried to make one.
    fn add_backups(&self, families: &Families) -> prometheus::Result<()> {
        for (counter, name, help) in [
            ("backup_count", "alveare_backups_total", "Backups made."),
            ("backup_failure_count", "alveare_failed_backups_total", "Backups that failed, each try on its own."),
        ] {
            if let Some(count) = self.counters.get(counter) {
                families.counter(name, help, *count as f64)?;
            }
        }
        let Some(age) = self.backup_age else { return Ok(()) };
        families.gauge("alveare_backup_age_seconds", "Age of the last backup.", age.as_secs_f64())
    }

    fn add_inference(&self, families: &Families) -> prometheus::Result<()> {
        let counts = &self.inference;
        families.counter("alveare_evaluations_total", "Leaves answered.", counts.evaluation_count as f64)?;
        let help = "Leaves answered by inference servers elsewhere, of all that were.";
        families.counter("alveare_remote_evaluations_total", help, counts.remote_evaluation_count as f64)?;
        let help = "Inference servers that are connected.";
        families.gauge("alveare_inference_servers", help, counts.remote_server_count as f64)?;
        families.counter("alveare_batches_total", "Batches evaluated.", counts.batch_count as f64)?;
        let help = "Batches of workers that were refused.";
        families.counter("alveare_refused_batches_total", help, counts.refused_batch_count as f64)?;
        let help = "Leaves whose priors became uniform, since those of the network could not be used.";
        families.counter("alveare_uniform_priors_total", help, counts.uniform_prior_count as f64)?;
        let help = "Time from question to answer in the learner, summed over the leaves of self-play; its rate is the number \
                    of leaves that wait on average.";
        families.counter("alveare_self_play_leaf_seconds_total", help, counts.self_play_wait_us as f64 / 1e6)?;
        let waiting = self.waiting_leaves;
        let waiting = [("self_play", waiting.self_play as f64), ("gate", waiting.gate as f64)];
        let help = "Leaves that wait for their evaluation or are being evaluated.";
        families.gauges("alveare_waiting_leaves", help, "kind", &waiting)?;
        let help = "Leaves computed: those answered, and what batches were padded with.";
        families.counter("alveare_computed_leaves_total", help, counts.computed_leaf_count as f64)?;
        let help =
            "Time in which the device computed at least one batch; its rate is the share of the time that it is busy.";
        families.counter("alveare_device_busy_seconds_total", help, counts.device_busy_us as f64 / 1e6)?;
        families.0.register(Box::new(self.batch_times.clone()))
    }

    fn add_workers(&self, families: &Families) -> prometheus::Result<()> {
        let workers = [("actor", f64::from(self.actor_count)), ("evaluator", f64::from(self.evaluator_count))];
        families.gauges("alveare_workers", "Workers that gave a sign of life lately.", "kind", &workers)?;
        let help = "Calls without the token.";
        families.counter("alveare_refused_calls_total", help, self.refused_call_count as f64)
    }

    fn add_costs(&self, families: &Families, progress: &ProgressSnapshot) -> prometheus::Result<()> {
        let totals = &progress.totals;
        let help = "Time that learners were at work on the run, restarts included.";
        families.counter("alveare_run_seconds_total", help, totals.work_time.as_secs_f64())?;
        if let Some(cost) = totals.cost {
            let help = "Floating-point operations of evaluations and training since the run began, restarts included.";
            families.counter("alveare_run_flop_total", help, cost.flop)?;
            let help = "Samples learned from since the run began, restarts included.";
            families.counter("alveare_run_training_samples_total", help, cost.training_sample_count as f64)?;
        }
        if let Some(money) = self.money() {
            let help = "What the run has cost so far, in the currency of run.hourly_price.";
            families.gauge("alveare_run_cost", help, money)?;
        }
        Ok(())
    }
}

fn add_phase(families: &Families, progress: &ProgressSnapshot) -> prometheus::Result<()> {
    families.gauge("alveare_iteration", "Number of the iteration, from 1.", f64::from(progress.iteration))?;
    let phases = PhaseProgress::NAMES.map(|name| (name, f64::from(u8::from(name == progress.phase.name()))));
    families.gauges("alveare_phase", "1 for the phase that the iteration is in.", "phase", &phases)?;
    let share = progress.phase.done() as f64 / progress.phase.total().max(1) as f64;
    let help = "Games or steps of the phase that are done, as a share of those that make it.";
    families.gauge("alveare_phase_done_ratio", help, share)?;
    if let Some(time) = progress.time_to_go {
        let help = "How long the phase will take at its rate so far.";
        families.gauge("alveare_phase_remaining_seconds", help, time.as_secs_f64())?;
    }
    let help = "Leaves a batch over the last ten seconds, as a share of the most that fit.";
    families.gauge("alveare_batch_fill_ratio", help, progress.rates.batch_fill)
}

fn add_games(families: &Families, games: &GameProgress) -> prometheus::Result<()> {
    let counters = &games.counters;
    let by_kind = |count: fn(&FinishedCounters) -> u64| {
        [("self_play", count(&counters.self_play)), ("gate", count(&counters.gate))]
    };
    let finished = by_kind(|counters| counters.game_count);
    families.counters("alveare_games_total", "Games that finished.", "kind", &finished)?;
    let plies = by_kind(|counters| counters.ply_count);
    families.counters("alveare_plies_total", "Plies of the games that finished.", "kind", &plies)?;
    let draws = by_kind(|counters| counters.draw_count);
    let help = "Games that nobody won, those cut off included.";
    families.counters("alveare_draws_total", help, "kind", &draws)?;
    let cut_off = by_kind(|counters| counters.cut_off_count);
    families.counters("alveare_cut_off_games_total", "Games that ended at the ply limit.", "kind", &cut_off)?;
    let own = &counters.self_play;
    for (name, help, count) in [
        ("alveare_resigned_games_total", "Self-play games that a side resigned.", own.resigned_count),
        ("alveare_played_on_games_total", "Games played on though a side would have resigned.", own.played_on_count),
        ("alveare_false_resignations_total", "Those of them that the side did not lose.", own.false_resignation_count),
    ] {
        families.counter(name, help, count as f64)?;
    }
    let open = [("self_play", games.open_self_play_count as f64), ("gate", games.open_gate_count as f64)];
    families.gauges("alveare_open_games", "Games that go on.", "kind", &open)?;
    let help = "Self-play games that workers hold.";
    families.gauge("alveare_held_self_play_games", help, games.held_self_play_count as f64)?;
    let help = "Self-play games that workers may hold: more than are held is a wish for more actors.";
    families.gauge("alveare_allowed_self_play_games", help, games.allowed_self_play_count as f64)?;
    for (name, help, count) in [
        ("alveare_refused_plies_total", "Plies that the rules refused.", counters.refused_ply_count),
        ("alveare_expired_leases_total", "Leases that ran out.", counters.expired_lease_count),
        ("alveare_quarantined_games_total", "Games put into quarantine.", counters.quarantined_game_count),
        ("alveare_failed_writes_total", "Reports that could not be stored.", counters.failed_write_count),
    ] {
        families.counter(name, help, count as f64)?;
    }
    Ok(())
}

fn add_learning(families: &Families, progress: &ProgressSnapshot) -> prometheus::Result<()> {
    let help = "Positions that can be sampled.";
    families.gauge("alveare_replay_positions", help, progress.position_count as f64)?;
    families.gauge("alveare_training_step", "Training steps so far.", progress.training_step as f64)?;
    if let Some(uses) = progress.totals.uses_per_position() {
        let help = "How often a position of self-play was learned from on average.";
        families.gauge("alveare_position_uses", help, uses)?;
    }
    let Some(losses) = &progress.losses else { return Ok(()) };
    for (name, help, value) in [
        ("alveare_policy_loss", "Cross-entropy of the policy in nats, mean over seconds.", losses.means.policy_loss),
        ("alveare_value_loss", "Squared error of the value, mean over seconds.", losses.means.value_loss),
        ("alveare_policy_accuracy_ratio", "Share of likeliest moves that agree.", losses.means.policy_accuracy),
        ("alveare_gradient_norm", "Length of the gradient before shortening.", losses.means.gradient_norm),
        ("alveare_learning_rate", "Learning rate of the last step.", losses.learning_rate),
    ] {
        families.gauge(name, help, value)?;
    }
    Ok(())
}

fn add_gate(families: &Families, progress: &ProgressSnapshot) -> prometheus::Result<()> {
    let Some(gate) = &progress.gate else { return Ok(()) };
    let score = gate.score;
    let help = "Points of the candidate in the gate under way, or the last one, as a share of its games.";
    families.gauge("alveare_gate_score_ratio", help, score.score())?;
    let games =
        [("win", score.wins), ("draw", score.draws), ("loss", score.losses)].map(|(name, n)| (name, f64::from(n)));
    let help = "Games of the gate under way, or the last one, by what the candidate made of them.";
    families.gauges("alveare_gate_games", help, "result", &games)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::run_observer::tests::observation;

    const DASHBOARD: &str = include_str!("../../../deploy/monitoring/grafana/dashboards/alveare.json");
    const RULES: &str = include_str!("../../../deploy/monitoring/prometheus.yml");

    /// Returns the names of the samples in a metrics text.
    fn sample_names(text: &str) -> BTreeSet<String> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        samples.filter_map(|line| line.split(['{', ' ']).next().map(str::to_owned)).collect()
    }

    /// Returns everything in a text that looks like one of our metrics.
    fn metrics_named_in(text: &str) -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        words.filter(|word| word.starts_with("alveare_")).map(str::to_owned).collect()
    }

    /// Returns the queries of all panels.
    fn queries(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(map) => {
                found.extend(map.get("expr").and_then(|expr| expr.as_str()).map(str::to_owned));
                map.values().for_each(|value| queries(value, found));
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| queries(value, found)),
            _ => {}
        }
    }

    #[test]
    fn metrics_are_in_prometheus_text_format() {
        let text = observation().to_metrics().expect("valid names");
        for line in [
            "# TYPE alveare_evaluations_total counter",
            "alveare_evaluations_total 1000",
            "alveare_games_total{kind=\"self_play\"} 90",
            "alveare_resigned_games_total 40",
            "alveare_played_on_games_total 5",
            "alveare_false_resignations_total 1",
            "alveare_alarm{name=\"disk\"} 1",
            "alveare_backup_age_seconds 40",
            "alveare_disk_full_seconds 1036800",
            "alveare_backups_total 3",
            "alveare_computed_leaves_total 1100",
            "alveare_alarm{name=\"draws\"} 0",
            "alveare_gate_score_ratio 0.6",
            "alveare_phase{phase=\"gate\"} 1",
            "alveare_phase{phase=\"training\"} 0",
            "alveare_position_uses 4",
            "alveare_run_cost 1",
            "alveare_run_seconds_total 7200",
            "alveare_workers{kind=\"evaluator\"} 1",
            "alveare_waiting_leaves{kind=\"self_play\"} 64",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(text.contains("alveare_device_seconds_bucket{le=\"+Inf\"} 0"), "{text}");
    }

    #[test]
    fn before_the_pipeline_has_spoken_there_are_fewer_metrics() {
        let mut observation = observation();
        observation.progress = None;
        let names = sample_names(&observation.to_metrics().expect("valid names"));
        assert!(names.contains("alveare_generation") && !names.contains("alveare_iteration"));
    }

    #[test]
    fn without_a_price_there_is_no_cost() {
        let mut observation = observation();
        observation.identity.hourly_price = 0.0;
        assert!(!observation.to_metrics().expect("valid names").contains("alveare_run_cost "));
    }

    #[test]
    fn every_query_of_the_dashboard_asks_for_metrics_that_there_are() {
        let written = sample_names(&observation().to_metrics().expect("valid names"));
        let mut asked = Vec::new();
        queries(&serde_json::from_str(DASHBOARD).expect("the dashboard is JSON"), &mut asked);
        assert!(asked.len() >= 12, "{} queries", asked.len());
        for query in &asked {
            let named = metrics_named_in(query);
            assert!(!named.is_empty(), "{query} asks for no metric");
            for name in named {
                assert!(written.contains(&name), "{query}: {name} is not written");
            }
        }
        assert!(RULES.contains("job_name: alveare"));
    }
}
