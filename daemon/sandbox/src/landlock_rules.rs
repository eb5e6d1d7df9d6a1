//! Landlock rules: what may be written, and without mounts also what may be read.
//!
//! Landlock can only allow a directory with everything below it, and cannot exclude anything. So a
//! masked path is excluded by allowing all its siblings, directory by directory from the root. In a
//! writable directory Landlock can neither mask nor protect a path, because files created later
//! have no name yet.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

use crate::restrictions::ProcessRestrictions;

/// The newest ABI that this code uses.
const NEWEST: ABI = ABI::V7;
/// Before the second ABI, no file could be moved to another directory.
const USEFUL: u32 = 2;
/// From this ABI on, Landlock restricts abstract sockets and signals.
pub(crate) const SCOPES: u32 = 6;
/// The machine's log, not the command's. (`/proc/kmsg` needs a capability that no command has.)
const KERNEL_LOG: &str = "/dev/kmsg";
/// Maximum names in the directories around masked paths. Each costs two system calls per command.
const NAMES: usize = 20_000;

/// The kernel's ABI version, 0 if it has no Landlock.
#[allow(
    unsafe_code,
    reason = "there is no safe call that only asks for the version"
)]
pub(crate) fn version() -> u32 {
    /// `LANDLOCK_CREATE_RULESET_VERSION`
    const ASK: libc::c_uint = 1;
    // SAFETY: with this flag the kernel reads none of our memory. It requires null and zero.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            ASK,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Restricts this thread and the processes that it starts. If Landlock is only the second layer,
/// ignores features that the kernel lacks.
pub(crate) fn restrict(inner: &ProcessRestrictions) -> Result<(), String> {
    if !inner.alone && version() < USEFUL {
        return Ok(());
    }
    let failed = |error: landlock::RulesetError| format!("Landlock: {error}");
    let writing = AccessFs::from_write(NEWEST);
    let handled = if inner.alone {
        AccessFs::from_all(NEWEST)
    } else {
        writing
    };
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)
        .and_then(|ruleset| ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal))
        .and_then(Ruleset::create)
        .map_err(failed)?;
    let mut write = inner.write.clone();
    write.push("/proc".into());
    let devices = Path::new("/dev");
    match inner.alone {
        true => around(devices, &[KERNEL_LOG.into()], &mut write),
        // Inside mounts it contains nothing of the machine.
        false => write.push(devices.into()),
    }
    let mut ruleset = ruleset
        .add_rules(path_beneath_rules(write, writing))
        .map_err(failed)?;
    if inner.alone {
        let names: BitFlags<AccessFs> = AccessFs::ReadDir.into();
        ruleset = ruleset
            .add_rules(path_beneath_rules(["/"], names))
            .and_then(|ruleset| {
                let masked = [&inner.masked[..], &[KERNEL_LOG.into()]].concat();
                let mut read = readable(&masked);
                read.extend(inner.write.iter().cloned());
                read.extend(inner.readable.iter().filter(|path| path.is_dir()).cloned());
                ruleset.add_rules(path_beneath_rules(read, AccessFs::from_read(NEWEST)))
            })
            .map_err(failed)?;
    }
    let status = ruleset.restrict_self().map_err(failed)?;
    if inner.alone && status.ruleset == RulesetStatus::NotEnforced {
        return Err("Landlock does not work here".to_owned());
    }
    Ok(())
}

/// All readable paths: the fewest that exclude the masked ones.
fn readable(masked: &[PathBuf]) -> Vec<PathBuf> {
    let masked: Vec<_> = masked
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let mut open = Vec::new();
    around(Path::new("/"), &masked, &mut open);
    open
}

fn around(directory: &Path, masked: &[PathBuf], open: &mut Vec<PathBuf>) {
    if !masked.iter().any(|mask| mask.starts_with(directory)) {
        open.push(directory.to_path_buf());
        return;
    }
    // A directory that cannot be listed is not readable: rather too little than too much.
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link || masked.contains(&path) || open.len() >= NAMES {
            continue;
        }
        around(&path, masked, open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_readable_except_masked_paths() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        for name in ["a/secret", "a/plain", "b"] {
            std::fs::create_dir_all(dir.join(name)).unwrap();
        }
        let open = readable(&[dir.join("a/secret"), dir.join("none")]);
        let below: Vec<_> = open.iter().filter(|path| path.starts_with(&dir)).collect();
        assert!(below.contains(&&dir.join("a/plain")) && below.contains(&&dir.join("b")));
        assert_eq!(below.len(), 2, "{below:?}");
        assert!(!open.iter().any(|path| dir.starts_with(path)));
        assert!(open.contains(&PathBuf::from("/usr")));
        assert_eq!(readable(&[]), [PathBuf::from("/")]);
    }
}
