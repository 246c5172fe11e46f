//! What the value is to learn from the positions of one game: its outcome, how soon it came, the search's values, or a
//! mix of both.
//!
//! Formulas and sources: `docs/training.md`, "Value targets".

use super::Sample;
use super::cut_off_target::{CutOffTarget, last_unlimited_value};
use crate::game::Side;

/// How value targets are made from a finished game.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ValueTarget {
    /// How the game ended (AlphaZero).
    #[default]
    Outcome,
    /// How the game ended, worth less the longer it takes: outcome x `discount` ^ samples that follow (Sutton and Barto
    /// 2018, 3.3). What is won sooner is worth more, so a network that wins keeps on winning instead of waiting.
    Discount {
        /// 0..=1: 1 is the outcome.
        discount: f32,
    },
    /// The lambda-return: the search's values of the positions that followed, fading by `lambda`, then the outcome
    /// (Sutton 1988).
    Td {
        /// 0..=1: 0 is the search's value of the next position alone, 1 the outcome alone.
        lambda: f32,
    },
    /// `weight` x the search's value of the position itself + (1 - `weight`) x outcome.
    Blend {
        /// 0..=1: 0 is the outcome alone, 1 the search's value alone.
        weight: f32,
    },
}

/// How value targets are made from any finished game, one that was cut off included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ValueTargetRule {
    /// What is made of the outcome and of the search's values.
    pub value_target: ValueTarget,
    /// What stands for the outcome of a game that was cut off.
    pub cut_off_target: CutOffTarget,
}

impl From<ValueTarget> for ValueTargetRule {
    /// A game that was cut off counts as a draw.
    fn from(value_target: ValueTarget) -> Self {
        Self { value_target, cut_off_target: CutOffTarget::Draw }
    }
}

impl ValueTargetRule {
    /// Returns the target of each of `samples`, the positions of one game, first to last: for the side to move there,
    /// -1..=1.
    ///
    /// A position between them that is no sample is skipped: what follows a sample is the next sample. Where
    /// nobody searched, the position's own target stands for the search's value, and the outcome in a blend.
    #[must_use]
    pub fn of_game(self, samples: &[Sample], is_cut_off: bool) -> Vec<f32> {
        let mut judged: Vec<Judged> = samples.iter().map(Judged::of).collect();
        let end = match self.cut_off_target {
            CutOffTarget::Search { horizon } if is_cut_off => last_unlimited_value(samples, horizon),
            CutOffTarget::Draw | CutOffTarget::Search { .. } => None,
        };
        let Some((end, value)) = end else { return self.value_target.of_judged(&judged) };
        // As if the game had ended there, with that value as its outcome; what came after it learns the same.
        let outcome_values = judged.iter_mut().zip(samples);
        outcome_values.for_each(|(judged, sample)| judged.outcome_value = seen_from(sample.side, value));
        let mut targets = self.value_target.of_judged(&judged[..=end]);
        targets.extend(judged[end + 1..].iter().map(|judged| judged.outcome_value));
        targets
    }

    /// Returns whether targets depend on what the search thought.
    #[must_use]
    pub fn needs_search(self) -> bool {
        let is_needed_for_all = matches!(self.value_target, ValueTarget::Td { .. } | ValueTarget::Blend { .. });
        is_needed_for_all || matches!(self.cut_off_target, CutOffTarget::Search { .. })
    }
}

/// What is known of the value of a position.
#[derive(Debug, Clone, Copy)]
struct Judged {
    side: Side,
    outcome_value: f32,
    search_value: Option<f32>,
}

impl Judged {
    fn of(sample: &Sample) -> Self {
        let Sample { side, outcome_value, search_value, .. } = *sample;
        Self { side, outcome_value, search_value }
    }
}

impl ValueTarget {
    fn of_judged(self, samples: &[Judged]) -> Vec<f32> {
        let mut targets: Vec<f32> = samples.iter().map(|sample| sample.outcome_value).collect();
        match self {
            Self::Outcome => {}
            Self::Discount { discount } => {
                let mut worth = 1.0;
                for target in targets.iter_mut().rev() {
                    *target *= worth;
                    worth *= discount;
                }
            }
            Self::Td { lambda } => fade(lambda, samples, &mut targets),
            Self::Blend { weight } => {
                for (sample, target) in samples.iter().zip(&mut targets) {
                    *target = mix(weight, sample.search_value.unwrap_or(*target), *target);
                }
            }
        }
        targets
    }
}

