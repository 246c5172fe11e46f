//! Strength from results: Bradley and Terry's model (1952), by maximum likelihood, in Elo. Pure arithmetic.
//!
//! A draw is half a win. Two players who have met are given one more game, drawn: without it a player who won every
//! game would be infinitely strong.

/// Result of all games between two players.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meeting {
    /// Numbers of the players.
    pub players: [usize; 2],
    /// Points of each, a draw as half.
    pub points: [f64; 2],
}

/// How strong a player is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Elo above the anchor.
    pub elo: f64,
    /// Half the width of the 95 % interval of that; 0 for the anchor itself.
    pub margin: f64,
    /// Players with the same number are connected by games; between others nothing is known.
    pub group: usize,
}

/// Elo's logistic: 400 points are odds of 10 to 1.
const ELO_SCALE: f64 = std::f64::consts::LN_10 / 400.0;
/// Two-sided 95 % quantile of the normal distribution.
const QUANTILE: f64 = 1.959_963_984_540_054;
/// Points that each of two players gets for the drawn game that was not played.
const PRIOR_POINTS: f64 = 0.5;
const ITERATION_COUNT_MAX: usize = 100_000;
/// Largest relative change of a strength at which the iteration ends.
const TOLERANCE: f64 = 1e-10;

/// Rates `player_count` players. In the group of `anchor` Elo counts from it, in others from the mean.
///
/// Meetings of a player with itself, and of players that are not there, are skipped.
#[must_use]
pub fn rate(player_count: usize, meetings: &[Meeting], anchor: Option<usize>) -> Vec<Rating> {
    let points = point_table(player_count, meetings);
    let groups = groups(&points);
    let mut ratings = vec![Rating { elo: 0.0, margin: 0.0, group: 0 }; player_count];
    for group in 0..player_count {
        let members: Vec<usize> = (0..player_count).filter(|player| groups[*player] == group).collect();
        let table: Vec<Vec<f64>> =
            members.iter().map(|row| members.iter().map(|column| points[*row][*column]).collect()).collect();
        let anchor = anchor.and_then(|anchor| members.iter().position(|member| *member == anchor));
        for (member, (elo, margin)) in members.iter().zip(rate_group(&table, anchor)) {
            ratings[*member] = Rating { elo, margin, group };
        }
    }
    ratings
}

/// Returns the points of each player (row) against each other (column).
fn point_table(player_count: usize, meetings: &[Meeting]) -> Vec<Vec<f64>> {
    let mut table = vec![vec![0.0; player_count]; player_count];
    for Meeting { players: [a, b], points } in meetings {
        if *a == *b || *a >= player_count || *b >= player_count {
            continue;
        }
        for (row, column, points) in [(*a, *b, points[0]), (*b, *a, points[1])] {
            let cell: &mut f64 = &mut table[row][column];
            *cell = cell.max(PRIOR_POINTS) + points;
        }
    }
    table
}

/// Returns the group of each player: the lowest number among those it is connected with by games.
fn groups(points: &[Vec<f64>]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..points.len()).collect();
    // Each round carries the lowest number one meeting further.
    for _ in 0..points.len() {
        for (row, met) in points.iter().enumerate() {
            for column in (0..met.len()).filter(|column| met[*column] > 0.0) {
                let lowest = groups[row].min(groups[column]);
                (groups[row], groups[column]) = (lowest, lowest);
            }
        }
    }
    groups
}

/// Returns Elo and margin of the players of one group.
fn rate_group(points: &[Vec<f64>], anchor: Option<usize>) -> Vec<(f64, f64)> {
    let elos: Vec<f64> = strengths(points).iter().map(|strength| strength.ln() / ELO_SCALE).collect();
    let zero = anchor.map_or_else(|| elos.iter().sum::<f64>() / elos.len() as f64, |anchor| elos[anchor]);
    let covariance = covariance(points, &elos);
    let variance = |player: usize| match anchor {
        Some(anchor) => covariance[player][player] + covariance[anchor][anchor] - 2.0 * covariance[player][anchor],
        None => covariance[player][player],
    };
    elos.iter().enumerate().map(|(player, elo)| (elo - zero, QUANTILE * variance(player).max(0.0).sqrt())).collect()
}

/// Returns the strengths that make the results likeliest, by the iteration of Zermelo (1929) and Hunter (2004).
fn strengths(points: &[Vec<f64>]) -> Vec<f64> {
    let count = points.len();
    let mut strengths = vec![1.0; count];
    for _ in 0..ITERATION_COUNT_MAX {
        let mut change: f64 = 0.0;
        for player in 0..count {
            let won: f64 = points[player].iter().sum();
            let expected: f64 = (0..count)
                .filter(|other| *other != player)
                .map(|other| (points[player][other] + points[other][player]) / (strengths[player] + strengths[other]))
                .sum();
            if expected > 0.0 {
                let strength = won / expected;
                change = change.max((strength / strengths[player] - 1.0).abs());
                strengths[player] = strength;
            }
        }
        if change < TOLERANCE {
            break;
        }
    }
    strengths
}

