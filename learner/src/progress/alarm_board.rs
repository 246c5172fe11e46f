//! Which alarms are on, since when, and why.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::mpsc::Sender;

/// What can be wrong with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlarmKind {
    /// Too many games of the last iteration were drawn.
    Draws,
    /// Too many were cut off at the ply limit.
    CutOff,
    /// Too many began alike.
    DistinctOpenings,
    /// Sides that would have resigned did not lose too often.
    FalseResignations,
    /// The last candidate's value is worse than the best network's on held-out games.
    ValueError,
    /// The last candidate won every game of its gate, or lost every one to a single worker.
    Gate,
    /// Games of the last gate did not count, since their moves are not those of a search.
    GateCheck,
    /// A network answers the same whatever it is asked.
    Answers,
    /// The promoted networks are weaker than network 1.
    Yardstick,
    /// No game has finished for long, though games are awaited.
    NoGames,
    /// A gate waits, and there has been no evaluator for long.
    NoEvaluator,
    /// A loss was not finite, and training went back to a checkpoint.
    LossNotFinite,
    /// The disk of the run directory is nearly full.
    Disk,
    /// A worker is of another version than the learner.
    WorkerVersion,
}

impl AlarmKind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Draws,
        Self::CutOff,
        Self::DistinctOpenings,
        Self::FalseResignations,
        Self::ValueError,
        Self::Gate,
        Self::GateCheck,
        Self::Answers,
        Self::Yardstick,
        Self::NoGames,
        Self::NoEvaluator,
        Self::LossNotFinite,
        Self::Disk,
        Self::WorkerVersion,
    ];

    /// Returns its name, as in the log, the status and the metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draws => "draws",
            Self::CutOff => "cut_off",
            Self::DistinctOpenings => "distinct_openings",
            Self::FalseResignations => "false_resignations",
            Self::ValueError => "value_error",
            Self::Gate => "gate",
            Self::GateCheck => "gate_check",
            Self::Answers => "answers",
            Self::Yardstick => "yardstick",
            Self::NoGames => "no_games",
            Self::NoEvaluator => "no_evaluator",
            Self::LossNotFinite => "loss_not_finite",
            Self::Disk => "disk",
            Self::WorkerVersion => "worker_version",
        }
    }
}

/// An alarm that is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Which.
    pub kind: AlarmKind,
    /// Since when.
    pub since: SystemTime,
    /// What is wrong and what to do, in words.
    pub text: String,
}

/// What setting an alarm did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlarmChange {
    /// It came on.
    On,
    /// It went off.
    Off,
    /// It was so already.
    None,
}

/// An alarm came on or went off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlarmEvent {
    /// Which.
    pub kind: AlarmKind,
    /// Whether it came on.
    pub is_on: bool,
    /// When.
    pub at: SystemTime,
    /// What is wrong, or was last, in words.
    pub text: String,
}

/// All alarms that are on. One that is judged once an iteration stays on until the next one is judged.
#[derive(Debug, Default)]
pub struct AlarmBoard(Mutex<Board>);

#[derive(Debug, Default)]
struct Board {
    on: BTreeMap<AlarmKind, Alarm>,
    /// Gets the changes.
    listener: Option<Sender<AlarmEvent>>,
    /// Changes that it did not get, since it had too many to deal with.
    dropped_count: u64,
}

impl Board {
    fn tell(&mut self, kind: AlarmKind, is_on: bool, text: &str) {
        let Some(listener) = &self.listener else { return };
        let event = AlarmEvent { kind, is_on, at: SystemTime::now(), text: text.to_owned() };
        self.dropped_count += u64::from(listener.try_send(event).is_err());
    }
}

impl AlarmBoard {
    /// Turns an alarm on, for the reason `text`, or off.
    pub fn set(&self, kind: AlarmKind, text: Option<String>) -> AlarmChange {
        let mut board = self.lock();
        let Some(text) = text else {
            let Some(alarm) = board.on.remove(&kind) else { return AlarmChange::None };
            board.tell(kind, false, &alarm.text);
            return AlarmChange::Off;
        };
        if let Some(alarm) = board.on.get_mut(&kind) {
            alarm.text = text;
            return AlarmChange::None;
        }
        board.tell(kind, true, &text);
        board.on.insert(kind, Alarm { kind, since: SystemTime::now(), text });
        AlarmChange::On
    }

    /// Sends `listener` each alarm that comes on or goes off from now on. Nobody waits for it: what it has no room for
    /// is dropped and counted.
    pub(crate) fn tell(&self, listener: Sender<AlarmEvent>) {
        self.lock().listener = Some(listener);
    }

    /// Returns how many changes were dropped since the last call.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped_count)
    }

    /// Lets the listener go.
    #[cfg(test)]
    pub(crate) fn tell_nobody(&self) {
        self.lock().listener = None;
    }

    /// Returns those that are on.
    #[must_use]
    pub fn on(&self) -> Vec<Alarm> {
        self.lock().on.values().cloned().collect()
    }

    /// Each change is whole: a panic elsewhere leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_on_until_it_is_turned_off_and_keeps_its_start() {
        let board = AlarmBoard::default();
        assert_eq!(board.set(AlarmKind::Disk, None), AlarmChange::None);
        assert_eq!(board.set(AlarmKind::Disk, Some("1 GiB".into())), AlarmChange::On);
        let since = board.on()[0].since;
        assert_eq!(board.set(AlarmKind::Disk, Some("0 GiB".into())), AlarmChange::None);
        assert_eq!(board.on(), [Alarm { kind: AlarmKind::Disk, since, text: "0 GiB".into() }]);
        assert_eq!(board.set(AlarmKind::Disk, None), AlarmChange::Off);
        assert_eq!(board.on(), []);
    }

    #[test]
    fn every_alarm_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = AlarmKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), AlarmKind::ALL.len());
    }
}
