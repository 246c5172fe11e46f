//! Records: policy targets in and out, games replayed through the rules, samples made into training batches.

use proptest::prelude::*;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::encoding::{Encoding, Symmetry, TrainingBatch};
use shared::game::dama::Dama;
use shared::game::tictactoe::TicTacToe;
use shared::game::{MoveError, Outcome, Side};
use shared::record::batch::{SampleError, SampleScratch, StoredSample, push_sample};
use shared::record::{
    GameRecord, PlyRecord, PolicyTarget, PolicyTargetError, ReplayError, ReplayState, Sample, ValueTargetRule, replay,
};

fn encoding() -> TicTacToeEncoding {
    TicTacToeEncoding::new(TicTacToe)
}

fn target(visits: &[(u16, u32)]) -> PolicyTarget {
    PolicyTarget::from_visits(visits.iter().copied()).expect("visits of a test")
}

fn ply(move_text: &str, visits: &[(u16, u32)]) -> PlyRecord {
    let policy_target = (!visits.is_empty()).then(|| target(visits));
    PlyRecord { move_text: move_text.into(), policy_target, ..PlyRecord::default() }
}

/// White wins on the top row: a3 b3 c3 (squares 0, 1, 2).
fn won_game() -> GameRecord {
    let plies = vec![
        ply("a3", &[]),
        ply("a1", &[(6, 3), (4, 1)]),
        ply("b3", &[(1, 4)]),
        ply("b1", &[(7, 2)]),
        ply("c3", &[(2, 9)]),
    ];
    GameRecord { opening_ply_count: 1, plies, ..GameRecord::default() }
}

#[test]
fn a_won_game_gives_values_from_both_sides() {
    let game = replay(&encoding(), &won_game()).expect("the game is legal");
    assert_eq!(game.outcome, Some(Outcome::Win(Side::White)));
    assert_eq!((game.ply_count, game.is_cut_off), (5, false));
    let values: Vec<f32> = game.samples.iter().map(|sample| sample.outcome_value).collect();
    assert_eq!(values, [-1.0, 1.0, -1.0, 1.0]);
    assert_eq!(game.samples[0].policy_target.pairs(), [(4, 1), (6, 3)]);
    assert_eq!(game.samples[0].packed, [1, 0, 0, 0], "White stands on a3");
}

#[test]
fn an_unfinished_game_has_no_samples() {
    let mut record = won_game();
    record.plies.pop();
    let game = replay(&encoding(), &record).expect("the game is legal");
    assert_eq!((game.outcome, game.samples.len()), (None, 0));
}

#[test]
fn a_game_that_a_side_resigned_is_lost_for_it() {
    for (loser, expected) in [(Side::White, [1.0, -1.0, 1.0]), (Side::Black, [-1.0, 1.0, -1.0])] {
        let mut record = GameRecord { resigned_by: Some(loser), ..won_game() };
        assert_eq!(replay(&encoding(), &record), Err(ReplayError::Resigned { ply_count: 5 }), "it was over");
        record.plies.pop();
        let game = replay(&encoding(), &record).expect("the game is legal");
        assert_eq!((game.outcome, game.is_cut_off), (Some(Outcome::Win(loser.opponent())), false));
        let values: Vec<f32> = game.samples.iter().map(|sample| sample.outcome_value).collect();
        assert_eq!(values, expected, "Black, White, Black to move");
        assert!(game.samples.iter().all(|sample| sample.outlook.is_some_and(|outlook| outlook.ending.is_none())));
        let targets = ValueTargetRule::default().of_game(&game.samples, game.is_cut_off);
        assert_eq!(targets, expected);
    }
}

#[test]
fn opening_plies_give_no_samples_even_with_a_target() {
    let record = GameRecord { opening_ply_count: 3, ..won_game() };
    assert_eq!(replay(&encoding(), &record).expect("the game is legal").samples.len(), 2);
}

#[test]
fn errors_name_the_ply() {
    let broken = |index: usize, ply: PlyRecord| {
        let mut record = won_game();
        record.plies[index] = ply;
        replay(&encoding(), &record).expect_err("the game is broken")
    };
    assert!(matches!(broken(3, ply("a3", &[])), ReplayError::Move { ply: 3, source: MoveError::Illegal { .. } }));
    assert!(matches!(broken(2, ply("z9", &[])), ReplayError::Move { ply: 2, source: MoveError::Unreadable { .. } }));
    assert_eq!(broken(2, ply("b3", &[(0, 1)])), ReplayError::PolicyIndex { ply: 2, policy_index: 0 });
    assert_eq!(broken(2, ply("b3", &[(900, 1)])), ReplayError::PolicyIndex { ply: 2, policy_index: 900 });
    let rubbish = PlyRecord { root_value: f32::NAN, ..ply("b3", &[]) };
    assert!(matches!(broken(2, rubbish), ReplayError::RootValue { ply: 2, .. }));
    let record = GameRecord { opening_ply_count: 6, ..won_game() };
    assert!(matches!(replay(&encoding(), &record), Err(ReplayError::Opening { opening_ply_count: 6, ply_count: 5 })));
}

