//! The registry with draughts: games that begin from random endgames.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use fixtures::{Learner, crash_copy, random_game, run_row, start_run};
use notation::dama::pdn;
use registry::{Lease, PlyStatus, SelfPlayPlan, StartPlan, rebuild};
use rusqlite::Connection;
use samples::buffer::SampleBuffer;
use shared::encoding::Encoding;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::game::dama::{Dama, DamaRules};
use shared::game::{Game, Outcome};
use shared::ids::GameId;
use shared::search::SearchSettings;
use store::{GameKind, GameState, RunRow};

fn encoding() -> DamaEncoding {
    DamaEncoding::new(Dama::new(DamaRules { ply_limit: 120 }), PolicyCoding::Lossless)
}

/// Starts a run of draughts in which self-play is open.
fn start(run_dir: &Path, endgame_share: f64) -> Learner<DamaEncoding> {
    let row = RunRow { game: r#"{"name":"dama","ply_limit":120}"#.into(), ..run_row() };
    let learner = start_run(encoding(), &row, run_dir);
    let starts = StartPlan { endgame_share, ..StartPlan::default() };
    let plan = SelfPlayPlan { iteration: 1, search: SearchSettings::default(), starts, game_count_max: None };
    learner.registry.plan_self_play(Some(plan)).expect("planned");
    learner
}

fn lease(learner: &Learner<DamaEncoding>, count: u32) -> Vec<Lease> {
    learner.registry.lease("a", GameKind::SelfPlay, count, Instant::now()).expect("leases").leases
}

#[test]
fn the_share_of_endgames_is_kept_and_comes_again() {
    let leases = |share| {
        let run_dir = tempfile::tempdir().expect("a directory");
        lease(&start(run_dir.path(), share), 1000)
    };
    let fifth = leases(0.2);
    let count = fifth.iter().filter(|lease| lease.start.is_some()).count();
    assert!((150..250).contains(&count), "{count} of 1000");
    let whole = SearchSettings::default().temperature_plies;
    let plies = |lease: &Lease| if lease.start.is_some() { 0 } else { whole };
    assert!(
        fifth.iter().all(|lease| lease.search.temperature_plies == plies(lease)),
        "endgames are played as late plies are"
    );
    assert_eq!(leases(0.2), fifth, "the run's seed decides");
    assert!(leases(0.0).iter().all(|lease| lease.start.is_none()));
    let all = leases(1.0);
    let starts: std::collections::HashSet<_> = all.iter().map(|lease| lease.start.clone().expect("a start")).collect();
    assert_eq!(starts.len(), 1000, "each game has a start of its own");
}

#[test]
fn games_from_endgames_are_replayed_stored_and_there_after_a_crash() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = start(run_dir.path(), 1.0);
    let leases = lease(&learner, 20);
    for lease in &leases[..10] {
        let statuses = learner.registry.report("a", &random_game(&encoding(), lease), Instant::now()).expect("stored");
        assert!(statuses.iter().all(|status| *status == PlyStatus::Accepted), "{statuses:?}");
    }
    let half: Vec<_> = random_game(&encoding(), &leases[10]).into_iter().take(1).collect();
    learner.registry.report("a", &half, Instant::now()).expect("stored");
    let positions = learner.replay.position_count();
    assert!(positions > 0);

    let after = crash_copy(run_dir.path());
    let learner = start(after.path(), 1.0);
    assert_eq!(learner.replay.position_count(), positions);
    let progress = learner.registry.progress();
    assert_eq!((progress.finished_self_play_count, progress.counters.quarantined_game_count), (10, 0));
    // The worker that holds the game goes on from where it was.
    let rest: Vec<_> = random_game(&encoding(), &leases[10]);
    let statuses = learner.registry.report("a", &rest, Instant::now()).expect("stored");
    assert!(statuses.iter().all(|status| *status == PlyStatus::Accepted), "{statuses:?}");
    assert_eq!(learner.registry.progress().finished_self_play_count, 11);
}

#[test]
fn a_game_whose_start_was_damaged_goes_into_quarantine() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = start(run_dir.path(), 1.0);
    let leases = lease(&learner, 3);
    learner.registry.report("a", &random_game(&encoding(), &leases[0]), Instant::now()).expect("stored");
    drop(learner);
    let database = Connection::open(run_dir.path().join("alveare.db")).expect("the database opens");
    database.execute("UPDATE games SET start_position = 'B:W5' WHERE game_id < 3", []).expect("damaged");
    drop(database);
    let learner = start(run_dir.path(), 1.0);
    let reader = learner.store.reader().expect("a reader");
    let state = |number| reader.game(GameId::new(number)).expect("readable").expect("there").state;
    assert_eq!([1, 2, 3].map(state), [GameState::Quarantined, GameState::Quarantined, GameState::Open]);
    let (buffer, report) = rebuild(&encoding(), &learner.store, SampleBuffer::new(1000), u64::MAX).expect("rebuilt");
    assert_eq!((buffer.position_count(), report.quarantined_count), (0, 0), "once is enough");
}

#[test]
fn games_come_out_as_pdn() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = start(run_dir.path(), 0.5);
    let leases = lease(&learner, 8);
    let from_endgames = leases.iter().filter(|lease| lease.start.is_some()).count();
    assert!((1..8).contains(&from_endgames), "some of each: {from_endgames}");
    let mut plies = vec![];
    for lease in &leases {
        let game = random_game(&encoding(), lease);
        plies.push(game.iter().map(|ply| ply.record.move_text.clone()).collect::<Vec<_>>());
        learner.registry.report("a", &game, Instant::now()).expect("stored");
    }
    drop(learner);
    let file = run_dir.path().join("games.pdn");
    let output = Command::new(env!("CARGO_BIN_EXE_learner"))
        .args([Path::new("export"), run_dir.path(), Path::new("--games"), &file])
        .output()
        .expect("the learner runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = std::fs::read_to_string(&file).expect("the file is there");
    let read: Vec<_> = pdn::read(&written).map(|game| game.expect("a game")).collect();
    let dama = Dama::new(DamaRules { ply_limit: u32::MAX });
    for ((game, lease), texts) in read.iter().zip(&leases).zip(&plies) {
        let start = dama.start_position(lease.start.as_deref()).expect("a start");
        assert_eq!((game.start.board(), game.start.side_to_move()), (start.board(), start.side_to_move()));
        let mut position = game.start.clone();
        let mut shown = vec![];
        for mv in &game.moves {
            shown.push(dama.format_move(&position, *mv));
            dama.play(&mut position, *mv);
        }
        assert_eq!(shown, *texts);
        let outcome = encoding().game().outcome(&position).or(dama.outcome(&position));
        assert_eq!(game.result, Some(outcome.unwrap_or(Outcome::Draw)), "a game that was cut off is a draw");
    }
    assert_eq!(read.len(), leases.len());
}
