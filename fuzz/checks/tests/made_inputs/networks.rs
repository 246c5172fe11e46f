//! Network files with tensors: a network of tic-tac-toe as small as one can be.

use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
use shared::catalog::GameSpec;

use super::{Input, cut_off};

pub fn inputs() -> Vec<Input> {
    let settings = NetworkSettings {
        architecture: Architecture::Residual,
        blocks: 0,
        filters: 1,
        trunk: Trunk::Frame,
        policy_head: PolicyHead::Spatial,
        value_hidden: 1,
        global_pooling_every: 0,
        outlook_heads: false,
    };
    let spec = NetworkSpec::new(&GameSpec::TicTacToe {}, settings).expect("such a network can be");
    let network = Network::random(&spec, Device::CPU, 1).expect("a small network");
    let whole = network.to_bytes().expect("the bytes of its file");
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    vec![
        ("network_file/cut_off_tensor", cut_off(&whole, 2)),
        ("network_file/damaged_tensor", damaged),
        ("network_file/tictactoe", whole),
    ]
}
