//! The whole loop on tic-tac-toe, with real processes over real gRPC: what comes of it never loses.

mod common;

use common::system::{System, preset};
use common::truth::NetworkPlayer;
use learner::config::LearnerConfig;
use runtime::layers::{Sources, load};

/// Iterations of the run: as many as the preset lets the learning rate fall over.
const ITERATIONS: &str = "8";

#[test]
fn tic_tac_toe_is_learned_to_perfection() {
    let mut system = System::new(&[]);
    let learner = system.start_learner(&["--iterations", ITERATIONS]);
    let mut actor = system.start_worker("actor");
    let mut evaluator = system.start_worker("evaluator");
    let (status, log) = learner.wait_for_end();
    assert!(status.success(), "the learner ended with {status}:\n{}", log.join("\n"));
    for worker in [&mut actor, &mut evaluator] {
        worker.wait_for("the learner has stopped; waiting for it");
    }
    drop((actor, evaluator));

    let look = system.look();
    assert!(look.number("SELECT max(generation) FROM networks") >= 1, "nothing was promoted");
    assert!(log.iter().any(|line| line.contains("promoted") && line.contains("distinct_openings=\"20 of 20\"")));
    let file = look.text("SELECT file FROM networks WHERE state = 'best'").expect("there is a best network");
    let early =
        log.iter().filter_map(|line| line.split_once("decided_after=\"")?.1.split_once('"')?.0.split_once(" of "));
    let early = early.filter(|(games, planned)| {
        let number = |text: &str| text.parse::<u32>().expect("a number");
        number(games) < number(planned)
    });
    assert!(early.count() >= 1, "no gate was decided before its last game:\n{}", log.join("\n"));
    let sources = Sources { program: "learner", file: Some(preset()), ..Sources::default() };
    let config = load::<LearnerConfig>(&sources).expect("the preset loads").raw;
    let score = NetworkPlayer::load(&system.run_dir().join(file), &config).play_everything();
    assert_eq!(score.lost, Vec::<String>::new(), "the best network loses games: {score:?}");
    assert!(score.wins > 0 && score.draws > 0, "{score:?}");
}
