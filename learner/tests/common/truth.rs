//! A network against the perfect player of tic-tac-toe, who knows every line because he tries them all.

use std::collections::HashMap;
use std::path::Path;

use learner::config::LearnerConfig;
use net::{Device, InferenceNetwork, Network, NetworkOutput, NetworkSpec, Precision};
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::tictactoe::{Position, Square, TicTacToe};
use shared::game::{Game, Outcome, Side, Value};
use shared::search::{Search, SearchSettings, run_search};

/// A network that plays as in a gate: a search without noise, always the most visited move.
pub struct NetworkPlayer {
    encoding: TicTacToeEncoding,
    network: InferenceNetwork,
    search: SearchSettings,
    input: NetworkInput,
    output: NetworkOutput,
    policy_indices: Vec<u16>,
    choices: HashMap<Position, Square>,
}

/// What came of all games.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub wins: u32,
    pub draws: u32,
    /// The moves of the games that the network lost.
    pub lost: Vec<String>,
}

impl NetworkPlayer {
    /// Loads the network at `path`.
    pub fn load(path: &Path, config: &LearnerConfig) -> Self {
        // Single positions: threads would cost more than they bring.
        net::set_threads(1);
        let encoding = TicTacToeEncoding::new(TicTacToe);
        let spec = NetworkSpec::new(&config.game, config.network).expect("the settings are possible");
        let network = Network::load(path, &spec, Device::CPU).expect("the network loads");
        let network = InferenceNetwork::new(&network, Device::CPU, Precision::Float32, &[]).expect("it folds");
        Self {
            encoding,
            network,
            search: config.gate.search.clone(),
            input: NetworkInput::default(),
            output: NetworkOutput::default(),
            policy_indices: Vec::new(),
            choices: HashMap::new(),
        }
    }

    /// Plays against every answer to every move: as Black, and as White after each of the nine openings.
    pub fn play_everything(&mut self) -> Score {
        let mut score = Score::default();
        let start = TicTacToe.initial_position();
        self.play_on(start, Side::Black, &mut Vec::new(), &mut score);
        let mut openings = Vec::new();
        TicTacToe.legal_moves(&start, &mut openings);
        for opening in openings {
            let mut position = start;
            TicTacToe.play(&mut position, opening);
            self.play_on(position, Side::White, &mut vec![TicTacToe.format_move(&start, opening)], &mut score);
        }
        score
    }

    /// Plays `side` with the network and every move of the other side.
    fn play_on(&mut self, position: Position, side: Side, line: &mut Vec<String>, score: &mut Score) {
        match TicTacToe.outcome(&position) {
            Some(Outcome::Draw) => return score.draws += 1,
            Some(Outcome::Win(winner)) if winner == side => return score.wins += 1,
            Some(Outcome::Win(_)) => return score.lost.push(line.join(" ")),
            None => {}
        }
        let mut moves = Vec::new();
        if TicTacToe.side_to_move(&position) == side {
            moves.push(self.choose(position));
        } else {
            TicTacToe.legal_moves(&position, &mut moves);
        }
        for mv in moves {
            line.push(TicTacToe.format_move(&position, mv));
            let mut next = position;
            TicTacToe.play(&mut next, mv);
            self.play_on(next, side, line, score);
            line.pop();
        }
    }

    fn choose(&mut self, position: Position) -> Square {
        if let Some(mv) = self.choices.get(&position) {
            return *mv;
        }
        let mut search = Search::new(TicTacToe, position, self.search.clone(), 1).expect("the game goes on");
        run_search(&mut search, |position, moves, priors| self.evaluate(position, moves, priors));
        let mv = search.choose_move();
        self.choices.insert(position, mv);
        mv
    }

    fn evaluate(&mut self, position: &Position, moves: &[Square], priors: &mut [f32]) -> Value {
        self.policy_indices.clear();
        self.encoding.policy_indices(position, moves, &mut self.policy_indices);
        self.input.clear();
        self.input.push(&self.encoding, position, &self.policy_indices).expect("legal moves have indices");
        self.network.evaluate(&self.input, &mut self.output).expect("the network answers");
        priors.copy_from_slice(&self.output.priors);
        Value::new(self.output.values[0])
    }
}