/// Turns outcomes into lambda-returns, last to first. What is carried from one sample to the one before it is seen from
/// White, since a side may have two plies in a row.
fn fade(lambda: f32, samples: &[Judged], targets: &mut [f32]) {
    let mut next: Option<(f32, f32)> = None;
    for (sample, target) in samples.iter().zip(targets).rev() {
        if let Some((search_value, return_)) = next {
            *target = seen_from(sample.side, mix(lambda, return_, search_value));
        }
        let search_value = sample.search_value.unwrap_or(*target);
        next = Some((seen_from(sample.side, search_value), seen_from(sample.side, *target)));
    }
}

/// Changes a value between White's view and that of `side`.
pub(super) fn seen_from(side: Side, value: f32) -> f32 {
    match side {
        Side::White => value,
        Side::Black => -value,
    }
}

/// Returns `weight` parts of `a` and the rest of `b`; exactly one of them at 0 and 1.
fn mix(weight: f32, a: f32, b: f32) -> f32 {
    (weight * a + (1.0 - weight) * b).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Outcome;
    use crate::record::PolicyTarget;
    use proptest::prelude::*;

    fn game(outcome: Outcome, plies: &[(Side, Option<f32>)]) -> Vec<Sample> {
        let policy_target = PolicyTarget::from_visits([(0, 1)]).expect("one move is a target");
        let sample = |(side, search_value): &(Side, Option<f32>)| Sample {
            packed: Vec::new(),
            side: *side,
            policy_target: policy_target.clone(),
            outcome_value: outcome.value_for(*side).get(),
            search_value: *search_value,
            outlook: None,
        };
        plies.iter().map(sample).collect()
    }

    /// Four plies that White wins; both sides come to see it.
    fn won() -> Vec<Sample> {
        let plies = [(Side::White, 0.1), (Side::Black, -0.2), (Side::White, 0.6), (Side::Black, -0.8)];
        game(Outcome::Win(Side::White), &plies.map(|(side, value)| (side, Some(value))))
    }

    fn check(rule: impl Into<ValueTargetRule>, samples: &[Sample], expected: &[f32]) {
        let rule = rule.into();
        check_found(rule, &rule.of_game(samples, false), expected);
    }

    fn check_found(rule: ValueTargetRule, found: &[f32], expected: &[f32]) {
        let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(is_close && found.len() == expected.len(), "{rule:?}: {found:?}, expected {expected:?}");
    }

    #[test]
    fn targets_of_four_plies_by_hand() {
        check(ValueTarget::Outcome, &won(), &[1.0, -1.0, 1.0, -1.0]);
        // From White: G3 = 1, G2 = 0.5 * 0.8 + 0.5 * G3 = 0.9, G1 = 0.5 * 0.6 + 0.5 * G2 = 0.75,
        // G0 = 0.5 * 0.2 + 0.5 * G1 = 0.475; Black sees the negative.
        check(ValueTarget::Td { lambda: 0.5 }, &won(), &[0.475, -0.75, 0.9, -1.0]);
        check(ValueTarget::Discount { discount: 0.5 }, &won(), &[0.125, -0.25, 0.5, -1.0]);
        check(ValueTarget::Blend { weight: 0.25 }, &won(), &[0.775, -0.8, 0.9, -0.95]);
    }

    #[test]
    fn targets_of_a_game_that_black_wins_by_hand() {
        let plies = [(Side::White, 0.4), (Side::Black, 0.0), (Side::White, -0.5), (Side::Black, 1.0)];
        let lost = game(Outcome::Win(Side::Black), &plies.map(|(side, value)| (side, Some(value))));
        // From White: G3 = -1, G2 = -1, G1 = 0.75 * -0.5 + 0.25 * -1 = -0.625, G0 = 0.75 * 0 + 0.25 * G1 = -0.15625.
        check(ValueTarget::Td { lambda: 0.25 }, &lost, &[-0.15625, 0.625, -1.0, 1.0]);
        check(ValueTarget::Blend { weight: 0.5 }, &lost, &[-0.3, 0.5, -0.75, 1.0]);
    }

    #[test]
    fn a_lambda_of_1_is_the_outcome_and_of_0_the_next_search() {
        check(ValueTarget::Td { lambda: 1.0 }, &won(), &[1.0, -1.0, 1.0, -1.0]);
        check(ValueTarget::Discount { discount: 1.0 }, &won(), &[1.0, -1.0, 1.0, -1.0]);
        check(ValueTarget::Td { lambda: 0.0 }, &won(), &[0.2, -0.6, 0.8, -1.0]);
        check(ValueTarget::Blend { weight: 0.0 }, &won(), &[1.0, -1.0, 1.0, -1.0]);
        check(ValueTarget::Blend { weight: 1.0 }, &won(), &[0.1, -0.2, 0.6, -0.8]);
    }

    #[test]
    fn the_same_side_twice_sees_with_its_own_eyes() {
        let samples = game(Outcome::Draw, &[(Side::White, Some(0.5)), (Side::White, Some(-0.25))]);
        check(ValueTarget::Td { lambda: 0.0 }, &samples, &[-0.25, 0.0]);
    }

    #[test]
    fn where_nobody_searched_the_outcome_is_learned() {
        let samples = game(Outcome::Win(Side::Black), &[(Side::White, None), (Side::Black, None)]);
        for rule in [ValueTarget::Td { lambda: 0.3 }, ValueTarget::Blend { weight: 0.7 }] {
            check(rule, &samples, &[-1.0, 1.0]);
        }
    }

    /// Six plies that are cut off: White is better until the searches see the draw at the limit.
    fn cut_off() -> Vec<Sample> {
        let values = [0.2, -0.4, 0.5, -0.6, 0.1, 0.0];
        let sides = [Side::White, Side::Black].into_iter().cycle();
        game(Outcome::Draw, &sides.zip(values.map(Some)).collect::<Vec<_>>())
    }

    fn check_cut_off(value_target: ValueTarget, horizon: u32, expected: &[f32]) {
        let rule = ValueTargetRule { value_target, cut_off_target: CutOffTarget::Search { horizon } };
        check_found(rule, &rule.of_game(&cut_off(), true), expected);
    }

    #[test]
    fn a_game_that_was_cut_off_learns_the_last_value_that_knows_no_limit() {
        // Black's -0.6 is the last search of before the limit's two positions: White stands at 0.6.
        check_cut_off(ValueTarget::Outcome, 2, &[0.6, -0.6, 0.6, -0.6, 0.6, -0.6]);
        check_cut_off(ValueTarget::Outcome, 3, &[0.5, -0.5, 0.5, -0.5, 0.5, -0.5]);
        check_cut_off(ValueTarget::Outcome, 0, &[0.0; 6]);
        check_cut_off(ValueTarget::Discount { discount: 0.5 }, 2, &[0.075, -0.15, 0.3, -0.6, 0.6, -0.6]);
        // From White: G3 = 0.6, G2 = 0.5 * 0.6 + 0.5 * G3 = 0.6, G1 = 0.5 * 0.5 + 0.5 * G2 = 0.55,
        // G0 = 0.5 * 0.4 + 0.5 * G1 = 0.475.
        check_cut_off(ValueTarget::Td { lambda: 0.5 }, 2, &[0.475, -0.55, 0.6, -0.6, 0.6, -0.6]);
        check_cut_off(ValueTarget::Blend { weight: 0.25 }, 2, &[0.5, -0.55, 0.575, -0.6, 0.6, -0.6]);
    }

    #[test]
    fn only_a_cut_off_and_only_one_with_an_earlier_search_is_no_draw() {
        let rule = ValueTargetRule { cut_off_target: CutOffTarget::Search { horizon: 2 }, ..Default::default() };
        assert_eq!(rule.of_game(&cut_off(), false), [0.0; 6], "a draw by the rules is one");
        assert_eq!(ValueTargetRule::default().of_game(&cut_off(), true), [0.0; 6], "off unless it is asked for");
        let lost = game(Outcome::Win(Side::Black), &[(Side::White, Some(0.9)), (Side::Black, Some(0.9))]);
        assert_eq!(rule.of_game(&lost, false), [-1.0, 1.0]);
        assert_eq!(rule.of_game(&cut_off()[4..], true), [0.0; 2], "no search that far from the limit");
        let mut unsearched = cut_off();
        unsearched[3].search_value = None;
        assert_eq!(rule.of_game(&unsearched, true), [0.5, -0.5, 0.5, -0.5, 0.5, -0.5], "the last that there is");
    }

    proptest! {
        #[test]
        fn targets_are_values(
            plies in prop::collection::vec((any::<bool>(), prop::option::of(-1.0f32..=1.0)), 0..20),
            winner in any::<bool>(),
            share in 0.0f32..=1.0,
            horizon in 0u32..30,
        ) {
            let side = |is_white| if is_white { Side::White } else { Side::Black };
            let plies: Vec<_> = plies.into_iter().map(|(is_white, value)| (side(is_white), value)).collect();
            let samples = game(Outcome::Win(side(winner)), &plies);
            for rule in [
                ValueTarget::Td { lambda: share },
                ValueTarget::Blend { weight: share },
                ValueTarget::Discount { discount: share },
            ] {
                let search = CutOffTarget::Search { horizon };
                for (cut_off_target, is_cut_off) in [(CutOffTarget::Draw, true), (search, true), (search, false)] {
                    let targets = ValueTargetRule { value_target: rule, cut_off_target }.of_game(&samples, is_cut_off);
                    prop_assert_eq!(targets.len(), samples.len());
                    prop_assert!(targets.iter().all(|target| (-1.0..=1.0).contains(target)), "{:?}", targets);
                }
            }
        }
    }
}
