//! The web page: what its API answers over small stores of each game, who is let in, and how much a long run sends.

mod common;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use common::system::System;
use fixtures::{network_id, run_row};
use learner::page::{Page, router};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use runtime::auth::Token;
use rusqlite::Connection;
use serde_json::Value;
use shared::catalog::{GameSpec, NetworkGame};
use shared::encoding::Encoding;
use shared::encoding::dama::DamaEncoding;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::dama::Dama;
use shared::game::hive::Hive;
use shared::game::tictactoe::TicTacToe;
use shared::game::{Game, Outcome};
use shared::ids::{GameId, NetworkRef};
use shared::record::{PlyRecord, PolicyTarget};
use store::{
    Change, FinishedGame, GameKind, IterationCost, IterationRow, IterationState, MetricRow, NewGame, NewNetwork,
    RunRow, Store, StoredResult,
};
use tower::ServiceExt;

const HOST: &str = "127.0.0.1:8080";

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).expect("JSON")
    }
}

/// Asks as a browser on this machine, with more headers.
fn ask_with(router: &Router, request: axum::http::request::Builder, body: Body) -> Answer {
    let request = request.header(header::HOST, HOST).body(body).expect("a request");
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("tokio");
    tokio.block_on(async {
        let response = router.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.expect("a body").to_vec();
        Answer { status: parts.status, headers: parts.headers, bytes }
    })
}

fn ask(router: &Router, address: &str) -> Answer {
    ask_with(router, Request::get(address), Body::empty())
}

fn ok(router: &Router, address: &str) -> Value {
    let answer = ask(router, address);
    assert_eq!(answer.status, StatusCode::OK, "{address}: {}", String::from_utf8_lossy(&answer.bytes));
    answer.json()
}

fn page_of(run_dir: &Path) -> Router {
    router(Arc::new(Page::new(run_dir, None).expect("the store opens")))
}

fn open(run_dir: &Path, game: &GameSpec) -> Store {
    let config = r#"{"self_play":{"games_per_iteration":20},"gate":{"game_count":4},"alarms":{"draw_share_max":0.6}}"#;
    let game = serde_json::to_string(game).expect("JSON");
    let row = RunRow { game, config: config.into(), ..run_row() };
    Store::open(run_dir, &row).expect("the store opens")
}

/// A game played at random, and how it ended.
struct RandomGame {
    plies: Vec<PlyRecord>,
    outcome: Option<Outcome>,
    is_cut_off: bool,
}

fn random_game<E: Encoding>(encoding: &E, seed: u64) -> RandomGame {
    let (game, mut rng) = (encoding.game(), Pcg64::seed_from_u64(seed));
    let mut position = game.initial_position();
    let mut plies = Vec::new();
    while game.outcome(&position).is_none() {
        let (mut moves, mut indices) = (Vec::new(), Vec::new());
        game.legal_moves(&position, &mut moves);
        encoding.policy_indices(&position, &moves, &mut indices);
        let visits: Vec<_> = indices.iter().map(|index| (*index, rng.random_range(1..30))).collect();
        let mv = moves[rng.random_range(0..moves.len())];
        plies.push(PlyRecord {
            move_text: game.format_move(&position, mv),
            policy_target: Some(PolicyTarget::from_visits(visits).expect("visits")),
            root_value: 0.25,
            simulation_count: 9,
            network_id: Some(network_id(1)),
        });
        game.play(&mut position, mv);
    }
    RandomGame { plies, outcome: game.outcome(&position), is_cut_off: game.is_cut_off(&position) }
}

fn new_game(number: u64) -> NewGame {
    NewGame::self_play(GameId::new(number), 1, number, "{}".into())
}

fn store_game(store: &Store, game: NewGame, played: &RandomGame) {
    let game_id = game.game_id;
    let mut changes = vec![Change::CreateGame(game)];
    let ply = |(ply, record): (usize, &PlyRecord)| Change::AddPly { game_id, ply: ply as u32, record: record.clone() };
    changes.extend(played.plies.iter().enumerate().map(ply));
    let outcome = played.outcome.expect("it is over");
    changes.push(Change::FinishGame(FinishedGame {
        game_id,
        finish_number: game_id.get(),
        result: StoredResult { outcome, is_cut_off: played.is_cut_off, resignation: None },
        ply_count: played.plies.len() as u32,
        sample_count: played.plies.len() as u32,
        opening_hash: 1,
        final_hash: 2,
        moves_hash: game_id.get(),
        checksum: None,
    }));
    store.write(changes).expect("stored");
}

