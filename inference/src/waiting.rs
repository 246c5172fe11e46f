//! Which waiting batches are evaluated together, and in which order. Pure: no clock, no thread.
//!
//! Leaves of gates go before those of self-play, which keep a share; within each kind the streams take turns, so that
//! no worker crowds out the others.

use std::collections::{BTreeMap, VecDeque};

use shared::ids::{NetworkId, NetworkRef};

/// Batches led by gate leaves in a row while leaves of self-play wait: one batch in four stays self-play's.
const GATE_BATCHES_IN_A_ROW: u32 = 3;

/// Number of an evaluation stream, never used twice.
pub(super) type StreamId = u64;

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
    pub(super) const fn of(network: NetworkRef) -> Self {
        match network {
            NetworkRef::Best => Self::SelfPlay,
            NetworkRef::Id(_) => Self::Gate,
        }
    }
}

/// A batch of leaves that waits.
#[derive(Debug)]
pub(super) struct WaitingBatch<J> {
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
        let turns = match LeafClass::of(batch.network) {
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

/// Batches of one class: the streams that have some take turns, one batch a turn.
#[derive(Debug)]
struct Turns<J> {
    batches: BTreeMap<StreamId, VecDeque<WaitingBatch<J>>>,
    /// The streams of `batches`, the one whose turn it is first.
    order: VecDeque<StreamId>,
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
        let batches = self.batches.entry(stream).or_default();
        if batches.is_empty() {
            self.order.push_back(stream);
        }
        batches.push_back(batch);
    }

    /// Returns how many leaves are gone.
    fn remove_stream(&mut self, stream: StreamId) -> usize {
        let Some(batches) = self.batches.remove(&stream) else { return 0 };
        self.order.retain(|other| *other != stream);
        batches.iter().map(|batch| batch.leaf_count).sum()
    }

    fn take_one(&mut self) -> Option<(StreamId, WaitingBatch<J>)> {
        let stream = self.order.pop_front()?;
        let batches = self.batches.get_mut(&stream)?;
        let batch = batches.pop_front()?;
        if batches.is_empty() {
            self.batches.remove(&stream);
        } else {
            self.order.push_back(stream);
        }
        Some((stream, batch))
    }

    fn next_network(&self) -> Option<NetworkRef> {
        let batches = self.batches.get(self.order.front()?)?;
        batches.front().map(|batch| batch.network)
    }

    /// Gives the streams their turns until none has a batch that fits.
    fn fill(&mut self, open: &mut OpenBatch<'_, J>) {
        while self.give_turns(open) {}
    }

    /// Takes at most one batch of each stream; those that gave one go to the end. Returns whether any did.
    fn give_turns(&mut self, open: &mut OpenBatch<'_, J>) -> bool {
        let (mut served, mut left) = (VecDeque::new(), VecDeque::with_capacity(self.order.len()));
        let mut has_taken = false;
        for stream in self.order.drain(..) {
            let Some(batches) = self.batches.get_mut(&stream) else { continue };
            let taken = batches.iter().position(|batch| open.takes(batch)).and_then(|index| batches.remove(index));
            let Some(batch) = taken else {
                left.push_back(stream);
                continue;
            };
            has_taken = true;
            open.leaf_count += batch.leaf_count;
            open.jobs.push(batch.job);
            if batches.is_empty() {
                self.batches.remove(&stream);
            } else {
                served.push_back(stream);
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

    /// Adds a batch that is known by its stream and the number of its leaves.
    fn push(waiting: &mut Waiting<(StreamId, usize)>, stream: StreamId, network: NetworkRef, leaf_count: usize) {
        waiting.push(stream, WaitingBatch { network, leaf_count, job: (stream, leaf_count) });
    }

    /// Takes everything, in batches of at most ten leaves.
    fn take_all(waiting: &mut Waiting<(StreamId, usize)>) -> Vec<(NetworkId, Vec<(StreamId, usize)>)> {
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
        let streams: Vec<StreamId> = take_all(&mut waiting).iter().map(|(_, jobs)| jobs[0].0).collect();
        assert_eq!(streams, [2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 1]);
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
    fn streams_take_turns_however_much_one_of_them_sends() {
        let mut waiting = Waiting::default();
        for _ in 0..6 {
            push(&mut waiting, 1, NetworkRef::Best, 5);
        }
        for stream in [2, 3] {
            push(&mut waiting, stream, NetworkRef::Best, 5);
        }
        let batches: Vec<Vec<StreamId>> =
            take_all(&mut waiting).into_iter().map(|(_, jobs)| jobs.iter().map(|job| job.0).collect()).collect();
        assert_eq!(batches, [vec![1, 2], vec![3, 1], vec![1, 1], vec![1, 1]]);
    }

    #[test]
    fn one_batch_at_a_time_is_of_a_gate_first_and_of_each_stream_in_turn() {
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
        for stream in [1, 2, 1] {
            push(&mut waiting, stream, NetworkRef::Best, 2);
            push(&mut waiting, stream, CANDIDATE.into(), 2);
        }
        assert_eq!(waiting.remove_stream(1), [(LeafClass::Gate, 4), (LeafClass::SelfPlay, 4)]);
        assert_eq!(take_all(&mut waiting), [(CANDIDATE, vec![(2, 2)]), (BEST, vec![(2, 2)])]);
    }
}
