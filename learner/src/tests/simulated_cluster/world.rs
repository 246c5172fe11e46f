//! The world of one seed: its clock, its queue of events, and what is known of all that happens in it. One thread: whatever
//! waits lets the next events happen.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Value;
use shared::game::tictactoe::{Position, Square};
use shared::ids::NetworkId;
use shared::search::EvaluationError;
use store::simulated::OtherThreads;
use tokio_util::sync::CancellationToken;

use super::calls::{Call, CallUnderWay, Reply};
use super::checked_gate::CheckedGate;
use super::counts::Counts;
use super::disk::{Disk, Full};
use super::ledger::Ledger;
use super::life::{DISK, Life};
use super::plan::Plan;
use super::promises::Promises;
use super::referee::{Referee, evaluate};
use super::trace::Trace;
use super::trainer::TrainingRecord;
use super::worker::Worker;
use crate::gate_check::GateCheckError;
use crate::gate_check::simulated::SimulatedNetworks;

/// How long the rest may take once nothing goes wrong any more, in simulated time.
const PATIENCE: Duration = Duration::from_secs(240);
/// How often nature is asked whether something goes wrong.
const NATURE_INTERVAL: Duration = Duration::from_millis(500);
/// Iterations that end once nothing goes wrong any more.
const CALM_ITERATIONS: u32 = 1;

/// What happens at one moment.
#[derive(Debug)]
pub(super) enum Event {
    /// A worker has time for something.
    Act { worker: usize, incarnation: u32 },
    /// A call reaches the learner.
    Arrive(Call),
    /// A reply reaches a worker.
    Return(Reply),
    /// The disk writes what is queued.
    Write,
    /// A call goes on after the wait for the disk.
    End { call: u64 },
    /// The training thread does something.
    Train,
    /// A worker can be reached again.
    Reconnect { worker: usize },
    /// There is room on the disk again.
    MakeRoom,
    /// Something may go wrong.
    Nature,
}

/// Everything but the learner itself.
pub(super) struct Core {
    pub(super) random: Pcg64,
    pub(super) now: Instant,
    start: Instant,
    queue: BTreeMap<(Instant, u64), Event>,
    event_count: u64,
    pub(super) trace: Trace,
    pub(super) counts: Counts,
    pub(super) workers: Vec<Worker>,
    pub(super) calls: BTreeMap<u64, CallUnderWay>,
    pub(super) ledger: Ledger,
    pub(super) promises: Promises,
    pub(super) checked_gate: CheckedGate,
    pub(super) training: TrainingRecord,
    /// Whether the learner was killed and has not yet noticed.
    pub(super) is_killed: bool,
    /// Whether the learner was asked to stop.
    pub(super) is_stopping: bool,
    /// The last iteration when faults ended, and when that was.
    calm_since: Option<(u32, Instant)>,
    pub(super) is_done: bool,
}

impl Core {
    /// Lets an event happen after some time.
    pub(super) fn schedule(&mut self, after: Duration, event: Event) {
        self.event_count += 1;
        self.queue.insert((self.now + after, self.event_count), event);
    }

    /// Draws a time up to so many milliseconds.
    pub(super) fn draw_ms(&mut self, most: u64) -> Duration {
        Duration::from_micros(self.random.random_range(1..=most * 1000))
    }

    /// Draws whether something of this probability happens; never in the calm at the end.
    pub(super) fn goes_wrong(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.calm_since.is_none() && self.random.random_bool(probability)
    }

    /// Notes what happens.
    pub(super) fn note(&mut self, what: fmt::Arguments<'_>) {
        let at = self.now.duration_since(self.start);
        self.trace.note(at, what);
    }

    /// Returns whether faults are over.
    pub(super) const fn is_calm(&self) -> bool {
        self.calm_since.is_some()
    }

    /// Removes the calls and events of a learner that is gone.
    pub(super) fn forget_learner(&mut self) {
        self.calls.clear();
        self.queue.retain(|_, event| !matches!(event, Event::Write | Event::End { .. } | Event::Train));
    }
}

/// A simulated cluster.
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) referee: Arc<Referee>,
    core: Mutex<Core>,
    pub(super) disk: Mutex<Disk>,
    pub(super) life: Mutex<Option<Arc<Life>>>,
    /// Stops the learner, also one that is not yet up.
    pub(super) stop: Mutex<CancellationToken>,
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "World({})", self.plan.seed)
    }
}

