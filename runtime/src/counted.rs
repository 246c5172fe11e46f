//! A count and what is counted, as a report says it.

/// Returns a count with its noun: `1 game`, `4 games`.
#[must_use]
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0_u32, 1, 2].map(|count| counted(count, "ply", "plies")), ["0 plies", "1 ply", "2 plies"]);
    }
}
