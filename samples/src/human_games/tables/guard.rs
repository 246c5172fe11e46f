//! A guard around the Parquet library, which panics on some damaged files where it should return an error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is reading what may be damaged: a panic is then no bug of the program, and not printed.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// Calls `read`; `None` if it panics. What it leaves behind then must not be used again.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_result() {
        assert_eq!(guarded(|| 7), Some(7));
        let divisor = "0".parse::<u32>().unwrap_or(1);
        assert_eq!(guarded(|| 7 / divisor), None);
        assert!(!IS_GUARDED.get());
    }
}
