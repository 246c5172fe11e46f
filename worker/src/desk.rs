//! Where the games of a thread bring their leaves: answered from the cache, or put into a batch for the network asked.

use std::sync::Arc;

use shared::encoding::{Encoding, Mv, Pos};
use shared::wire::{LeafBatchBuilder, WireError};

use crate::cache::{Cache, PositionKey};
use crate::counters::count;
use crate::messages::{BatchRequest, Evaluations, Outlets, Shared};

/// Builders kept for the networks of yesterday, at most.
const IDLE_BUILDERS_MAX: usize = 8;

/// The process is stopping: nobody takes what the thread says.
#[derive(Debug)]
pub(crate) struct Closed;

/// Why a leaf was not taken.
#[derive(Debug)]
pub(crate) enum AskError {
    /// It is too large to be sent.
    Wire(WireError),
    /// The process is stopping.
    Closed(Closed),
}

/// Which leaf of which game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) game: usize,
    pub(crate) leaf: usize,
}

/// A leaf in a batch.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) spot: Spot,
    pub(crate) move_count: usize,
    key: PositionKey,
}

/// A batch whose answer is awaited.
#[derive(Debug)]
pub(crate) struct SentBatch {
    pub(crate) batch_id: u64,
    pub(crate) entries: Vec<Entry>,
    asked_network_id: u32,
}

/// A batch that still grows.
#[derive(Debug, Default)]
struct OpenBatch {
    network_id: u32,
    builder: LeafBatchBuilder,
    entries: Vec<Entry>,
}

/// The desk of one thread.
pub(crate) struct Desk<E: Encoding> {
    pub(crate) encoding: E,
    pub(crate) thread: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) outlets: Outlets,
    /// The best network, as last heard.
    pub(crate) best_network_id: u32,
    batch_leaves_max: usize,
    cache: Cache,
    open: Vec<OpenBatch>,
    sent: Vec<SentBatch>,
    sent_count: u64,
    lookup_count: u64,
    hit_count: u64,
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
}

/// What a desk must know to begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeskSettings {
    pub(crate) thread: usize,
    pub(crate) cache_bytes: usize,
    pub(crate) batch_leaves_max: usize,
    pub(crate) best_network_id: u32,
}

impl<E: Encoding> Desk<E> {
    pub(crate) fn new(encoding: E, settings: DeskSettings, shared: Arc<Shared>, outlets: Outlets) -> Self {
        Self {
            encoding,
            thread: settings.thread,
            shared,
            outlets,
            best_network_id: settings.best_network_id,
            batch_leaves_max: settings.batch_leaves_max,
            cache: Cache::new(settings.cache_bytes),
            open: vec![],
            sent: vec![],
            sent_count: 0,
            lookup_count: 0,
            hit_count: 0,
            packed: vec![],
            policy_indices: vec![],
        }
    }

    /// Asks for the evaluation of a leaf. If it is remembered, writes `priors` and returns the value; otherwise the
    /// leaf goes into a batch and `spot` tells whose it is.
    ///
    /// # Errors
    /// [`AskError`] if the leaf is too large to be sent, or the process is stopping.
    pub(crate) fn ask(
        &mut self,
        network_id: u32,
        (position, moves): (&Pos<E>, &[Mv<E>]),
        spot: Spot,
        priors: &mut [f32],
    ) -> Result<Option<f32>, AskError> {
        self.packed.clear();
        self.encoding.pack(position, &mut self.packed);
        let key = PositionKey::new(&self.packed);
        self.lookup_count += 1;
        if let Some(value) = self.cache.get(key.under(self.resolve(network_id)), priors) {
            self.hit_count += 1;
            return Ok(Some(value));
        }
        self.policy_indices.clear();
        self.encoding.policy_indices(position, moves, &mut self.policy_indices);
        let index = self.open_batch(network_id).map_err(AskError::Closed)?;
        let batch = &mut self.open[index];
        batch.builder.push(&self.packed, &self.policy_indices).map_err(AskError::Wire)?;
        batch.entries.push(Entry { spot, move_count: moves.len(), key });
        Ok(None)
    }

    /// Returns the network that is meant: 0 is the best one.
    pub(crate) fn resolve(&self, network_id: u32) -> u32 {
        if network_id == 0 { self.best_network_id } else { network_id }
    }

    /// Sends whatever was collected, counts, and returns the batches of this turn.
    ///
    /// # Errors
    /// [`Closed`] if the process is stopping.
    pub(crate) fn finish_turn(&mut self) -> Result<Vec<SentBatch>, Closed> {
        for index in 0..self.open.len() {
            self.send(index)?;
        }
        if self.open.len() > IDLE_BUILDERS_MAX {
            self.open.clear();
        }
        count(&self.shared.counters.cache_lookup_count, std::mem::take(&mut self.lookup_count));
        count(&self.shared.counters.cache_hit_count, std::mem::take(&mut self.hit_count));
        Ok(std::mem::take(&mut self.sent))
    }

    /// Takes the answer to a batch into the cache, and hears which network is the best.
    pub(crate) fn remember(&mut self, batch: &SentBatch, evaluations: &Evaluations) {
        if batch.asked_network_id == 0 {
            self.best_network_id = evaluations.network_id;
        }
        let mut priors = evaluations.priors.as_slice();
        for (entry, value) in batch.entries.iter().zip(&evaluations.values) {
            let (own, rest) = priors.split_at(entry.move_count.min(priors.len()));
            priors = rest;
            self.cache.insert(entry.key.under(evaluations.network_id), own, *value);
        }
    }

    /// Returns the batch for a network, with room for one more leaf.
    fn open_batch(&mut self, network_id: u32) -> Result<usize, Closed> {
        let found = self.open.iter().position(|batch| batch.network_id == network_id);
        let index = found.unwrap_or(self.open.len());
        if found.is_none() {
            self.open.push(OpenBatch { network_id, ..OpenBatch::default() });
        }
        if self.open[index].builder.len() >= self.batch_leaves_max {
            self.send(index)?;
        }
        Ok(index)
    }

    fn send(&mut self, index: usize) -> Result<(), Closed> {
        let batch = &mut self.open[index];
        if batch.builder.is_empty() {
            return Ok(());
        }
        // Unique in the process: the thread in the high bits.
        let batch_id = (self.thread as u64) << 40 | self.sent_count;
        self.sent_count += 1;
        let entries = std::mem::take(&mut batch.entries);
        count(&self.shared.counters.batch_count, 1);
        count(&self.shared.counters.evaluation_count, entries.len() as u64);
        let message = batch.builder.finish(batch_id, batch.network_id);
        self.sent.push(SentBatch { batch_id, entries, asked_network_id: batch.network_id });
        self.outlets.batches.blocking_send(BatchRequest { thread: self.thread, batch: message }).map_err(|_| Closed)
    }
}
