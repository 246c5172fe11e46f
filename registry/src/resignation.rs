//! When a side resigns a self-play game, and which games are played on to see whether it would have been right.
//!
//! AlphaGo Zero resigns and plays a tenth of its games on (Silver et al. 2017, "Self-play" in Methods); KataGo asks that
//! some turns in a row of both sides agree. What is decided follows from the plies alone: `docs/training.md`, "Resignation".

use shared::game::{Outcome, Side};
use shared::ids::GameId;
use shared::seed::mix_seed;
use store::{GameKind, NewGame, Resignation};

use super::open_game::SearchedPly;

/// Mixed into the run's seed for the draw of the games that are played on.
const PLAYED_ON_SEED: u64 = 0x7265_7369_676e;

/// When a side resigns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResignationRule {
    /// A side resigns whose searches say at most minus this, 0..=1; 0: nobody resigns.
    pub value: f32,
    /// Plies of either side that must agree, the newest ones, at least 1.
    pub plies: u32,
    /// Share of the games that are played on though a side would resign, 0..=1.
    pub played_on_share: f64,
}

impl Default for ResignationRule {
    /// Nobody resigns.
    fn default() -> Self {
        Self { value: 0.0, plies: 3, played_on_share: 0.1 }
    }
}

impl ResignationRule {
    /// Returns whether anybody resigns.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.value > 0.0
    }

    /// Returns the side that resigns after these plies, first to last: the newest searches of both sides say that it loses.
    fn resigning_side(&self, searched: &[SearchedPly]) -> Option<Side> {
        let is_losing = |side: &Side| self.all_say(searched, *side, |value| value <= -self.value);
        let is_winning = |side: Side| self.all_say(searched, side, |value| value >= self.value);
        let sides = [Side::White, Side::Black].into_iter();
        sides.filter(|_| self.is_on()).find(|side| is_losing(side) && is_winning(side.opponent()))
    }

    /// Returns the side whose resignation ends a game of a run after these plies; `None` if it goes on.
    pub(super) fn ends(&self, run_seed: u64, game: &NewGame, searched: &[SearchedPly]) -> Option<Side> {
        let may_end = game.kind == GameKind::SelfPlay && !self.plays_on(run_seed, game.game_id);
        self.resigning_side(searched).filter(|_| may_end)
    }

    /// Returns whether a side would have been right to resign a game of a run that the rules ended; `None` if it was not
    /// played on, or no side would have.
    pub(super) fn judge(
        &self,
        run_seed: u64,
        game: &NewGame,
        searched: &[SearchedPly],
        outcome: Outcome,
    ) -> Option<Resignation> {
        let is_played_on = game.kind == GameKind::SelfPlay && self.plays_on(run_seed, game.game_id);
        if is_played_on { self.judge_played_on(searched, outcome) } else { None }
    }

    /// Returns whether a game of a run is played on though a side would resign.
    fn plays_on(&self, run_seed: u64, game_id: GameId) -> bool {
        let drawn = mix_seed(run_seed ^ PLAYED_ON_SEED, game_id.get()) as f64 / u64::MAX as f64;
        drawn < self.played_on_share
    }

    /// Returns whether the side that would have resigned a game that was played on to this outcome would have been right;
    /// `None` if no side would have resigned before the last ply.
    fn judge_played_on(&self, searched: &[SearchedPly], outcome: Outcome) -> Option<Resignation> {
        let side = (1..searched.len()).find_map(|count| self.resigning_side(&searched[..count]))?;
        let is_right = outcome == Outcome::Win(side.opponent());
        Some(if is_right { Resignation::Right } else { Resignation::False })
    }

    /// Returns whether the newest searches of a side are as many as the rule asks for and all pass.
    fn all_say(&self, searched: &[SearchedPly], side: Side, passes: impl Fn(f32) -> bool) -> bool {
        let newest = searched.iter().rev().filter(|ply| ply.side == side).take(self.plies as usize);
        let mut passed_count = 0;
        for ply in newest {
            if !passes(ply.value) {
                return false;
            }
            passed_count += 1;
        }
        passed_count == self.plies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: ResignationRule = ResignationRule { value: 0.9, plies: 2, played_on_share: 0.1 };

    /// Plies of both sides in turn, White first, with the value that White sees.
    fn seen_by_white(values: &[f32]) -> Vec<SearchedPly> {
        let sides = [(Side::White, 1.0), (Side::Black, -1.0)].into_iter().cycle();
        sides.zip(values).map(|((side, sign), value)| SearchedPly { side, value: sign * value }).collect()
    }

    fn check(rule: ResignationRule, values: &[f32], expected: Option<Side>) {
        assert_eq!(rule.resigning_side(&seen_by_white(values)), expected, "{values:?}");
    }

    #[test]
    fn a_side_resigns_once_the_newest_searches_of_both_sides_agree() {
        check(RULE, &[-0.9, -0.95, -1.0, -0.9], Some(Side::White));
        check(RULE, &[0.9, 0.95, 1.0, 0.9], Some(Side::Black));
        check(RULE, &[0.0, -0.9, -0.95, -1.0, -0.9], Some(Side::White));
        check(RULE, &[-0.9, -0.95, -1.0], None);
        check(RULE, &[-0.9, -0.95, -0.89, -0.9], None);
        check(RULE, &[-0.9, -0.89, -1.0, -0.9], None);
        check(RULE, &[-0.9, -0.9, -0.9, -0.9, 0.0], None);
        check(RULE, &[0.9, -0.9, -0.9, 0.9], None);
        check(RULE, &[], None);
    }

    #[test]
    fn plies_of_one_side_are_counted_wherever_they_are() {
        let ply = |side, value| SearchedPly { side, value };
        let (white, black) = (Side::White, Side::Black);
        let twice = [ply(white, -0.9), ply(black, 0.9), ply(black, 0.9), ply(white, -1.0)];
        assert_eq!(RULE.resigning_side(&twice), Some(white));
        assert_eq!(RULE.resigning_side(&[ply(white, -1.0); 4]), None, "the other side was never asked");
    }

    #[test]
    fn nobody_resigns_at_a_value_of_0() {
        check(ResignationRule::default(), &[-1.0; 20], None);
        check(ResignationRule { value: 0.0, ..RULE }, &[-1.0; 20], None);
    }

    #[test]
    fn about_the_share_is_played_on_and_other_games_of_another_run() {
        let played_on = |seed, share| -> Vec<u64> {
            let rule = ResignationRule { played_on_share: share, ..RULE };
            (1..=2000).filter(|number| rule.plays_on(seed, GameId::new(*number))).collect()
        };
        let tenth = played_on(7, 0.1);
        assert!((150..250).contains(&tenth.len()), "{}", tenth.len());
        assert_eq!(tenth, played_on(7, 0.1));
        assert_ne!(tenth, played_on(8, 0.1));
        let half = played_on(7, 0.5);
        assert!(tenth.iter().all(|number| half.contains(number)), "a greater share holds the smaller one");
        assert_eq!((played_on(7, 0.0).len(), played_on(7, 1.0).len()), (0, 2000));
    }

    #[test]
    fn a_game_that_was_played_on_says_who_was_right() {
        let lost = seen_by_white(&[-0.9, -0.95, -1.0, -0.9, 0.5, 0.5]);
        assert_eq!(RULE.judge_played_on(&lost, Outcome::Win(Side::Black)), Some(Resignation::Right));
        assert_eq!(RULE.judge_played_on(&lost, Outcome::Win(Side::White)), Some(Resignation::False));
        assert_eq!(RULE.judge_played_on(&lost, Outcome::Draw), Some(Resignation::False), "it did not lose");
        let turned = seen_by_white(&[-0.9, -0.9, -0.9, -0.9, 0.9, 0.9, 0.9, 0.9, 0.9]);
        assert_eq!(
            RULE.judge_played_on(&turned, Outcome::Win(Side::Black)),
            Some(Resignation::Right),
            "the first counts"
        );
        let open = seen_by_white(&[0.0; 8]);
        assert_eq!(RULE.judge_played_on(&open, Outcome::Win(Side::White)), None);
        let last = seen_by_white(&[-0.9, -0.95, -1.0, -0.9]);
        assert_eq!(
            RULE.judge_played_on(&last, Outcome::Win(Side::Black)),
            None,
            "the ply that ends the game saves nothing"
        );
    }
}
