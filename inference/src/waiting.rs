//! Which waiting batches are evaluated together, and in which order. Pure: no clock, no thread.
//!
//! Leaves of gates go before those of self-play, which keep a share; within each kind the workers take turns, however many
//! streams they have, so that none crowds out the others.

use std::collections::{BTreeMap, VecDeque};

use shared::ids::{NetworkId, NetworkRef};

use crate::best::BestNetwork;

/// Batches led by gate leaves in a row while leaves of self-play wait: one batch in four stays self-play's.
const GATE_BATCHES_IN_A_ROW: u32 = 3;

/// Number of a worker that has streams, never used twice.
pub(super) type WorkerNumber = u64;

/// An evaluation stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamId {
    /// Whose it is.
    pub(super) worker: WorkerNumber,
    /// Never used twice.
    pub(super) number: u64,
}

/// What leaves are evaluated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafClass {
    /// Games of a gate.
    Gate,
    /// Self-play.
    SelfPlay,
}

impl LeafClass {
    /// Returns 0 or 1.
    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Returns what leaves for this network are for: self-play asks the best network, gates name theirs by number.
    pub(super) fn of(network: NetworkRef, best: &BestNetwork) -> Self {
        match network {
            NetworkRef::Id(network_id) if best.is_of_gate(network_id) => Self::Gate,
            NetworkRef::Best | NetworkRef::Id(_) => Self::SelfPlay,
        }
    }
}

/// A batch of leaves that waits.
#[derive(Debug)]
pub(super) struct WaitingBatch<J> {
    pub(super) class: LeafClass,
    pub(super) network: NetworkRef,
    pub(super) leaf_count: usize,
    pub(super) job: J,
}

/// All batches that wait.
#[derive(Debug)]
pub(super) struct Waiting<J> {
    gate: Turns<J>,
    self_play: Turns<J>,
    gate_batches_in_a_row: u32,
}

impl<J> Default for Waiting<J> {
    fn default() -> Self {
        Self { gate: Turns::default(), self_play: Turns::default(), gate_batches_in_a_row: 0 }
    }
}

impl<J> Waiting<J> {
    /// Returns whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.gate.is_empty() && self.self_play.is_empty()
    }

    /// Adds a batch of a stream.
    pub(super) fn push(&mut self, stream: StreamId, batch: WaitingBatch<J>) {
        let turns = match batch.class {
            LeafClass::Gate => &mut self.gate,
            LeafClass::SelfPlay => &mut self.self_play,
        };
        turns.push(stream, batch);
    }

    /// Drops all batches of a stream. Returns how many leaves of each class they had.
    pub(super) fn remove_stream(&mut self, stream: StreamId) -> [(LeafClass, usize); 2] {
        let (gate, self_play) = (self.gate.remove_stream(stream), self.self_play.remove_stream(stream));
        [(LeafClass::Gate, gate), (LeafClass::SelfPlay, self_play)]
    }

    /// Takes one batch, of the stream whose turn it is, if there is one of a class that is wanted; of gates first.
    pub(super) fn take_one(&mut self, is_wanted: impl Fn(LeafClass) -> bool) -> Option<(StreamId, WaitingBatch<J>)> {
        let gate = if is_wanted(LeafClass::Gate) { self.gate.take_one() } else { None };
        gate.or_else(|| if is_wanted(LeafClass::SelfPlay) { self.self_play.take_one() } else { None })
    }

    /// Moves batches for one network to `jobs`, at most `leaf_limit` leaves together; the first fits always. Returns
    /// the network, given which one is the best; `None` if nothing waits.
    pub(super) fn take(&mut self, best: NetworkId, leaf_limit: usize, jobs: &mut Vec<J>) -> Option<NetworkId> {
        let is_gate_turn =
            !self.gate.is_empty() && (self.self_play.is_empty() || self.gate_batches_in_a_row < GATE_BATCHES_IN_A_ROW);
        let Self { gate, self_play, .. } = self;
        let (first, second) = if is_gate_turn { (gate, self_play) } else { (self_play, gate) };
        let network = first.next_network()?.resolve(best);
        let mut open = OpenBatch { network, best, leaf_count: 0, leaf_limit, jobs };
        first.fill(&mut open);
        let first_count = open.jobs.len();
        second.fill(&mut open);
        let is_shared = open.jobs.len() > first_count;
        self.gate_batches_in_a_row = if is_gate_turn && !is_shared { self.gate_batches_in_a_row + 1 } else { 0 };
        Some(network)
    }
}

/// A batch of several streams that is being filled.
struct OpenBatch<'a, J> {
    network: NetworkId,
    best: NetworkId,
    leaf_count: usize,
    leaf_limit: usize,
    jobs: &'a mut Vec<J>,
}