fn network(number: u32) -> Change {
    let file = format!("network-{number}.safetensors");
    Change::AddNetwork(NewNetwork {
        network_id: network_id(number),
        file,
        sha256: "00".into(),
        training_step: u64::from(number) * 10,
    })
}

/// A run of one iteration: two self-play games, and a gate of two that the candidate wins as White and loses as Black.
fn small_run<E: Encoding>(run_dir: &Path, game: &GameSpec, encoding: &E) -> Vec<RandomGame> {
    let store = open(run_dir, game);
    store.write(vec![network(1), Change::Promote { network_id: network_id(1) }, network(2)]).expect("stored");
    let games: Vec<RandomGame> = (1..=4).map(|seed| random_game(encoding, seed)).collect();
    for (number, played) in (1..).zip(&games) {
        let gate = |white, black| NewGame {
            kind: GameKind::Gate,
            pair_index: Some(0),
            candidate_id: Some(network_id(2)),
            white_network: NetworkRef::Id(network_id(white)),
            black_network: NetworkRef::Id(network_id(black)),
            ..new_game(number)
        };
        let game = match number {
            1 | 2 => new_game(number),
            3 => gate(2, 1),
            _ => gate(1, 2),
        };
        store_game(&store, game, played);
    }
    let metric = |name: &str, step, value| Change::AddMetric(MetricRow { name: name.into(), value, step });
    let cost = Some(IterationCost { evaluation_count: 100, training_sample_count: 50, flop: 2e15 });
    let iteration = IterationRow {
        state: IterationState::Promoted,
        candidate_id: Some(network_id(2)),
        training_step_end: Some(20),
        game_count: 2,
        position_count: 30,
        cost,
        ..IterationRow::new(1, 0)
    };
    let changes = vec![
        Change::Promote { network_id: network_id(2) },
        metric("draw_share", 0, 0.5),
        metric("policy_loss", 10, 2.0),
        metric("policy_loss", 20, 1.5),
        metric("policy_loss", 21, f64::NAN),
        Change::PutIteration(iteration),
        Change::PutIteration(IterationRow::new(2, 20)),
    ];
    store.write(changes).expect("stored");
    games
}

/// Checks every answer about a small run, and that each stored game is shown board by board.
fn check_game<E: Encoding>(game: &GameSpec, encoding: &E) {
    let run_dir = tempfile::tempdir().expect("a directory");
    let games = small_run(run_dir.path(), game, encoding);
    let page = page_of(run_dir.path());
    let overview = ok(&page, "/api/overview");
    assert_eq!(overview["best"]["generation"], 1);
    assert_eq!(overview["progress"]["iteration"], 2);
    assert_eq!((&overview["totals"]["self_play_games"], &overview["cost"]["pflop"]), (&2.into(), &2.0.into()));
    let line = &overview["recent"][1];
    assert_eq!(
        (&line["generation"], &line["candidate_id"], &line["state"]),
        (&1.into(), &2.into(), &"promoted".into())
    );
    let gate = ["wins", "draws", "losses"].map(|key| line["gate"][key].as_u64().expect("a count"));
    assert_eq!(gate.iter().sum::<u64>(), 2);
    let elo = ok(&page, "/api/elo");
    assert_eq!(elo["chain"].as_array().expect("points").len(), 2);
    assert_eq!(ok(&page, "/api/games?kind=gate&iteration=1")["games"].as_array().expect("games").len(), 2);
    assert_eq!(ok(&page, "/api/games?iteration=2")["games"].as_array().expect("games").len(), 0);
    for (number, played) in (1..).zip(&games) {
        let told = ok(&page, &format!("/api/games/{number}"));
        assert_eq!(told["problem"], Value::Null);
        let moves: Vec<&str> =
            told["plies"].as_array().expect("plies").iter().map(|ply| ply["move"].as_str().expect("text")).collect();
        let expected: Vec<&str> = played.plies.iter().map(|ply| ply.move_text.as_str()).collect();
        assert_eq!(moves, expected);
        assert_eq!(told["boards"].as_array().expect("boards").len(), moves.len() + 1);
        check_shares(&told);
        let position = ok(&page, &format!("/api/position?game={number}&ply={}", moves.len()));
        assert_eq!(position["board"], told["boards"][moves.len()]);
        assert_eq!(position["legal"].as_array().expect("moves").len(), 0, "the game is over");
    }
    let first = games[0].plies[0].move_text.clone();
    let tried = form_urlencoded::Serializer::new(String::new()).append_pair("moves", &first).finish();
    assert_eq!(ok(&page, &format!("/api/position?{tried}"))["ply"], 1);
}

