//! A share of each batch from human games: the same bits whether training was killed or not, and refused with a reason
//! where it is impossible.

mod common;

use std::path::{Path, PathBuf};
use std::time::Instant;

use common::system::System;
use fixtures::{open_self_play, run_row, start_run};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::catalog::GameSpec;
use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::Game;
use shared::game::hive::{Hive, HiveRules};
use shared::ids::{GameId, NetworkId};
use shared::record::{PlyRecord, PolicyTarget};
use shared::wire::ReportedPly;
use store::{GameKind, RunRow};

const GAME_COUNT: u32 = 12;
const FRAME: u8 = 12;
const STEPS: i64 = 20;

/// Games end at once, so that random ones are soon played.
fn rules() -> HiveRules {
    HiveRules { ply_limit: 12, ..HiveRules::default() }
}

fn human_games() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tests/human_games/games.uhp")
}

fn system(share: f64) -> System {
    system_with(share, &[])
}

fn system_with(share: f64, settings: &[&str]) -> System {
    let (frame, steps) = (format!("game.frame={FRAME}"), format!("training.steps_per_iteration={STEPS}"));
    let games = format!("self_play.games_per_iteration={GAME_COUNT}");
    let (share, human_games) =
        (format!("replay.human_share={share}"), format!("replay.human_games=[{:?}]", human_games()));
    let usual: [&str; 13] = [
        "game.name=hive",
        "game.ply_limit=12",
        &frame,
        "run.pipeline=lockstep",
        "network.blocks=1",
        "network.filters=8",
        &steps,
        "training.batch_size=24",
        "training.checkpoint_steps=3",
        "replay.position_count_min=1",
        &games,
        &share,
        &human_games,
    ];
    System::new(&[&usual[..], settings].concat())
}

#[test]
fn a_share_of_human_games_does_not_change_what_a_kill_costs() {
    let straight = candidate_sha256(0.5, &[]);
    assert_eq!(candidate_sha256(0.5, &[3, 9]), straight, "killed twice");
    assert_ne!(candidate_sha256(0.0, &[]), straight, "human games are learned from");
    assert_ne!(candidate_sha256(1.0, &[]), straight, "and more of them");
}

#[test]
fn networks_are_measured_on_the_human_games_that_a_pretraining_holds_out() {
    let settings = ["replay.held_out_share=0.1", "pretrain.held_out_share=0.5", "replay.held_out_positions_max=70"];
    for share in [0.0, 0.5] {
        let mut system = system_with(share, &settings);
        play_games(&system.run_dir());
        let look = system.train_with_kills(&[]);
        let number = |name: &str| {
            let sql = format!("SELECT value FROM metrics WHERE name = 'held_out_human_{name}'");
            look.rows(&sql, |row| row.get::<_, f64>(0))
        };
        assert_eq!((number("position_count"), number("position_count_best")), (vec![70.0], vec![70.0]));
        assert!(number("value_error")[0] > 0.0 && number("value_error") != number("value_error_best"));
    }
}

fn candidate_sha256(share: f64, kills: &[i64]) -> String {
    let mut system = system(share);
    play_games(&system.run_dir());
    let look = system.train_with_kills(kills);
    assert_eq!(look.number("SELECT max(training_step) FROM checkpoints"), STEPS);
    look.text("SELECT sha256 FROM networks WHERE network_id = 2").expect("the candidate is in the store")
}

/// Fills the store with games of a random player, the same each time.
fn play_games(run_dir: &Path) {
    std::fs::create_dir_all(run_dir).expect("a run directory");
    let encoding = HiveEncoding::new(Hive::new(rules()), FRAME);
    let game = serde_json::to_string(&GameSpec::Hive { rules: rules(), frame: FRAME }).expect("JSON");
    let learner = start_run(encoding.clone(), &RunRow { game, ..run_row() }, run_dir);
    open_self_play(&learner);
    let registry = &learner.registry;
    let leases = registry.lease("test", GameKind::SelfPlay, GAME_COUNT, Instant::now()).expect("leases").leases;
    let mut random = Pcg64::seed_from_u64(7);
    for lease in leases {
        let plies = random_game(&encoding, lease.game_id, &mut random);
        registry.report("test", &plies, Instant::now()).expect("the game is stored");
    }
    assert_eq!(registry.progress().finished_self_play_count, u64::from(GAME_COUNT));
}

/// Each ply with a target on the move that was played.
fn random_game(encoding: &HiveEncoding, game_id: GameId, random: &mut impl RngExt) -> Vec<ReportedPly> {
    let hive = encoding.game();
    let (mut position, mut plies, mut moves) = (hive.initial_position(), Vec::new(), Vec::new());
    loop {
        moves.clear();
        hive.legal_moves(&position, &mut moves);
        let Some(&mv) = moves.choose(random) else { return plies };
        let mut indices = Vec::new();
        encoding.policy_indices(&position, &[mv], &mut indices);
        let record = PlyRecord {
            move_text: hive.format_move(&position, mv),
            policy_target: PolicyTarget::from_visits([(indices[0], 25)]).ok(),
            simulation_count: 25,
            network_id: Some(NetworkId::FIRST),
            ..PlyRecord::default()
        };
        plies.push(ReportedPly { game_id, ply: plies.len() as u32, record });
        hive.play(&mut position, mv);
    }
}

#[test]
fn a_share_that_cannot_be_had_is_refused_before_anything_is_made() {
    for (settings, code, named) in [
        (vec!["replay.human_share=0.5", "replay.human_games=[]"], 64, "replay.human_games: names no games"),
        (vec!["replay.human_share=2.0"], 64, "replay.human_share: 2 is not in 0..=1"),
        (vec!["replay.human_games=[\"no-such\"]"], 1, "replay.human_games: games: open no-such"),
        (
            vec!["game.game_type=Base"],
            1,
            "replay.human_games: no decided game to learn from of the types that pretrain.game_types allows",
        ),
        (
            vec!["game.name=tictactoe"],
            64,
            "game.name: human games (replay.human_share, self_play.human_start_share) are read",
        ),
    ] {
        let system = system(0.5);
        let flags: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let output = system.learner_command(&flags).output().expect("the program starts");
        let log = String::from_utf8_lossy(&output.stderr);
        let last = log.lines().last().unwrap_or_default();
        assert_eq!(output.status.code(), Some(code), "{settings:?}: {log}");
        assert!(last.contains(named), "{settings:?}: {log}");
        assert!(!system.run_dir().exists(), "{settings:?}: nothing is made");
    }
}
