//! The end of threads that work until a flag is raised.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raises a flag when it is dropped, also by a panic: else the scope would wait for ever for threads that look at it.
pub struct RaiseOnDrop<'a>(pub &'a AtomicBool);

impl Drop for RaiseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
