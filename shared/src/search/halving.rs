//! Sequential halving (Karnin, Koren and Somekh 2013): how simulations are shared out among the most promising moves.
//!
//! Knows neither moves nor scores: it says how often a move must have been visited to be among those from which the next
//! simulation takes the best, as in DeepMind's mctx.

/// Returns how many visits the moves have from which simulation `index` (0 is the first of `simulation_count`) takes the
/// one with the best score, if `move_count` moves are considered at first.
///
/// In each phase every move that is still considered gets equally many visits, about `simulation_count` divided by the
/// phases and by the moves, at least one; then the better half goes on, at least two. Those two share what is left.
pub(super) fn considered_visit_count(move_count: u32, simulation_count: u32, index: u32) -> u32 {
    if move_count <= 1 {
        return index;
    }
    let phase_count = move_count.next_power_of_two().ilog2();
    let (mut considered_count, mut rest, mut visit_count) = (move_count, index, 0);
    while considered_count > 2 {
        let round_count = (simulation_count / (phase_count * considered_count)).max(1);
        if rest < considered_count * round_count {
            return visit_count + rest / considered_count;
        }
        rest -= considered_count * round_count;
        visit_count += round_count;
        considered_count = (considered_count / 2).max(2);
    }
    visit_count + rest / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the whole schedule, written as (visits, how many simulations in a row ask for them).
    fn check(move_count: u32, simulation_count: u32, expected: &[(u32, usize)]) {
        let schedule = |index| considered_visit_count(move_count, simulation_count, index);
        let found: Vec<u32> = (0..simulation_count).map(schedule).collect();
        let expected: Vec<u32> =
            expected.iter().flat_map(|(visits, times)| std::iter::repeat_n(*visits, *times)).collect();
        assert_eq!(found, expected, "{move_count} moves, {simulation_count} simulations");
    }

    /// The numbers are those that mctx's own tests expect.
    #[test]
    fn schedules_are_those_of_mctx() {
        check(8, 24, &[(0, 8), (1, 4), (2, 4), (3, 2), (4, 2), (5, 2), (6, 2)]);
        check(7, 24, &[(0, 7), (1, 3), (2, 3), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 1)]);
        check(8, 2, &[(0, 2)]);
        check(8, 13, &[(0, 8), (1, 4), (2, 1)]);
        let last_two = (4..17).map(|visits| (visits, 2));
        check(
            8,
            47,
            &[&[(0, 8), (1, 4), (2, 4), (3, 4)], last_two.collect::<Vec<_>>().as_slice(), &[(17, 1)]].concat(),
        );
        check(1, 4, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    }

    /// By hand: 4 phases; 63 / (4 * 16) is less than 1, 63 / (4 * 8) = 1, 63 / (4 * 4) = 3, 63 / (4 * 2) = 7.
    #[test]
    fn sixteen_moves_and_sixty_three_simulations_by_hand() {
        let last_two = (5..19).map(|visits| (visits, 2));
        let expected = [(0, 16), (1, 8), (2, 4), (3, 4), (4, 4)].into_iter().chain(last_two);
        check(
            16,
            63,
            &expected
                .scan(63, |left, (visits, times)| {
                    let taken = times.min(*left);
                    *left -= taken;
                    Some((visits, taken))
                })
                .collect::<Vec<_>>(),
        );
    }

    #[test]
    fn the_moves_with_the_visits_asked_for_never_run_out() {
        for move_count in 1..=40_u32 {
            for simulation_count in [1, 2, 15, 16, 31, 63, 199, 800] {
                let mut visits = vec![0; move_count as usize];
                for index in 0..simulation_count {
                    let wanted = considered_visit_count(move_count, simulation_count, index);
                    let best = visits.iter().position(|count| *count == wanted);
                    let best = best.unwrap_or_else(|| panic!("{move_count} of {simulation_count}: none at {index}"));
                    visits[best] += 1;
                }
                assert_eq!(visits.iter().sum::<u32>(), simulation_count);
            }
        }
    }
}