/// A king takes a man, from a position in which Black is to move.
#[test]
fn a_game_begins_where_its_record_says() {
    let encoding = DamaEncoding::new(Dama::default(), PolicyCoding::Lossless);
    let plies = vec![ply("1x10", &[])];
    let record = GameRecord { start: Some("B:W5,30:BK1,K32".into()), plies, ..GameRecord::default() };
    let game = replay(&encoding, &record).expect("legal from there");
    assert_eq!((game.outcome, game.ply_count), (None, 1));
    let elsewhere = GameRecord { start: None, ..record.clone() };
    assert!(matches!(replay(&encoding, &elsewhere), Err(ReplayError::Move { ply: 0, .. })));
    let nowhere = GameRecord { start: Some("B:W5".into()), ..record };
    let error = replay(&encoding, &nowhere).expect_err("no position").to_string();
    assert!(error.starts_with("start position \"B:W5\": a position is written like"), "{error}");
}

#[test]
fn a_game_that_is_over_takes_no_more_plies() {
    let mut record = won_game();
    record.plies.push(ply("a2", &[]));
    let error = replay(&encoding(), &record).expect_err("the game was over");
    assert!(matches!(error, ReplayError::Move { ply: 5, source: MoveError::GameOver { .. } }), "{error}");
}

#[test]
fn a_refused_ply_leaves_the_game_as_it_was() {
    let mut state = ReplayState::new(encoding(), None, 0).expect("the initial position");
    for ply in &won_game().plies[..2] {
        state.play(ply).expect("legal");
    }
    for refused in [ply("a1", &[]), ply("b3", &[(0, 1)]), ply("", &[])] {
        let before = *state.position();
        state.play(&refused).expect_err("refused");
        assert_eq!((*state.position(), state.ply_count()), (before, 2));
    }
    for ply in &won_game().plies[2..] {
        state.play(ply).expect("legal");
    }
    assert_eq!(state.outcome(), Some(Outcome::Win(Side::White)));
    assert_eq!(state.finish().samples.len(), 4);
}

#[test]
fn targets_are_checked() {
    let read = PolicyTarget::from_bytes;
    assert_eq!(read(&[1, 0, 2]), Err(PolicyTargetError::Length(3)));
    assert_eq!(read(&[]), Err(PolicyTargetError::NoWeight));
    assert_eq!(read(&[1, 0, 0, 0]), Err(PolicyTargetError::NoWeight));
    assert_eq!(read(&[1, 0, 1, 0, 1, 0, 1, 0]), Err(PolicyTargetError::Order(1)));
    assert_eq!(read(&[2, 0, 1, 0, 1, 0, 1, 0]), Err(PolicyTargetError::Order(1)));
    assert_eq!(read(&[1; 4 * 4097]), Err(PolicyTargetError::TooLong(4097)));
    assert_eq!(PolicyTarget::from_visits([(3, 1), (2, 4), (3, 2)]), PolicyTarget::from_visits([(2, 4), (3, 3)]));
    assert_eq!(PolicyTarget::from_visits([(3, 0)]), Err(PolicyTargetError::NoWeight));
    assert_eq!(PolicyTarget::from_shares([(3, 0.0), (4, f32::NAN)]), Err(PolicyTargetError::NoWeight));
    assert_eq!(target(&[(9, 5), (2, 0), (1, 1)]).to_bytes(), [1, 0, 1, 0, 9, 0, 5, 0]);
}

#[test]
fn large_counts_are_scaled_and_none_is_lost() {
    let scaled = target(&[(0, 1_000_000), (1, 500_000), (2, 1)]);
    assert_eq!(scaled.pairs(), [(0, 65_535), (1, 32_767), (2, 1)]);
}

fn turned_batch(sample: &Sample, symmetry: Symmetry) -> Result<TrainingBatch, SampleError> {
    let bytes = sample.policy_target.to_bytes();
    let stored = StoredSample {
        packed: &sample.packed,
        policy_target: &bytes,
        value_target: sample.outcome_value,
        outlook: None,
    };
    let mut batch = TrainingBatch::default();
    push_sample(&encoding(), &stored, symmetry, &mut batch, &mut SampleScratch::new(&encoding()))?;
    Ok(batch)
}

