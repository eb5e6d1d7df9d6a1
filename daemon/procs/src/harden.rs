//! Keeps the daemon's memory and environment from the commands it runs as the same user.
//!
//! Called once by the daemon's `main`, before it reads a key or starts a thread.

/// Makes the calling process non-dumpable: no other process of the same user may trace it, read its
/// memory, its environment or its descriptors through `/proc`, and it leaves no core file.
/// Programs it starts are not affected.
///
/// # Errors
/// What the system answered. Elsewhere than on Linux there is nothing to do, and nothing fails.
pub fn daemon() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
