//! Whose games do not count: each worker is judged by its own plies, and those with few plies together as well. Names cost
//! nothing, so whoever plays each game under another one must not be judged by two or three plies a name.

use super::CheckedWorker;

/// Plies below which a worker is judged together with others: of so many, those that may be contradicted of any worker are
/// as many as an honest one's share.
const FEW_PLIES: u32 = super::CONTRADICTED_FREE * super::CONTRADICTED_ONE_IN;

/// Workers whose games do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refuted {
    /// Those that are refuted by their own plies.
    pub alone: Vec<CheckedWorker>,
    /// Those with few plies, refuted as if they were one.
    pub together: Vec<CheckedWorker>,
}

impl Refuted {
    /// Judges what was found of all workers of a gate.
    #[must_use]
    pub fn of(checked: Vec<CheckedWorker>) -> Self {
        let (alone, others): (Vec<_>, Vec<_>) = checked.into_iter().partition(CheckedWorker::is_refuted);
        let few: Vec<CheckedWorker> = others.into_iter().filter(|worker| worker.ply_count < FEW_PLIES).collect();
        let together = if sum(&few).is_refuted() { few } else { Vec::new() };
        Self { alone, together }
    }

    /// Returns whether all games count.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.alone.is_empty() && self.together.is_empty()
    }
}

/// Returns the plies of several workers as if they were one, named after the first.
pub(crate) fn sum(workers: &[CheckedWorker]) -> CheckedWorker {
    CheckedWorker {
        worker_id: workers.first().map(|worker| worker.worker_id.clone()).unwrap_or_default(),
        ply_count: workers.iter().map(|worker| worker.ply_count).sum(),
        contradicted_count: workers.iter().map(|worker| worker.contradicted_count).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuted(checked: &[(u32, u32)]) -> (Vec<String>, Vec<String>) {
        let worker = |(number, &(ply_count, contradicted_count)): (usize, &(u32, u32))| CheckedWorker {
            worker_id: format!("w{number}"),
            ply_count,
            contradicted_count,
        };
        let Refuted { alone, together } = Refuted::of(checked.iter().enumerate().map(worker).collect());
        let names = |workers: Vec<CheckedWorker>| workers.into_iter().map(|worker| worker.worker_id).collect();
        (names(alone), names(together))
    }

    #[test]
    fn names_of_few_plies_are_judged_together_too() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(refuted(&[(64, 1), (3, 1), (3, 0), (2, 1)]), (names(&[]), names(&[])), "honest ones");
        assert_eq!(refuted(&[(64, 0), (3, 2), (3, 2), (3, 1)]), (names(&[]), names(&["w1", "w2", "w3"])));
        assert_eq!(refuted(&[(64, 40), (3, 1), (3, 1)]), (names(&["w0"]), names(&[])), "others are not drawn in");
        assert_eq!(refuted(&[(5, 3), (16, 4), (16, 4)]), (names(&["w0"]), names(&[])), "enough plies of their own");
        assert_eq!(refuted(&[]), (names(&[]), names(&[])));
    }
}
