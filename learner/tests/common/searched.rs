//! Data sets of games that a search without a network played against itself.

use std::path::Path;

use samples::dataset::{DataSetGame, DataSetWriter};
use shared::catalog::GameSpec;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::encoding::{Encoding, Mv};
use shared::game::dama::DamaRules;
use shared::game::{Game, Value};
use shared::record::{GameRecord, PlyRecord, PolicyTarget, replay};
use shared::search::{Search, SearchSettings, run_search};

/// A game whose positions can be told apart without a network.
pub trait Judged: Encoding {
    /// How the catalog calls the game.
    fn spec(&self) -> GameSpec;
    /// Says how the side to move stands.
    fn judge(&self, position: &<Self::Game as Game>::Position) -> Value;
}

/// Writes a data set of `game_count` games, each move searched by `simulation_count` simulations. `temperature` makes
/// the games different. Returns the number of games.
pub fn write_data_set<E: Judged>(
    encoding: &E,
    path: &Path,
    game_count: u64,
    simulation_count: u32,
    temperature: f32,
) -> usize {
    let mut writer = DataSetWriter::create(path, &encoding.spec()).expect("a file");
    for seed in 0..game_count {
        let record = play(encoding, seed, simulation_count, temperature);
        let replayed = replay(encoding, &record).expect("a search plays by the rules");
        let game = DataSetGame {
            outcome: replayed.outcome.expect("the game ended"),
            is_from_endgame: false,
            is_cut_off: replayed.is_cut_off,
            ply_count: replayed.ply_count,
            samples: replayed.samples,
        };
        writer.push(&game).expect("written");
    }
    writer.finish().expect("written").games as usize
}

fn play<E: Judged>(encoding: &E, seed: u64, simulation_count: u32, temperature: f32) -> GameRecord {
    let game = encoding.game();
    let settings = SearchSettings {
        simulation_count,
        exploration: 1.5,
        dirichlet_alpha: 0.0,
        temperature,
        temperature_plies: 20,
        ..SearchSettings::default()
    };
    let mut search = Search::new(game.clone(), game.initial_position(), settings, seed).expect("a game");
    let mut plies = Vec::new();
    while game.outcome(search.position()).is_none() {
        run_search(&mut search, |position, moves, priors| {
            priors.fill(1.0 / moves.len() as f32);
            encoding.judge(position)
        });
        let (moves, visits): (Vec<Mv<E>>, Vec<u32>) = search.visit_counts().into_iter().unzip();
        let mut indices = Vec::new();
        encoding.policy_indices(search.position(), &moves, &mut indices);
        let root_value = search.root_value().get();
        let mv = search.choose_move();
        plies.push(PlyRecord {
            move_text: game.format_move(search.position(), mv),
            policy_target: PolicyTarget::from_visits(indices.into_iter().zip(visits)).ok(),
            root_value,
            simulation_count,
            network_id: None,
        });
        search.play(mv);
    }
    GameRecord { plies, ..GameRecord::default() }
}

impl Judged for TicTacToeEncoding {
    fn spec(&self) -> GameSpec {
        GameSpec::TicTacToe {}
    }

    /// Nobody knows before the end.
    fn judge(&self, _position: &<Self::Game as Game>::Position) -> Value {
        Value::new(0.0)
    }
}

impl Judged for DamaEncoding {
    fn spec(&self) -> GameSpec {
        GameSpec::Dama { rules: DamaRules::default(), policy: PolicyCoding::Lossless }
    }

    /// Counts the pieces: a king is worth three men.
    fn judge(&self, position: &<Self::Game as Game>::Position) -> Value {
        let board = position.board();
        let strength = |side| (board.men(side).count_ones() + 3 * board.kings(side).count_ones()) as f32;
        let side = position.side_to_move();
        Value::new(((strength(side) - strength(side.opponent())) / 4.0).tanh())
    }
}
