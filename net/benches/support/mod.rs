//! What the benchmarks of networks share: the network first described for draughts, and positions for it.

use net::{Architecture, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
use shared::catalog::NetworkGame;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::{Encoding, NetworkInput, TrainingBatch};
use shared::game::Game;

/// Returns the network first described for draughts: 4 convolutions of 64.
pub fn dama_cnn() -> NetworkSpec {
    let settings = NetworkSettings {
        architecture: Architecture::DamaCnn,
        blocks: 4,
        filters: 64,
        trunk: Trunk::Frame,
        policy_head: PolicyHead::Full,
        value_hidden: 64,
        global_pooling_every: 0,
        outlook_heads: false,
    };
    dama_network(settings)
}

/// Returns a network of this size for draughts.
pub fn dama_network(settings: NetworkSettings) -> NetworkSpec {
    let encoding = dama_encoding();
    NetworkSpec::new(&encoding.game().spec(PolicyCoding::Lossless), settings).expect("such a network can be")
}

/// How draughts are shown to these networks.
pub fn dama_encoding() -> DamaEncoding {
    DamaEncoding::new(shared::game::dama::Dama::default(), PolicyCoding::Lossless)
}

/// Positions of random games of draughts, with their own moves.
pub fn dama_input(count: usize) -> NetworkInput {
    let encoding = dama_encoding();
    let game = encoding.game();
    let mut input = NetworkInput::default();
    let mut position = game.initial_position();
    let (mut moves, mut policy_indices) = (Vec::new(), Vec::new());
    for number in 0..count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        if moves.is_empty() {
            position = game.initial_position();
            game.legal_moves(&position, &mut moves);
        }
        policy_indices.clear();
        encoding.policy_indices(&position, &moves, &mut policy_indices);
        input.push(&encoding, &position, &policy_indices).expect("legal moves have indices");
        game.play(&mut position, moves[number * 7 % moves.len()]);
    }
    input
}

/// Returns what to learn from these positions: every move is as good, every position a little better than even.
pub fn batch(input: NetworkInput) -> TrainingBatch {
    let count = input.len();
    let shares = (0..count).flat_map(|position| {
        let moves = input.move_range(position).len();
        std::iter::repeat_n(1.0 / moves as f32, moves)
    });
    TrainingBatch { policy_targets: shares.collect(), value_targets: vec![0.5; count], input, ..Default::default() }
}
