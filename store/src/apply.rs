//! One change as SQL. Called by the writer inside its transaction.

use rusqlite::{Connection, named_params, params};
use shared::ids::{GameId, NetworkId};
use shared::record::{PlyRecord, PolicyTarget};

use super::columns::Column;
use super::rows::{FinishedGame, IterationRow, NewGame, NewNetwork, outcome_word};
use super::statement::{NOW, execute};
use super::{Change, StoreError, game_thinning, workers};

/// Makes one change.
pub(super) fn apply(connection: &Connection, change: &Change) -> Result<(), StoreError> {
    match change {
        Change::CreateGame(game) => create_game(connection, game),
        Change::AddPly { game_id, ply, record } => add_ply(connection, *game_id, *ply, record),
        Change::FinishGame(game) => finish_game(connection, game),
        Change::QuarantineGame { game_id, reason } => quarantine_game(connection, *game_id, reason),
        Change::ThinGame { game_id } => game_thinning::thin_game(connection, *game_id),
        Change::AddWorker(worker) => workers::add_worker(connection, worker),
        Change::LeaseGame { game_id, worker_id, ply } => workers::lease_game(connection, *game_id, worker_id, *ply),
        Change::SetAside { worker_id } => workers::set_aside(connection, worker_id),
        Change::PutBack { worker_id } => workers::put_back(connection, worker_id),
        Change::AddNetwork(network) => add_network(connection, network),
        Change::SetStartNetwork { file } => execute(connection, "UPDATE runs SET start_network = ?1", [file]).map(drop),
        Change::Promote { network_id } => promote(connection, *network_id),
        Change::Reject { network_id } => reject(connection, *network_id),
        Change::PutIteration(iteration) => put_iteration(connection, iteration),
        Change::AddMetric(metric) => {
            let sql = format!("INSERT INTO metrics VALUES ({NOW}, ?1, ?2, ?3)");
            let value = metric.value.is_finite().then_some(metric.value);
            execute(connection, &sql, params![metric.name, value, metric.step.cast_signed()]).map(drop)
        }
        Change::ReplaceMetric(metric) => {
            execute(connection, "DELETE FROM metrics WHERE name = ?1", params![metric.name])?;
            apply(connection, &Change::AddMetric(metric.clone()))
        }
        Change::PutCheckpoint(row) => {
            let sql = format!("INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2, ?3, ?4, {NOW})");
            let values = params![row.training_step.cast_signed(), row.file, row.sha256, row.iteration];
            execute(connection, &sql, values).map(drop)
        }
        Change::RemoveCheckpoint { training_step } => {
            let sql = "DELETE FROM checkpoints WHERE training_step = ?1";
            execute(connection, sql, params![training_step.cast_signed()]).map(drop)
        }
    }
}

fn create_game(connection: &Connection, game: &NewGame) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO games (game_id, kind, iteration, pair_index, candidate_id, opponent_id, white_network_id,
             black_network_id, seed, settings, start_position, opening, opening_ply_count, state, created_at)
         VALUES (:game_id, :kind, :iteration, :pair_index, :candidate_id, :opponent_id, :white, :black,
             :seed, :settings, :start, :opening, :opening_ply_count, 'open', {NOW})"
    );
    let values = named_params! {
        ":game_id": Column(game.game_id), ":kind": game.kind, ":iteration": game.iteration,
        ":pair_index": game.pair_index, ":candidate_id": game.candidate_id.map(Column),
        ":opponent_id": game.opponent_id.map(Column), ":white": Column(game.white_network), ":black": Column(game.black_network), ":seed": game.seed.cast_signed(),
        ":settings": game.settings, ":start": game.start, ":opening": game.opening.join("; "), ":opening_ply_count": game.opening.len() as u32,
    };
    execute(connection, &sql, values)?;
    for (ply, move_text) in game.opening.iter().enumerate() {
        let record = PlyRecord::unsearched(move_text);
        add_ply(connection, game.game_id, ply as u32, &record)?;
    }
    Ok(())
}

fn add_ply(connection: &Connection, game_id: GameId, ply: u32, record: &PlyRecord) -> Result<(), StoreError> {
    let sql = "INSERT INTO plies VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let policy_target = record.policy_target.as_ref().map(PolicyTarget::to_bytes);
    let values = params![
        Column(game_id),
        ply,
        record.move_text,
        policy_target,
        f64::from(record.root_value),
        record.simulation_count,
        Column(record.network_id)
    ];
    execute(connection, sql, values).map(drop)
}

