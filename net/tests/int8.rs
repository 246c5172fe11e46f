//! Answers in whole numbers of 8 bits beside those in 32 bits, by trained networks: those that come with the programs.

use std::path::Path;

use net::{
    Architecture, Device, InferenceNetwork, Network, NetworkFile, NetworkOutput, NetworkSettings, NetworkSpec,
    PolicyHead, Precision, Trunk,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::catalog::NetworkGame;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::hive::Hive;
use shared::precision::AnswerPrecision;

fn ready(name: &str) -> (Network, NetworkFile) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../networks").join(name);
    let file = NetworkFile::read(&path).expect("it comes with the project");
    (file.load(Device::CPU).expect("it can be loaded"), file)
}

fn open(network: &Network, precision: Precision) -> InferenceNetwork {
    InferenceNetwork::new(network, Device::CPU, precision, &[]).expect("it can answer")
}

fn answer(network: &mut InferenceNetwork, input: &NetworkInput) -> NetworkOutput {
    let mut output = NetworkOutput::default();
    network.evaluate(input, &mut output).expect("an answer");
    output
}

/// Positions of games that `network` plays, each move drawn by its priors.
fn positions<E: Encoding>(encoding: &E, network: &mut InferenceNetwork, count: usize) -> NetworkInput {
    let game = encoding.game();
    let (mut random, mut position) = (Pcg64::seed_from_u64(99), game.initial_position());
    let (mut all, mut moves, mut indices) = (NetworkInput::default(), vec![], vec![]);
    while all.len() < count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        indices.clear();
        encoding.policy_indices(&position, &moves, &mut indices);
        all.push(encoding, &position, &indices).expect("a position");
        let mut one = NetworkInput::default();
        one.push(encoding, &position, &indices).expect("a position");
        let mut share: f32 = random.random();
        let drawn = answer(network, &one).priors.iter().position(|prior| {
            share -= prior;
            share < 0.0
        });
        game.play(&mut position, moves[drawn.unwrap_or(0)]);
        if game.outcome(&position).is_some() {
            position = game.initial_position();
        }
    }
    all
}

/// Mean difference of the values, and mean divergence of the priors in nats.
fn differences(input: &NetworkInput, one: &NetworkOutput, other: &NetworkOutput) -> (f32, f32) {
    let values: f32 = one.values.iter().zip(&other.values).map(|(one, other)| (one - other).abs()).sum();
    let priors = one.priors.iter().zip(&other.priors);
    let divergence: f32 = priors.map(|(p, q)| if *p > 0.0 { p * (p / q.max(1e-9)).ln() } else { 0.0 }).sum();
    (values / input.len() as f32, divergence / input.len() as f32)
}

fn check_agreement<G: NetworkGame>(name: &str) {
    let (network, file) = ready(name);
    let view = G::view_of(&file.spec().expect("a network").game).expect("one of this game");
    let encoding = G::default().encoding(view);
    let mut wide = open(&network, Precision::Float32);
    let input = positions(&encoding, &mut wide, 96);
    let (exact, mut whole) = (answer(&mut wide, &input), open(&network, Precision::Int8));
    let rounded = answer(&mut whole, &input);
    let (value, divergence) = differences(&input, &exact, &rounded);
    // Trained networks say most of it in 8 bits; what is cut off or has the wrong step says something else.
    assert!(value > 0.0 && value < 0.015, "{name}: values differ by {value}");
    assert!(divergence < 0.002, "{name}: priors diverge by {divergence} nats");
    // The steps are the network's and not the batch's, so whoever shares a batch changes nothing but last digits.
    let again = answer(&mut open(&network, Precision::Int8), &input);
    assert_eq!(again.values, rounded.values, "{name}: the same steps each time");
    let mut few = input.clone();
    few.truncate(5, few.move_range(4).end);
    let alone = answer(&mut whole, &few);
    let apart = alone.values.iter().zip(&rounded.values).map(|(one, other)| (one - other).abs());
    assert!(apart.clone().all(|difference| difference < 0.02), "{name}: {:?}", apart.collect::<Vec<_>>());
}

#[test]
fn hive_in_8_bits_says_nearly_what_it_says_in_32() {
    check_agreement::<Hive>("hive.safetensors");
}

#[test]
fn draughts_in_8_bits_say_nearly_what_they_say_in_32() {
    check_agreement::<Dama>("dama.safetensors");
}

#[test]
fn every_head_reads_what_blocks_of_8_bits_say() {
    for policy_head in [PolicyHead::Full, PolicyHead::Spatial] {
        for global_pooling_every in [0, 1] {
            let settings = NetworkSettings {
                architecture: Architecture::Residual,
                blocks: 2,
                filters: 8,
                trunk: Trunk::Cells,
                policy_head,
                value_hidden: 8,
                global_pooling_every,
                outlook_heads: true,
            };
            let spec = NetworkSpec::new(&Hive::default().spec(Hive::USUAL_VIEW), settings).expect("a network");
            let network = Network::random(&spec, Device::CPU, 3).expect("a network");
            let encoding = Hive::default().encoding(Hive::USUAL_VIEW);
            let mut wide = open(&network, Precision::Float32);
            let input = positions(&encoding, &mut wide, 8);
            let (exact, rounded) = (answer(&mut wide, &input), answer(&mut open(&network, Precision::Int8), &input));
            let (value, divergence) = differences(&input, &exact, &rounded);
            assert!(value < 0.05 && divergence < 0.05, "{policy_head:?} {global_pooling_every}: {value} {divergence}");
        }
    }
}

#[test]
fn what_cannot_be_had_is_refused_by_name() {
    let (network, _) = ready("hive.safetensors");
    let chosen = |choice, filters: u32| {
        let mut shape = *network.shape();
        shape.settings.filters = filters;
        Precision::chosen(choice, Device::CPU, &shape).map_err(|error| error.to_string())
    };
    assert_eq!(chosen(AnswerPrecision::Int8, 64), Ok(Precision::Int8));
    let refused = chosen(AnswerPrecision::Int8, 60).expect_err("words of 8 filters");
    assert_eq!(refused, "precision: int8: is for residual networks on active cells, of a multiple of 8 filters");
    let refused = chosen(AnswerPrecision::Float16, 64).expect_err("a processor");
    assert_eq!(refused, "precision: float16: a processor has none; take auto, bfloat16 or int8");
    assert!(chosen(AnswerPrecision::Auto, 60).is_ok_and(|precision| precision != Precision::Int8));
}