#[test]
fn a_game_without_plies_is_told_as_one() {
    let (game, encoding) = (GameSpec::TicTacToe {}, TicTacToeEncoding::new(TicTacToe));
    let run_dir = tempfile::tempdir().expect("a directory");
    small_run(run_dir.path(), &game, &encoding);
    open(run_dir.path(), &game).write(vec![Change::ThinGame { game_id: GameId::new(1) }]).expect("thinned");
    let page = page_of(run_dir.path());
    let told = ok(&page, "/api/games/1");
    assert_eq!(
        (&told["is_thinned"], &told["problem"], &told["state"]),
        (&true.into(), &Value::Null, &"finished".into())
    );
    assert_eq!((told["plies"].as_array().map(Vec::len), told["boards"].as_array().map(Vec::len)), (Some(0), Some(1)));
    assert_eq!(ok(&page, "/api/games/2")["is_thinned"], false);
    assert_eq!(ok(&page, "/api/games?kind=self_play")["games"].as_array().map(Vec::len), Some(2), "it is still listed");
    let answer = ask(&page, "/api/position?game=1");
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(String::from_utf8_lossy(&answer.bytes).contains("the plies of game 1 were removed"));
}

/// The shares of a ply are those of its target, and White's value turns with the side to move.
fn check_shares(told: &Value) {
    for (index, ply) in told["plies"].as_array().expect("plies").iter().enumerate() {
        let shares = ply["shares"].as_array().expect("shares");
        let sum: f64 = shares.iter().map(|one| one["share"].as_f64().expect("a share")).sum();
        let other = ply["other_share"].as_f64().expect("a share");
        assert!((sum + other - 1.0).abs() < 0.02, "ply {index}: {sum} and {other}");
        assert!(shares.is_sorted_by(|a, b| a["share"].as_f64() >= b["share"].as_f64()));
        let sign = if ply["side"] == "white" { 0.25 } else { -0.25 };
        assert_eq!(ply["value"], sign);
    }
}

#[test]
fn a_run_of_tic_tac_toe_is_told() {
    check_game(&GameSpec::TicTacToe {}, &TicTacToeEncoding::new(TicTacToe));
}

#[test]
fn a_run_of_hive_is_told() {
    check_game(&Hive::default().spec(16), &HiveEncoding::new(Hive::default(), 16));
}

#[test]
fn a_run_of_draughts_is_told() {
    let encoding = DamaEncoding::new(Dama::default(), Dama::USUAL_VIEW);
    check_game(&Dama::default().spec(Dama::USUAL_VIEW), &encoding);
}

#[test]
fn what_is_not_there_or_cannot_be_read_is_named_as_json() {
    let run_dir = tempfile::tempdir().expect("a directory");
    small_run(run_dir.path(), &GameSpec::TicTacToe {}, &TicTacToeEncoding::new(TicTacToe));
    let page = page_of(run_dir.path());
    let cases = [
        ("/api/games/99", 404, "there is no game 99"),
        ("/api/games/x", 404, "there is no game"),
        ("/api/nothing", 404, "there is nothing at /api/nothing"),
        ("/api/position?game=1&ply=99", 404, "plies"),
        ("/api/games?kind=chess", 400, "kind: \"chess\" is not"),
        ("/api/games?iteration=-1", 400, "iteration: \"-1\""),
        ("/api/games?limit=0", 400, "limit: 0 is not in 1..=200"),
        ("/api/games?kin=gate", 400, "kin: is not known here"),
        ("/api/position?moves=z9", 400, "moves: cannot read move"),
        ("/api/position?ply=1", 400, "ply: goes with game"),
        ("/api/position?evaluate=1", 503, "no network to ask"),
        ("/api/series?names=a&points=100000", 400, "points"),
    ];
    for (address, status, text) in cases {
        let answer = ask(&page, address);
        let error = answer.json()["error"].as_str().expect("an error").to_owned();
        assert_eq!(answer.status.as_u16(), status, "{address}: {error}");
        assert!(error.contains(text), "{address}: {error}");
    }
    assert_eq!(ok(&page, "/api/series?names=never_measured")["series"]["never_measured"]["value_count"], 0);
    let losses = ok(&page, "/api/series?names=policy_loss,draw_share");
    assert_eq!(losses["series"]["policy_loss"]["x"], serde_json::json!([10, 20]), "what is not finite is left out");
    assert_eq!(losses["series"]["draw_share"]["over"], "iteration");
}