fn finish_game(connection: &Connection, game: &FinishedGame) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE games SET state = 'finished', finish_number = :finish_number, result = :result,
             ply_count = :ply_count, sample_count = :sample_count, is_cut_off = :is_cut_off,
             resignation = :resignation,
             opening_hash = :opening_hash, final_hash = :final_hash, moves_hash = :moves_hash,
             checksum = :checksum, finished_at = {NOW}
         WHERE game_id = :game_id AND state = 'open'"
    );
    let values = named_params! {
        ":finish_number": game.finish_number.cast_signed(), ":result": outcome_word(game.result.outcome),
        ":ply_count": game.ply_count, ":sample_count": game.sample_count, ":is_cut_off": game.result.is_cut_off,
        ":resignation": game.result.resignation,
        ":opening_hash": game.opening_hash.cast_signed(), ":final_hash": game.final_hash.cast_signed(),
        ":moves_hash": game.moves_hash.cast_signed(), ":checksum": game.checksum.map(u64::cast_signed), ":game_id": Column(game.game_id),
    };
    let changed = execute(connection, &sql, values)?;
    expect_one(changed, || format!("game {} is not open", game.game_id))
}

fn quarantine_game(connection: &Connection, game_id: GameId, reason: &str) -> Result<(), StoreError> {
    let sql = "UPDATE games SET state = 'quarantined', finish_number = NULL, result = NULL, reason = ?2
               WHERE game_id = ?1 AND state IN ('open', 'finished')";
    let changed = execute(connection, sql, params![Column(game_id), reason])?;
    expect_one(changed, || format!("game {game_id} is neither open nor finished"))
}

fn add_network(connection: &Connection, network: &NewNetwork) -> Result<(), StoreError> {
    let sql = format!("INSERT INTO networks VALUES (?1, NULL, ?2, ?3, ?4, 'candidate', {NOW})");
    let values = params![Column(network.network_id), network.file, network.sha256, network.training_step.cast_signed()];
    execute(connection, &sql, values).map(drop)
}

fn promote(connection: &Connection, network_id: NetworkId) -> Result<(), StoreError> {
    execute(connection, "UPDATE networks SET state = 'former_best' WHERE state = 'best'", [])?;
    let sql = "UPDATE networks
               SET state = 'best', generation = (SELECT coalesce(max(generation) + 1, 0) FROM networks)
               WHERE network_id = ?1 AND state = 'candidate'";
    let changed = execute(connection, sql, [Column(network_id)])?;
    expect_one(changed, || format!("network {network_id} is not a candidate"))?;
    abandon_gate(connection, network_id)
}

fn reject(connection: &Connection, network_id: NetworkId) -> Result<(), StoreError> {
    let sql = "UPDATE networks SET state = 'rejected' WHERE network_id = ?1 AND state = 'candidate'";
    let changed = execute(connection, sql, [Column(network_id)])?;
    expect_one(changed, || format!("network {network_id} is not a candidate"))?;
    abandon_gate(connection, network_id)
}

fn abandon_gate(connection: &Connection, candidate_id: NetworkId) -> Result<(), StoreError> {
    let sql = "UPDATE games SET state = 'abandoned', reason = 'the gate was decided without it'
               WHERE kind = 'gate' AND candidate_id = ?1 AND opponent_id IS NULL AND state = 'open'";
    execute(connection, sql, [Column(candidate_id)]).map(drop)
}

fn put_iteration(connection: &Connection, row: &IterationRow) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO iterations (number, state, window_finish_number, training_step_start, training_step_end,
             candidate_id, game_count, position_count, started_at, finished_at,
             evaluation_count, training_sample_count, flop)
         VALUES (:number, :state, :window, :start, :end, :candidate_id, :game_count, :position_count,
             {NOW}, iif(:is_finished, {NOW}, NULL), :evaluations, :samples, :flop)
         ON CONFLICT (number) DO UPDATE SET state = excluded.state,
             window_finish_number = excluded.window_finish_number,
             training_step_start = excluded.training_step_start, training_step_end = excluded.training_step_end,
             candidate_id = excluded.candidate_id, game_count = excluded.game_count,
             position_count = excluded.position_count, finished_at = excluded.finished_at,
             evaluation_count = excluded.evaluation_count,
             training_sample_count = excluded.training_sample_count, flop = excluded.flop"
    );
    let values = named_params! {
        ":number": row.number, ":state": row.state, ":window": row.window_finish_number.map(u64::cast_signed),
        ":start": row.training_step_start.cast_signed(), ":end": row.training_step_end.map(u64::cast_signed),
        ":candidate_id": row.candidate_id.map(Column), ":game_count": row.game_count.cast_signed(),
        ":position_count": row.position_count.cast_signed(), ":is_finished": row.state.is_finished(),
        ":evaluations": row.cost.map(|cost| cost.evaluation_count.cast_signed()),
        ":samples": row.cost.map(|cost| cost.training_sample_count.cast_signed()), ":flop": row.cost.map(|cost| cost.flop),
    };
    execute(connection, &sql, values).map(drop)
}

fn expect_one(changed: usize, reason: impl FnOnce() -> String) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(StoreError::Refused { reason: reason() }) }
}
