//! Protects the daemon's memory and environment from commands, which run as the same user.
//!
//! The daemon's `main` calls this once, before it reads a key or starts a thread.

/// Makes the calling process non-dumpable. Other processes of the same user cannot trace it or read
/// its memory, environment or descriptors through `/proc`, and it leaves no core file. Programs
/// that it starts are not affected.
///
/// # Errors
/// The system's error. On systems other than Linux this does nothing and never fails.
pub fn daemon() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