impl World {
    /// Makes the world of a plan; its learner's files lie in `folder`.
    pub(super) fn new(plan: Plan, folder: &Path, prints: bool) -> Arc<Self> {
        let start = Instant::now();
        let mut core = Core {
            random: Pcg64::seed_from_u64(plan.seed),
            now: start,
            start,
            queue: BTreeMap::new(),
            event_count: 0,
            trace: Trace::new(prints),
            counts: Counts::default(),
            workers: Vec::new(),
            calls: BTreeMap::new(),
            ledger: Ledger::default(),
            promises: Promises::default(),
            checked_gate: CheckedGate::default(),
            training: TrainingRecord::default(),
            is_killed: false,
            is_stopping: false,
            calm_since: None,
            is_done: false,
        };
        for index in 0..plan.workers.len() {
            core.workers.push(Worker::new(index, &plan));
            core.schedule(Duration::from_millis(index as u64), Event::Act { worker: index, incarnation: 0 });
        }
        core.schedule(NATURE_INTERVAL, Event::Nature);
        let disk = Mutex::new(Disk::new(folder));
        let referee = Arc::new(Referee::new(plan.settings.gate.search.clone()));
        let (core, stop) = (Mutex::new(core), Mutex::default());
        Arc::new(Self { plan, referee, core, disk, life: Mutex::new(None), stop })
    }

    /// Runs until the calm at the end is over. Returns what happened.
    ///
    /// # Panics
    /// If an invariant is broken.
    pub(super) fn run(self: &Arc<Self>) -> (Counts, u64) {
        while !self.core().is_done {
            self.live();
            let down = self.core().draw_ms(2000);
            let until = self.now() + down;
            while self.now() < until {
                self.go_on(until);
            }
        }
        let core = self.core();
        core.promises.check(&core.ledger).unwrap_or_else(|lost| panic!("at the end: {lost}"));
        self.check_disk(&core.ledger);
        let mut counts = core.counts;
        counts.finish(&core.ledger);
        (counts, core.trace.hash())
    }

    /// Prints what happened last.
    pub(super) fn print_end(&self) {
        self.core.lock().unwrap_or_else(PoisonError::into_inner).trace.print_end();
    }

    /// Returns all but the learner. Nothing of the learner may be called while it is held.
    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.try_lock().expect("nothing of the learner is called while the core is held")
    }

    /// Returns the learner, if it is up.
    pub(super) fn life(&self) -> Option<Arc<Life>> {
        self.life.lock().expect("whole").clone().filter(|_| !self.core().is_killed)
    }

    fn handle(&self, event: Event) {
        match event {
            Event::Act { worker, incarnation } => self.act(worker, incarnation),
            Event::Arrive(call) => self.arrive(call),
            Event::Return(reply) => self.take_reply(reply),
            Event::Write => self.write_some(),
            Event::End { call } => self.end_call(call),
            Event::Train => self.train(),
            Event::Reconnect { worker } => self.core().workers[worker].is_cut_off = false,
            Event::MakeRoom => self.set_full(Full::default()),
            Event::Nature => self.nature(),
        }
    }

    /// Lets things go wrong by themselves, until the calm.
    fn nature(&self) {
        let mut core = self.core();
        core.schedule(NATURE_INTERVAL, Event::Nature);
        let is_over = core.now.duration_since(core.start) >= self.plan.chaos;
        if core.calm_since.is_none() && is_over {
            drop(core);
            return self.calm();
        }
        let faults = &self.plan.faults;
        if core.goes_wrong(faults.partition) {
            let worker = core.random.random_range(0..self.plan.workers.len());
            core.workers[worker].is_cut_off = true;
            core.counts.partitions += 1;
            core.note(format_args!("worker {worker} is cut off"));
            let time = core.draw_ms(8000);
            core.schedule(time, Event::Reconnect { worker });
        }
        if core.goes_wrong(faults.worker_death) {
            let worker = core.random.random_range(0..self.plan.workers.len());
            core.counts.worker_deaths += 1;
            core.note(format_args!("worker {worker} dies"));
            let incarnation = core.workers[worker].die();
            let time = core.draw_ms(3000);
            core.schedule(time, Event::Act { worker, incarnation });
        }
        let full = if core.goes_wrong(faults.full) { Full::draw(&mut core.random) } else { Full::default() };
        if full != Full::default() {
            core.counts.full_disks += 1;
            let time = core.draw_ms(6000);
            core.schedule(time, Event::MakeRoom);
        }
        drop(core);
        if full != Full::default() {
            self.set_full(full);
        }
        self.thin();
    }

    /// From now on nothing goes wrong any more.
    fn calm(&self) {
        self.set_full(Full::default());
        let mut core = self.core();
        core.note(format_args!("calm"));
        core.workers.iter_mut().for_each(|worker| worker.is_cut_off = false);
        let last = core.ledger.iterations.keys().next_back().copied().unwrap_or(0);
        core.calm_since = Some((last, core.now));
    }

    /// Ends the world once the run has gone on; it must do so in time.
    fn look_at_progress(&self) {
        let mut core = self.core();
        let Some((before, since)) = core.calm_since.filter(|_| !core.is_done) else { return };
        let is_over = |number: &u32| core.ledger.iterations.get(number).is_some_and(|it| it.state.is_finished());
        if (before..=before + CALM_ITERATIONS).all(|number| is_over(&number.max(1))) {
            (core.is_done, core.is_stopping) = (true, true);
            core.note(format_args!("done"));
            drop(core);
            if let Some(life) = self.life() {
                let words = life.words_for_wait();
                assert!(!words.starts_with(DISK), "the disk is well, and is waited for: {words:?}");
                life.stop.cancel();
            }
        } else if core.now.duration_since(since) > PATIENCE {
            let waits: Vec<String> = core.workers.iter().map(Worker::describe).collect();
            let iterations = core.ledger.iterations.last_key_value();
            panic!("waits without a cause for {PATIENCE:?}: {iterations:?}, workers {waits:#?}");
        }
    }
}