#[test]
fn the_page_is_for_those_who_show_the_token() {
    let run_dir = tempfile::tempdir().expect("a directory");
    small_run(run_dir.path(), &GameSpec::TicTacToe {}, &TicTacToeEncoding::new(TicTacToe));
    let token = Token::new("secret").expect("a token");
    let page = router(Arc::new(Page::new(run_dir.path(), Some(&token)).expect("the store opens")));
    let status = |address: &str| ask(&page, address).status.as_u16();
    assert_eq!((status("/api/overview"), status("/app.js"), status("/")), (401, 401, 401));
    assert_eq!((status("/login"), status("/style.css")), (200, 200), "what the form needs");
    assert!(String::from_utf8_lossy(&ask(&page, "/").bytes).contains("<form"));
    let bearer = |token: &str| {
        let request = Request::get("/api/overview").header(header::AUTHORIZATION, format!("Bearer {token}"));
        ask_with(&page, request, Body::empty()).status.as_u16()
    };
    assert_eq!((bearer("secret"), bearer("secre"), bearer("secret2")), (200, 401, 401));
    let form = |token: &str| ask_with(&page, Request::post("/login"), Body::from(format!("token={token}")));
    assert_eq!(form("wrong").status, StatusCode::UNAUTHORIZED);
    for welcome in [form("secret"), ask(&page, "/?token=secret")] {
        let cookie = welcome.headers[header::SET_COOKIE].to_str().expect("text").to_owned();
        assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("secret"), "{cookie}");
        let pair = cookie.split(';').next().expect("a pair");
        let request = Request::get("/api/overview").header(header::COOKIE, pair);
        assert_eq!(ask_with(&page, request, Body::empty()).status, StatusCode::OK);
    }
    assert_eq!(status("/?token=wrong"), 401);
    let large = ask_with(&page, Request::post("/login"), Body::from(vec![b'a'; 20_000]));
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn a_browser_runs_what_the_page_carries_and_nothing_else() {
    let run_dir = tempfile::tempdir().expect("a directory");
    small_run(run_dir.path(), &GameSpec::TicTacToe {}, &TicTacToeEncoding::new(TicTacToe));
    let page = page_of(run_dir.path());
    let html = ask(&page, "/");
    let policy = html.headers[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let text = String::from_utf8(html.bytes).expect("text");
    let scripts = ["/app.js", "/dom.js", "/charts.js", "/overview.js", "/games.js", "/board.js"];
    for path in scripts.iter().chain(&["/style.css", "/icon.svg"]) {
        assert!(text.contains(path), "{path} is not in the page");
        let file = ask(&page, path);
        assert_eq!(file.status, StatusCode::OK, "{path}");
        let known = Request::get(*path).header(header::IF_NONE_MATCH, file.headers[header::ETAG].clone());
        assert_eq!(ask_with(&page, known, Body::empty()).status, StatusCode::NOT_MODIFIED, "{path}");
        let content = String::from_utf8(file.bytes).expect("text");
        let elsewhere = content.matches("http").filter(|_| !content.contains("http://www.w3.org/2000/svg")).count();
        assert_eq!(elsewhere, 0, "{path} names another address");
    }
    let foreign = Request::get("/api/overview").header(header::HOST, "evil.example");
    let request = foreign.body(Body::empty()).expect("a request");
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("tokio");
    let answer = tokio.block_on(page.oneshot(request)).expect("an answer");
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "a name that is not this machine's");
}

/// Fills a store with a run of ten thousand iterations, each with a gate of two games, and every second one promoted.
fn long_run(run_dir: &Path) {
    drop(open(run_dir, &GameSpec::TicTacToe {}));
    let database = Connection::open(run_dir.join("alveare.db")).expect("the database opens");
    let fill = "
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO networks SELECT i, iif(i % 2 = 1, i / 2, NULL), 'n', '0', i * 100,
            iif(i % 2 = 0, 'rejected', iif(i = 9999, 'best', 'former_best')), '2026-01-01T00:00:00Z' FROM n;
        INSERT INTO iterations SELECT network_id, iif(generation IS NULL, 'rejected', 'promoted'), network_id * 3,
            network_id * 100 - 100, network_id * 100, network_id, 20, 400, created_at, created_at, 5, 6, 7e12 FROM networks;
        INSERT INTO games (game_id, kind, iteration, pair_index, candidate_id, white_network_id, black_network_id, seed,
                settings, opening, opening_ply_count, state, finish_number, result, ply_count, created_at)
            SELECT network_id * 2 + colour, 'gate', network_id, 0, network_id, iif(colour, network_id, 1),
                iif(colour, 1, network_id), 1, '{}', '', 0, 'finished', network_id * 2 + colour, 'white', 9, created_at
            FROM networks, (SELECT 0 AS colour UNION SELECT 1);
        INSERT INTO metrics SELECT created_at, name, abs(random() % 1000) / 1000.0, training_step + part * 25
            FROM networks, (SELECT 'policy_loss' AS name UNION SELECT 'value_loss' UNION SELECT 'learning_rate'),
                (SELECT 0 AS part UNION SELECT 1 UNION SELECT 2 UNION SELECT 3);
        INSERT INTO metrics SELECT created_at, name, 0.25, training_step - 100
            FROM networks, (SELECT 'draw_share' AS name UNION SELECT 'cut_off_share' UNION SELECT 'mean_ply_count');";
    database.execute_batch(fill).expect("filled");
}