#[test]
fn shares_stay_with_their_moves_under_every_symmetry() {
    // White on a3 (square 0); of Black's visits three fall on a1 (6), one on the middle (4).
    let sample = replay(&encoding(), &won_game()).expect("legal").samples.remove(0);
    for symmetry in 0..8 {
        let batch = turned_batch(&sample, Symmetry(symmetry)).expect("a good sample");
        let planes = batch.input.planes.to_dense(encoding().plane_shape());
        let stone = planes[9..].iter().position(|mark| *mark == 1.0).expect("White's mark is plane 1");
        let share_at = |square: u16| {
            let index = batch.input.policy_indices.iter().position(|index| *index == square);
            index.map_or(0.0, |index| batch.policy_targets[index])
        };
        assert_eq!(share_at(4), 0.25, "the middle stays the middle");
        assert_eq!(batch.policy_targets.iter().sum::<f32>(), 1.0);
        assert_eq!(batch.policy_targets.len(), 8);
        let corner = [0u16, 2, 6, 8].into_iter().find(|corner| share_at(*corner) == 0.75).expect("a corner");
        assert_ne!(usize::from(corner) + stone, 8, "a1 is next to a3, not across");
        assert_eq!(batch.value_targets, [-1.0]);
    }
}

#[test]
fn bad_samples_are_refused_and_leave_the_batch_alone() {
    let sample = replay(&encoding(), &won_game()).expect("legal").samples.remove(0);
    let mut batch = turned_batch(&sample, Symmetry(1)).expect("a good sample");
    let before = (batch.input.planes.clone(), batch.policy_targets.clone(), batch.value_targets.clone());
    let mut scratch = SampleScratch::new(&encoding());
    let good = [6, 0, 3, 0];
    let stored =
        |packed, policy_target, value_target| StoredSample { packed, policy_target, value_target, outlook: None };
    for (sample, symmetry) in [
        (stored(&[1, 0, 0][..], &good[..], 0.0), 0),
        (stored(&[1, 0, 1, 0], &good, 0.0), 0),
        (stored(&[1, 0, 0, 0], &[0, 0, 3, 0], 0.0), 0),
        (stored(&[1, 0, 0, 0], &[255, 255, 3, 0], 0.0), 0),
        (stored(&[1, 0, 0, 0], &[6, 0, 0, 0], 0.0), 0),
        (stored(&[1, 0, 0, 0], &[6, 0, 3], 0.0), 0),
        (stored(&[1, 0, 0, 0], &good, f32::NAN), 0),
        (stored(&[1, 0, 0, 0], &good, 0.0), 8),
    ] {
        push_sample(&encoding(), &sample, Symmetry(symmetry), &mut batch, &mut scratch).expect_err("refused");
        assert_eq!(before, (batch.input.planes.clone(), batch.policy_targets.clone(), batch.value_targets.clone()));
    }
    push_sample(&encoding(), &stored(&[1, 0, 0, 0], &good, 0.0), Symmetry(7), &mut batch, &mut scratch)
        .expect("the scratch memory is clean again");
    assert_eq!(batch.input.len(), 2);
    assert_eq!(batch.policy_targets[8..].iter().sum::<f32>(), 1.0);
}

proptest! {
    #[test]
    fn targets_survive_their_bytes(visits in prop::collection::btree_map(any::<u16>(), 1u32..=65_535, 1..200)) {
        let target = PolicyTarget::from_visits(visits.clone()).expect("visited");
        let bytes = target.to_bytes();
        prop_assert_eq!(PolicyTarget::from_bytes(&bytes), Ok(target.clone()));
        prop_assert_eq!(u64::from(target.weight_sum()), visits.values().map(|count| u64::from(*count)).sum::<u64>());
    }

    #[test]
    fn rubbish_is_a_target_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(target) = PolicyTarget::from_bytes(&bytes) {
            prop_assert_eq!(target.to_bytes(), bytes);
        }
    }

    #[test]
    fn rubbish_samples_never_panic(
        packed in prop::collection::vec(any::<u8>(), 0..6),
        policy_target in prop::collection::vec(any::<u8>(), 0..16),
        value_target in any::<f32>(),
        symmetry in any::<u8>(),
    ) {
        let mut batch = TrainingBatch::default();
        let stored = StoredSample { packed: &packed, policy_target: &policy_target, value_target, outlook: None };
        let pushed =
            push_sample(&encoding(), &stored, Symmetry(symmetry), &mut batch, &mut SampleScratch::new(&encoding()));
        prop_assert_eq!(pushed.is_ok(), batch.input.len() == 1);
    }
}

#[test]
fn shares_become_weights_of_65535() {
    let pairs =
        |shares: &[(u16, f32)]| PolicyTarget::from_shares(shares.iter().copied()).expect("shares").pairs().to_vec();
    assert_eq!(pairs(&[(7, 1.0)]), [(7, 65_535)]);
    assert_eq!(pairs(&[(9, 0.25), (2, 0.5), (9, 0.25)]), [(2, 32_768), (9, 32_768)], "moves of one index are added up");
    assert_eq!(pairs(&[(1, 1.0), (2, 1e-6), (3, -1.0)]), [(1, 65_535)], "what rounds to 0 is left out");
    assert_eq!(pairs(&[(1, 0.001), (2, 0.003)]), [(1, 16_384), (2, 49_151)], "whatever their sum is");
    let many = PolicyTarget::from_shares((0..4096).map(|index| (index, 1.0))).expect("as many as may be");
    assert_eq!(many.weight_sum(), 65_536);
}