impl SimulatedNetworks<TicTacToeEncoding> for World {
    fn begin_check(&self, candidate_id: NetworkId) -> u64 {
        let mut core = self.core();
        let Core { checked_gate, ledger, random, counts, .. } = &mut *core;
        let refuted = checked_gate.begin(candidate_id, ledger, &self.referee);
        counts.gate_checks += 1;
        counts.refuted_names += (refuted.alone.len() + refuted.together.len()) as u64;
        let is_honest = |worker_id: &&String| self.plan.workers[Worker::index_of(worker_id)].forgery.is_none();
        let honest = refuted.alone.iter().find(is_honest);
        assert!(honest.is_none(), "{honest:?} searches, and is refuted");
        let (note, seed) = (format!("check of the gate of {candidate_id}: {refuted:?}"), random.random());
        core.note(format_args!("{note}"));
        seed
    }

    fn evaluate(&self, network_id: NetworkId, position: &Position, moves: &[Square]) -> (Vec<f32>, Value) {
        evaluate(network_id.get(), position, moves)
    }

    fn await_answer(&self) -> Result<(), GateCheckError> {
        let (time, fails) = {
            let mut core = self.core();
            (core.draw_ms(20), core.goes_wrong(self.plan.faults.no_answer))
        };
        let until = self.now() + time;
        while self.now() < until {
            self.go_on(until);
        }
        let is_stopped = self.stop.lock().expect("whole").is_cancelled();
        match (is_stopped, fails) {
            (true, _) => Err(GateCheckError::Stopping),
            (false, true) => Err(EvaluationError::Disconnected("simulated".into()).into()),
            (false, false) => Ok(()),
        }
    }
}

impl OtherThreads for World {
    fn now(&self) -> Instant {
        self.core().now
    }

    fn go_on(&self, deadline: Instant) {
        let mut core = self.core();
        let next = core.queue.first_key_value().map(|((at, _), _)| *at).filter(|at| *at < deadline);
        let Some((_, event)) = next.and_then(|_| core.queue.pop_first()) else {
            core.now = deadline;
            return;
        };
        core.now = next.unwrap_or(deadline);
        core.counts.events += 1;
        let is_up = !core.is_killed;
        let (kills, stops) = (core.goes_wrong(self.plan.faults.kill), core.goes_wrong(self.plan.faults.stop));
        drop(core);
        if is_up && self.life().is_some() {
            if kills {
                self.kill("between two events");
            } else if stops && let Some(life) = self.life() {
                let mut core = self.core();
                core.counts.stops += 1;
                core.is_stopping = true;
                core.note(format_args!("the learner is asked to stop"));
                drop(core);
                life.stop.cancel();
            }
        }
        self.handle(event);
        self.check_life();
        self.look_at_progress();
    }

    fn write(&self) {
        self.write_all();
    }

    fn end_calls(&self) {
        self.end_all_calls();
    }
}
