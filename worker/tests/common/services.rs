//! The services of the learner for tests.

use std::pin::Pin;

use proto::inference_server::Inference;
use proto::ply_status::Code;
use proto::workers_server::Workers;
use proto::{
    EvaluationBatch, JoinReply, JoinRequest, LeafBatch, Lease, LeaseGamesReply, LeaseGamesRequest, Ply, PlyStatus,
    RenewLeasesReply, RenewLeasesRequest, ReportPliesReply, ReportPliesRequest,
};
use shared::ids::{Generation, NetworkId};
use shared::wire::{
    EvaluationHeader, LEARNER_STOPPING, game_spec_to_proto, network_ref_from_wire, ply_from_proto, read_leaf_batch,
    search_settings_to_proto, write_evaluations,
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use super::{Disk, InvalidAnswer, State};

#[derive(Clone)]
pub struct Services {
    pub disk: Disk,
    /// Ends the evaluation streams.
    pub stop: CancellationToken,
}

#[tonic::async_trait]
impl Workers for Services {
    async fn join(&self, request: Request<JoinRequest>) -> Result<Response<JoinReply>, Status> {
        let request = request.into_inner();
        self.disk.change(|state| {
            if request.domain_version != state.domain_version {
                return Err(Status::failed_precondition(format!(
                    "rules of version {}, the learner's are {}: take the same release",
                    request.domain_version, state.domain_version
                )));
            }
            state.joined += 1;
            Ok(Response::new(JoinReply {
                game: Some(game_spec_to_proto(&state.game())),
                lease_ms: state.lease_ms,
                batches_in_flight_max: 4,
                batch_leaves_max: 5,
                best_network_id: 1,
                generation: 1,
            }))
        })
    }

    async fn lease_games(&self, request: Request<LeaseGamesRequest>) -> Result<Response<LeaseGamesReply>, Status> {
        let LeaseGamesRequest { worker_id, game_count } = request.into_inner();
        let leases = self.disk.change(|state| lease(state, &worker_id, game_count as usize));
        let reply = LeaseGamesReply { leases, waiting_for: "a test".into(), retry_after_ms: 5 };
        Ok(Response::new(reply))
    }

    async fn report_plies(&self, request: Request<ReportPliesRequest>) -> Result<Response<ReportPliesReply>, Status> {
        let ReportPliesRequest { worker_id, plies } = request.into_inner();
        let (statuses, is_silent) = self.disk.change(|state| {
            let statuses = plies.into_iter().map(|ply| store(state, &worker_id, ply)).collect();
            let is_silent = state.acknowledgements_left == Some(0);
            state.acknowledgements_left = state.acknowledgements_left.map(|left| left.saturating_sub(1));
            (statuses, is_silent)
        });
        if is_silent {
            std::future::pending::<()>().await;
        }
        Ok(Response::new(ReportPliesReply { statuses }))
    }

    async fn renew_leases(&self, request: Request<RenewLeasesRequest>) -> Result<Response<RenewLeasesReply>, Status> {
        let RenewLeasesRequest { worker_id, game_ids } = request.into_inner();
        let lost_game_ids = self.disk.change(|state| {
            state.renewals += 1;
            game_ids.into_iter().filter(|id| !hold(state, *id, &worker_id)).collect()
        });
        Ok(Response::new(RenewLeasesReply { lost_game_ids }))
    }
}

/// Gives the game to the worker unless someone else has it. Returns whether the worker has it now.
fn hold(state: &mut State, game_id: u64, worker_id: &str) -> bool {
    let Some(game) = state.games.get_mut(&game_id).filter(|game| !game.is_over) else { return false };
    game.holder.get_or_insert_with(|| worker_id.to_owned()) == worker_id
}

fn lease(state: &mut State, worker_id: &str, count: usize) -> Vec<Lease> {
    let search = search_settings_to_proto(&state.settings);
    let seed = state.seed;
    let free = state.games.iter_mut().filter(|(_, game)| game.holder.is_none() && !game.is_over);
    let lease = |(id, game): (&u64, &mut super::FakeGame)| {
        game.holder = Some(worker_id.to_owned());
        Lease {
            game_id: *id,
            kind: game.kind.into(),
            white_network_id: game.networks[0],
            black_network_id: game.networks[1],
            seed: seed + *id,
            search: Some(search),
            moves: game.moves(),
            opening_ply_count: game.opening.len() as u32,
            start_position: game.start.clone(),
        }
    };
    free.take(count).map(lease).collect()
}

fn store(state: &mut State, worker_id: &str, ply: Ply) -> PlyStatus {
    let status = |code: Code, reason: &str| PlyStatus {
        game_id: ply.game_id,
        ply: ply.ply,
        code: code.into(),
        reason: reason.into(),
        ..PlyStatus::default()
    };
    if let Err(error) = ply_from_proto(&ply) {
        state.faults.push(error.to_string());
    }
    let Some(game) = state.games.get_mut(&ply.game_id) else { return status(Code::LeaseLost, "no such game") };
    let opening_count = game.opening.len() as u32;
    if let Some(known) = ply.ply.checked_sub(opening_count).and_then(|index| game.plies.get(index as usize)) {
        if known.move_text != ply.move_text {
            state.faults.push(format!("ply {} of game {} came twice, and differs", ply.ply, ply.game_id));
        }
        state.duplicate_plies += 1;
        return status(Code::Accepted, "");
    }
    if game.is_over || game.holder.as_deref() != Some(worker_id) {
        return status(Code::LeaseLost, "someone else's");
    }
    if ply.ply != opening_count + game.plies.len() as u32 {
        state.faults.push(format!("ply {} of game {} leaves a gap", ply.ply, ply.game_id));
        return status(Code::Refused, "gap");
    }
    let accepted = status(Code::Accepted, "");
    let game_id = ply.game_id;
    game.plies.push(ply);
    match game.outcome() {
        Ok(outcome) => game.is_over = outcome.is_some(),
        Err(error) => state.faults.push(format!("game {game_id}: {error}")),
    }
    if !game.is_over && state.resigned_after == Some(game.plies.len()) {
        game.is_over = true;
        return PlyStatus { is_resigned: true, ..accepted };
    }
    accepted
}

#[tonic::async_trait]
impl Inference for Services {
    type EvaluateLeavesStream = Pin<Box<dyn Stream<Item = Result<EvaluationBatch, Status>> + Send>>;

    async fn evaluate_leaves(
        &self,
        request: Request<Streaming<LeafBatch>>,
    ) -> Result<Response<Self::EvaluateLeavesStream>, Status> {
        let mut batches = request.into_inner();
        let (answers, stream) = tokio::sync::mpsc::channel(4);
        let (disk, stop) = (self.disk.clone(), self.stop.clone());
        let last = answers.clone();
        let answering = async move {
            while let Some(Ok(batch)) = batches.next().await {
                disk.wait_until_answering().await;
                let answer_time = disk.lock().answer_time;
                tokio::time::sleep(answer_time).await;
                let answer = disk.change(|state| answer(state, &batch));
                if answers.send(Ok(answer)).await.is_err() {
                    return;
                }
            }
        };
        tokio::spawn(async move {
            if stop.run_until_cancelled(answering).await.is_none() {
                let _ = last.send(Err(Status::unavailable(LEARNER_STOPPING))).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

impl Disk {
    /// Waits while the learner does not answer.
    async fn wait_until_answering(&self) {
        let mut changes = self.changes.subscribe();
        while self.lock().evaluations_left == Some(0) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

fn answer(state: &mut State, batch: &LeafBatch) -> EvaluationBatch {
    state.evaluations_left = state.evaluations_left.map(|left| left.saturating_sub(1));
    state.answered_batches += 1;
    state.networks_asked.insert(batch.network_id);
    state.largest_batch = state.largest_batch.max(batch.move_counts.len());
    let network_id = network_ref_from_wire(batch.network_id).resolve(NetworkId::FIRST);
    let header = EvaluationHeader {
        batch_id: batch.batch_id,
        network_id,
        generation: Generation::new(1),
        uniform_prior_count: 0,
    };
    let error = || EvaluationBatch { batch_id: batch.batch_id, error: "no such network".into(), ..Default::default() };
    if state.broken_network == Some(batch.network_id) {
        state.broken_answers += 1;
        return error();
    }
    let (mut priors, mut values) = (vec![], vec![]);
    for leaf in read_leaf_batch(batch).unwrap().leaves() {
        // Made of the position alone, so that the same position always gets the same answer.
        let sum: usize = leaf.packed.iter().enumerate().map(|(place, byte)| (place + 3) * usize::from(*byte)).sum();
        let count = leaf.policy_indices().len();
        let weights = (0..count).map(|index| ((sum + index * 7) % 5 + 1) as f32);
        let total: f32 = weights.clone().sum();
        priors.extend(weights.map(|weight| weight / total));
        values.push((sum % 11) as f32 / 20.0 - 0.25);
    }
    match state.invalid_answers.pop_front() {
        None => write_evaluations(header, &priors, &values),
        Some(InvalidAnswer::TooFewPriors) => write_evaluations(header, &priors[1..], &values),
        Some(InvalidAnswer::TooManyValues) => write_evaluations(header, &priors, &[values, vec![0.0]].concat()),
        Some(InvalidAnswer::NotANumber) => write_evaluations(header, &priors, &vec![f32::NAN; values.len()]),
        Some(InvalidAnswer::UnknownBatch) => {
            write_evaluations(EvaluationHeader { batch_id: u64::MAX, ..header }, &priors, &values)
        }
        Some(InvalidAnswer::ErrorText) => error(),
    }
}
