//! A count and what is counted, as a report says it.

/// Returns a count with its noun: `1 game`, `4 games`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "ply", "plies")), ["0 plies", "1 ply", "2 plies"]);
    }
}