/// Returns the covariance of the Elos, their mean held at 0: the pseudo-inverse of the Fisher information.
fn covariance(points: &[Vec<f64>], elos: &[f64]) -> Vec<Vec<f64>> {
    let count = points.len();
    let shift = 1.0 / count as f64;
    // Information + the projection on the mean, of which games say nothing, can be inverted.
    let mut matrix = vec![vec![shift; count]; count];
    for row in 0..count {
        for column in 0..count {
            if row != column {
                let games = points[row][column] + points[column][row];
                let expected = 1.0 / (1.0 + (ELO_SCALE * (elos[column] - elos[row])).exp());
                let information = games * expected * (1.0 - expected) * ELO_SCALE * ELO_SCALE;
                matrix[row][row] += information;
                matrix[row][column] -= information;
            }
        }
    }
    let mut inverse = invert(matrix);
    inverse.iter_mut().flatten().for_each(|number| *number -= shift);
    inverse
}

/// Inverts a positive definite matrix by Gauss and Jordan.
fn invert(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = matrix.len();
    let unit = |row: usize| (0..count).map(|column| f64::from(u8::from(row == column))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..count).map(unit).collect();
    for pivot in 0..count {
        let scale = 1.0 / matrix[pivot][pivot];
        matrix[pivot].iter_mut().chain(&mut inverse[pivot]).for_each(|number| *number *= scale);
        let (pivot_row, pivot_inverse) = (matrix[pivot].clone(), inverse[pivot].clone());
        for row in (0..count).filter(|row| *row != pivot) {
            let factor = matrix[row][pivot];
            subtract(&mut matrix[row], &pivot_row, factor);
            subtract(&mut inverse[row], &pivot_inverse, factor);
        }
    }
    inverse
}

fn subtract(row: &mut [f64], other: &[f64], factor: f64) {
    row.iter_mut().zip(other).for_each(|(number, other)| *number -= factor * other);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(a: usize, b: usize, points: [f64; 2]) -> Meeting {
        Meeting { players: [a, b], points }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
    }

    #[test]
    fn two_players_are_as_far_apart_as_their_odds() {
        let ratings = rate(2, &[meeting(0, 1, [75.0, 25.0])], Some(1));
        let expected = 400.0 * (75.5_f64 / 25.5).log10();
        assert_near(ratings[0].elo, expected);
        assert_eq!((ratings[1].elo, ratings[1].margin), (0.0, 0.0));
        // Variance of a logit is 1 / (n p (1 - p)).
        let p: f64 = 75.5 / 101.0;
        assert_near(ratings[0].margin, QUANTILE / ELO_SCALE / (101.0 * p * (1.0 - p)).sqrt());
        let around_mean = rate(2, &[meeting(0, 1, [75.0, 25.0])], None);
        assert_near(around_mean[0].elo, expected / 2.0);
        assert_near(around_mean[1].elo, -expected / 2.0);
        assert_near(around_mean[0].margin, ratings[0].margin / 2.0);
    }

    #[test]
    fn strength_carries_over_from_game_to_game() {
        // 1 beats 0 as 2 beats 1; 0 and 2 never met.
        let chain = [meeting(0, 1, [24.5, 74.5]), meeting(1, 2, [24.5, 74.5])];
        let ratings = rate(3, &chain, Some(0));
        assert_near(ratings[1].elo, 400.0 * 3_f64.log10());
        assert_near(ratings[2].elo, 800.0 * 3_f64.log10());
        assert!(ratings[2].margin > ratings[1].margin * 1.4, "{ratings:?}");
        // The same results told in pieces, and from the other side.
        let pieces = [meeting(1, 0, [70.5, 4.5]), meeting(0, 1, [20.0, 4.0]), meeting(2, 1, [74.5, 24.5])];
        for (piece, whole) in rate(3, &pieces, Some(0)).iter().zip(&ratings) {
            assert_near(piece.elo, whole.elo);
        }
    }

    #[test]
    fn who_won_every_game_is_strong_but_not_infinitely() {
        let ratings = rate(2, &[meeting(0, 1, [100.0, 0.0])], Some(1));
        assert_near(ratings[0].elo, 400.0 * 201_f64.log10());
        assert!(ratings[0].margin > 300.0 && ratings[0].margin.is_finite(), "{ratings:?}");
    }

    #[test]
    fn players_that_no_game_connects_are_apart() {
        let meetings = [meeting(0, 3, [3.0, 1.0]), meeting(1, 4, [5.0, 5.0]), meeting(2, 2, [1.0, 1.0])];
        let ratings = rate(5, &meetings, Some(0));
        assert_eq!(ratings.iter().map(|rating| rating.group).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
        assert_eq!((ratings[0].elo, ratings[2].elo), (0.0, 0.0));
        assert_near(ratings[1].elo, 0.0);
        assert!(ratings[3].elo < 0.0);
        assert!(rate(0, &[], None).is_empty());
    }
}
