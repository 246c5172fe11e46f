//! Resignation in a simulated cluster. What all searches of a game say follows from its number, so it is known when a side
//! resigns; whether games are played on is the same for all games of a seed.

use registry::ResignationRule;
use shared::game::{Outcome, Side};
use store::{GameKind, Resignation};

use super::ledger::LedgerGame;

/// Returns what the searches of a self-play game say for White.
pub(super) const fn white_value(game_id: u64) -> f32 {
    match game_id % 3 {
        0 => 1.0,
        1 => -1.0,
        _ => 0.0,
    }
}

/// Returns the rule of a seed; every third has one.
pub(super) const fn rule_of(seed: u64) -> ResignationRule {
    let value = if seed % 3 == 1 { 0.9 } else { 0.0 };
    let played_on_share = if (seed / 6).is_multiple_of(2) { 0.0 } else { 1.0 };
    ResignationRule { value, plies: 1 + (seed / 3 % 2) as u32, played_on_share }
}

/// Returns the side that resigns a game, or would, once it has so many plies.
fn loser(rule: &ResignationRule, game_id: u64, game: &LedgerGame, ply_count: u32) -> Option<Side> {
    let searched = ply_count.saturating_sub(game.opening_ply_count);
    let is_due = game.kind == GameKind::SelfPlay && rule.is_on() && searched >= 2 * rule.plies;
    let value = white_value(game_id);
    let side = if value > 0.0 { Side::Black } else { Side::White };
    (is_due && value != 0.0).then_some(side)
}

/// Returns whether a game with so many plies goes on, as long as the rules do not end it.
pub(super) fn goes_on(rule: &ResignationRule, game_id: u64, game: &LedgerGame, ply_count: u32) -> bool {
    rule.played_on_share > 0.0 || loser(rule, game_id, game, ply_count).is_none()
}

/// Returns how a game ends that has so many plies and this outcome by the rules, if it has one; `None` if it goes on.
pub(super) fn end(
    rule: &ResignationRule,
    game_id: u64,
    game: &LedgerGame,
    ply_count: u32,
    outcome: Option<Outcome>,
) -> Option<(Outcome, Option<Resignation>)> {
    let Some(outcome) = outcome else {
        let side = loser(rule, game_id, game, ply_count).filter(|_| rule.played_on_share == 0.0)?;
        return Some((Outcome::Win(side.opponent()), Some(Resignation::Resigned)));
    };
    let earlier = loser(rule, game_id, game, ply_count - 1).filter(|_| rule.played_on_share > 0.0);
    let is_right = |side: Side| outcome == Outcome::Win(side.opponent());
    Some((outcome, earlier.map(|side| if is_right(side) { Resignation::Right } else { Resignation::False })))
}
