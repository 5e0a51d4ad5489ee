//! Calls into Python that may never come back.
//!
//! When an interpreter up to CPython 3.13 ends, it ends daemon threads by `pthread_exit` as soon as
//! they ask for the GIL again. That unwinds through our frames, whose destructors would then touch
//! Python objects without the GIL. So the innermost frame stops the unwinding by sleeping for ever,
//! which is what CPython 3.14 does by itself.

use std::time::Duration;

struct Sleeper;

impl Drop for Sleeper {
    fn drop(&mut self) {
        loop {
            std::thread::sleep(Duration::MAX);
        }
    }
}

/// The result of a call that may run Python code or release the GIL.
#[inline(always)]
pub(crate) fn calling<R>(call: impl FnOnce() -> R) -> R {
    let sleeper = Sleeper;
    let result = call();
    std::mem::forget(sleeper);
    result
}
