//! The whole loop on draughts, small, with real processes over real gRPC: half of the games begin from endgames, learner
//! and actor are killed once each, and everything counts once.

mod common;

use common::system::System;
use fixtures::check_finished_games;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::game::dama::{Dama, DamaRules};
use store::{GameKind, StoredGame};

const SETTINGS: [&str; 16] = [
    "server.lease=2s",
    "game.ply_limit=60",
    "self_play.endgame_share=0.5",
    "self_play.games_per_iteration=12",
    "self_play.simulation_count_first=8",
    "self_play.search.simulation_count=8",
    "gate.game_count=4",
    "gate.search.simulation_count=8",
    "network.blocks=1",
    "network.filters=8",
    "network.value_hidden=8",
    "training.batch_size=32",
    "training.steps_per_iteration=20",
    "training.checkpoint_steps=5",
    "replay.position_count_min=64",
    "run.iterations=2",
];

#[test]
fn draughts_is_trained_from_whole_games_and_endgames_and_a_kill_loses_nothing() {
    let mut system = System::of("dama-cpu", &SETTINGS);
    let mut learner = system.start_learner(&[]);
    let mut actor = system.start_worker("actor");
    let evaluator = system.start_worker("evaluator");
    let look = system.look();
    let open_endgames = "SELECT count(*) FROM plies JOIN games USING (game_id)
                         WHERE state = 'open' AND start_position IS NOT NULL";
    learner.wait_until("plies of endgames", || (look.number(open_endgames) >= 3).then_some(()));
    actor.kill_hard();
    learner.kill_hard();
    let before = look.rows("SELECT game_id, ply, move_text FROM plies", |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
    });
    learner = system.start_learner(&[]);
    let actor = system.start_worker("actor");
    let (status, log) = learner.wait_for_end();
    assert!(status.success(), "the learner ended with {status}:\n{}", log.join("\n"));
    drop((actor, evaluator));

    let verdicts = log.iter().filter(|line| line.contains(" promoted ") || line.contains(" rejected ")).count();
    assert_eq!(verdicts, 2, "{}", log.join("\n"));
    assert_eq!(look.number("SELECT count(*) FROM games WHERE state = 'quarantined'"), 0);
    for (game_id, ply, move_text) in before {
        let sql = format!("SELECT move_text FROM plies WHERE game_id = {game_id} AND ply = {ply}");
        assert_eq!(look.text(&sql), Some(move_text), "game {game_id}, ply {ply}");
    }
    let encoding = DamaEncoding::new(Dama::new(DamaRules { ply_limit: 60 }), PolicyCoding::Lossless);
    let games = check_finished_games(&encoding, &system.run_dir());
    let has_start = |kind, has| move |game: &&StoredGame| game.game.kind == kind && game.record.start.is_some() == has;
    let count = |kind, has| games.iter().filter(has_start(kind, has)).count();
    assert!(count(GameKind::SelfPlay, true) >= 3 && count(GameKind::SelfPlay, false) >= 3, "both kinds of games");
    assert_eq!((count(GameKind::Gate, true), count(GameKind::Gate, false) >= 4), (0, true), "gates play whole games");
}