#[test]
fn ten_thousand_iterations_fit_a_telephone() {
    let run_dir = tempfile::tempdir().expect("a directory");
    long_run(run_dir.path());
    let page = page_of(run_dir.path());
    let names = "policy_loss,value_loss,learning_rate,draw_share,cut_off_share,mean_ply_count";
    let asked =
        ["/api/overview".to_owned(), format!("/api/series?names={names}&points=300"), "/api/elo?points=300".into()];
    let answers = asked.each_ref().map(|address| ask(&page, address));
    for (address, answer) in asked.iter().zip(&answers) {
        assert_eq!(answer.status, StatusCode::OK, "{address}");
        assert!(answer.bytes.len() < 100_000, "{address}: {} bytes", answer.bytes.len());
    }
    assert_eq!(answers[0].json()["totals"]["iterations"], 10_000);
    let series = &answers[1].json()["series"];
    for (name, values) in [("policy_loss", 40_000), ("draw_share", 10_000)] {
        let points = series[name]["x"].as_array().expect("points").len();
        assert!((200..=300).contains(&points), "{name}: {points} points");
        assert_eq!(series[name]["value_count"], values);
    }
    assert_eq!(series["draw_share"]["x"].as_array().expect("points").last(), Some(&10_000.into()));
    let elo = answers[2].json();
    let chain = elo["chain"].as_array().expect("points");
    assert!((200..=302).contains(&chain.len()), "{} points", chain.len());
    assert_eq!((&elo["generation_count"], &chain[chain.len() - 1]["generation"]), (&5000.into(), &4999.into()));
    // A list is read part by part, from the newest to the first.
    let (mut before, mut count) = (String::new(), 0);
    loop {
        let part = ok(&page, &format!("/api/iterations?limit=200&before={before}"));
        count += part["iterations"].as_array().expect("iterations").len();
        match part["next_before"].as_u64() {
            Some(next) => before = next.to_string(),
            None => break,
        }
    }
    assert_eq!(count, 10_000);
    let found = ok(&page, "/api/games?iteration=1234");
    let ids: Vec<u64> =
        found["games"].as_array().expect("games").iter().filter_map(|it| it["game_id"].as_u64()).collect();
    assert_eq!(ids, [2469, 2468]);
}

#[test]
fn a_learner_at_work_shows_its_page_and_its_opinion() {
    let mut system = System::new(&[]);
    let mut learner = system.start_learner(&["--page", "127.0.0.1:0"]);
    let line = learner.wait_for("web page page=");
    let address = line.split("http://").nth(1).expect("an address").trim_end_matches(['"', '/']).to_owned();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("tokio");
    let get = |path: &str| -> Value {
        tokio.block_on(async {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let mut stream = tokio::net::TcpStream::connect(&address).await.expect("it listens");
            let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.expect("sent");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("answered");
            let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
            assert!(head.starts_with("HTTP/1.1 200"), "{path}: {answer}");
            serde_json::from_str(body).expect("JSON")
        })
    };
    let overview = get("/api/overview");
    assert_eq!(overview["game_name"], "tictactoe");
    assert!(overview["live"]["waiting_for"].is_string() && overview["has_network"] == true, "{overview}");
    let position = get("/api/position?moves=b2&evaluate=1");
    assert_eq!((&position["evaluation"]["network_id"], &position["evaluation"]["generation"]), (&1.into(), &0.into()));
    let priors = position["evaluation"]["priors"].as_array().expect("priors");
    let sum: f64 = priors.iter().filter_map(Value::as_f64).sum();
    assert_eq!(priors.len(), 8);
    assert!((sum - 1.0).abs() < 0.01, "{sum}");
}