impl<J> OpenBatch<'_, J> {
    fn takes(&self, batch: &WaitingBatch<J>) -> bool {
        let fits = self.jobs.is_empty() || self.leaf_count + batch.leaf_count <= self.leaf_limit;
        fits && batch.network.resolve(self.best) == self.network
    }
}

/// A batch, and the number of the stream that it came on.
type OfStream<J> = (u64, WaitingBatch<J>);

/// Batches of one class: the workers that have some take turns, one batch a turn.
#[derive(Debug)]
struct Turns<J> {
    batches: BTreeMap<WorkerNumber, VecDeque<OfStream<J>>>,
    /// The workers of `batches`, the one whose turn it is first.
    order: VecDeque<WorkerNumber>,
}

impl<J> Default for Turns<J> {
    fn default() -> Self {
        Self { batches: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<J> Turns<J> {
    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn push(&mut self, stream: StreamId, batch: WaitingBatch<J>) {
        let batches = self.batches.entry(stream.worker).or_default();
        if batches.is_empty() {
            self.order.push_back(stream.worker);
        }
        batches.push_back((stream.number, batch));
    }

    /// Returns how many leaves are gone.
    fn remove_stream(&mut self, stream: StreamId) -> usize {
        let Some(batches) = self.batches.get_mut(&stream.worker) else { return 0 };
        let mut leaf_count = 0;
        batches.retain(|(number, batch)| {
            let is_of_stream = *number == stream.number;
            leaf_count += if is_of_stream { batch.leaf_count } else { 0 };
            !is_of_stream
        });
        if batches.is_empty() {
            self.batches.remove(&stream.worker);
            self.order.retain(|other| *other != stream.worker);
        }
        leaf_count
    }

    fn take_one(&mut self) -> Option<(StreamId, WaitingBatch<J>)> {
        let worker = self.order.pop_front()?;
        let batches = self.batches.get_mut(&worker)?;
        let (number, batch) = batches.pop_front()?;
        if batches.is_empty() {
            self.batches.remove(&worker);
        } else {
            self.order.push_back(worker);
        }
        Some((StreamId { worker, number }, batch))
    }

    fn next_network(&self) -> Option<NetworkRef> {
        let batches = self.batches.get(self.order.front()?)?;
        batches.front().map(|(_, batch)| batch.network)
    }

    /// Gives the workers their turns until none has a batch that fits.
    fn fill(&mut self, open: &mut OpenBatch<'_, J>) {
        while self.give_turns(open) {}
    }

    /// Takes at most one batch of each worker; those that gave one go to the end. Returns whether any did.
    fn give_turns(&mut self, open: &mut OpenBatch<'_, J>) -> bool {
        let (mut served, mut left) = (VecDeque::new(), VecDeque::with_capacity(self.order.len()));
        let mut has_taken = false;
        for worker in self.order.drain(..) {
            let Some(batches) = self.batches.get_mut(&worker) else { continue };
            let taken = batches.iter().position(|(_, batch)| open.takes(batch)).and_then(|index| batches.remove(index));
            let Some((_, batch)) = taken else {
                left.push_back(worker);
                continue;
            };
            has_taken = true;
            open.leaf_count += batch.leaf_count;
            open.jobs.push(batch.job);
            if batches.is_empty() {
                self.batches.remove(&worker);
            } else {
                served.push_back(worker);
            }
        }
        left.append(&mut served);
        self.order = left;
        has_taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEST: NetworkId = NetworkId::FIRST;
    const CANDIDATE: NetworkId = BEST.next();

    type Batches = Waiting<(WorkerNumber, usize)>;

    /// Adds a batch that is known by its worker and the number of its leaves, on the worker's only stream.
    fn push(waiting: &mut Batches, worker: WorkerNumber, network: NetworkRef, leaf_count: usize) {
        push_on(waiting, StreamId { worker, number: worker }, network, leaf_count);
    }

    /// As [`push`], on a stream of several; a network with a number is a gate's.
    fn push_on(waiting: &mut Batches, stream: StreamId, network: NetworkRef, leaf_count: usize) {
        let class = if network == NetworkRef::Best { LeafClass::SelfPlay } else { LeafClass::Gate };
        waiting.push(stream, WaitingBatch { class, network, leaf_count, job: (stream.worker, leaf_count) });
    }

    #[test]
    fn the_streams_of_a_worker_share_its_turn() {
        let mut waiting = Waiting::default();
        for number in 1..=6 {
            push_on(&mut waiting, StreamId { worker: 1, number }, NetworkRef::Best, 10);
        }
        push(&mut waiting, 2, NetworkRef::Best, 10);
        let workers: Vec<WorkerNumber> = take_all(&mut waiting).iter().map(|(_, jobs)| jobs[0].0).collect();
        assert_eq!(workers, [1, 2, 1, 1, 1, 1, 1]);
    }

    /// Takes everything, in batches of at most ten leaves.
    fn take_all(waiting: &mut Batches) -> Vec<(NetworkId, Vec<(WorkerNumber, usize)>)> {
        let take = |jobs: &mut Vec<_>| waiting.take(BEST, 10, jobs);
        let mut take = take;
        std::iter::from_fn(|| {
            let mut jobs = Vec::new();
            take(&mut jobs).map(|network| (network, jobs))
        })
        .collect()
    }

    #[test]
    fn a_batch_is_of_one_network_and_no_larger_than_allowed() {
        let mut waiting = Waiting::default();
        let (one, two) = (BEST.into(), CANDIDATE.into());
        for (network, leaf_count) in [(one, 4), (two, 3), (one, 5), (one, 2), (one, 20)] {
            push(&mut waiting, 7, network, leaf_count);
        }
        let expected =
            [(BEST, vec![(7, 4), (7, 5)]), (CANDIDATE, vec![(7, 3)]), (BEST, vec![(7, 2)]), (BEST, vec![(7, 20)])];
        assert_eq!(take_all(&mut waiting), expected);
        assert!(waiting.is_empty());
    }

    #[test]
    fn gate_leaves_go_first_and_self_play_keeps_one_batch_in_four() {
        let mut waiting = Waiting::default();
        for _ in 0..3 {
            push(&mut waiting, 1, NetworkRef::Best, 10);
        }
        for _ in 0..8 {
            push(&mut waiting, 2, CANDIDATE.into(), 10);
        }
        let workers: Vec<WorkerNumber> = take_all(&mut waiting).iter().map(|(_, jobs)| jobs[0].0).collect();
        assert_eq!(workers, [2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 1]);
    }

    #[test]
    fn leaves_for_the_best_network_share_a_batch_however_it_is_named() {
        let mut waiting = Waiting::default();
        push(&mut waiting, 1, NetworkRef::Best, 4);
        push(&mut waiting, 2, BEST.into(), 3);
        push(&mut waiting, 1, NetworkRef::Best, 3);
        assert_eq!(take_all(&mut waiting), [(BEST, vec![(2, 3), (1, 4), (1, 3)])]);
    }

    #[test]
    fn workers_take_turns_however_much_one_of_them_sends() {
        let mut waiting = Waiting::default();
        for _ in 0..6 {
            push(&mut waiting, 1, NetworkRef::Best, 5);
        }
        for stream in [2, 3] {
            push(&mut waiting, stream, NetworkRef::Best, 5);
        }
        let batches: Vec<Vec<WorkerNumber>> =
            take_all(&mut waiting).into_iter().map(|(_, jobs)| jobs.iter().map(|job| job.0).collect()).collect();
        assert_eq!(batches, [vec![1, 2], vec![3, 1], vec![1, 1], vec![1, 1]]);
    }

    #[test]
    fn one_batch_at_a_time_is_of_a_gate_first_and_of_each_worker_in_turn() {
        let mut waiting = Waiting::default();
        for (stream, network, leaf_count) in
            [(1, NetworkRef::Best, 1), (1, NetworkRef::Best, 2), (2, NetworkRef::Best, 3), (2, CANDIDATE.into(), 4)]
        {
            push(&mut waiting, stream, network, leaf_count);
        }
        let mut take = |is_wanted: fn(LeafClass) -> bool| waiting.take_one(is_wanted).map(|(_, batch)| batch.job);
        assert_eq!(take(|class| class == LeafClass::SelfPlay), Some((1, 1)));
        assert_eq!(take(|_| true), Some((2, 4)));
        assert_eq!(take(|class| class == LeafClass::Gate), None);
        assert_eq!([take(|_| true), take(|_| true), take(|_| true)], [Some((2, 3)), Some((1, 2)), None]);
    }

    #[test]
    fn what_a_closed_stream_left_is_dropped() {
        let mut waiting = Waiting::default();
        let stream = |worker, number| StreamId { worker, number };
        for (stream, leaf_count) in [(stream(1, 1), 2), (stream(2, 2), 2), (stream(1, 1), 2), (stream(1, 3), 3)] {
            push_on(&mut waiting, stream, NetworkRef::Best, leaf_count);
            push_on(&mut waiting, stream, CANDIDATE.into(), leaf_count);
        }
        assert_eq!(waiting.remove_stream(stream(1, 1)), [(LeafClass::Gate, 4), (LeafClass::SelfPlay, 4)]);
        assert_eq!(waiting.remove_stream(stream(1, 1)), [(LeafClass::Gate, 0), (LeafClass::SelfPlay, 0)]);
        assert_eq!(take_all(&mut waiting), [(CANDIDATE, vec![(1, 3), (2, 2)]), (BEST, vec![(1, 3), (2, 2)])]);
    }
}
