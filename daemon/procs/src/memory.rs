//! The memory that one command may use with all its processes, and what holds it to that.
//!
//! Its helper looks at it again and again, and ends it. Where a control group can be made for it, the
//! kernel bounds it as well, so that it cannot outrun the helper.

use std::fmt;
use std::path::Path;

/// Bytes of a megabyte.
const MEGA: u64 = 1024 * 1024;

/// How the memory of commands is limited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryControl {
    /// In bytes, for one command with all its processes. `None`: there is no limit.
    pub limit: Option<u64>,
    /// Why the kernel does not bound it. `None`: it does.
    pub why: Option<String>,
}

impl fmt::Display for MemoryControl {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(limit) = self.limit else {
            return to.write_str("memory not limited");
        };
        let limit = limit / MEGA;
        write!(to, "memory of a command limited to {limit} MB by ")?;
        match &self.why {
            None => to.write_str("a control group"),
            Some(why) => write!(to, "a watchdog (no control group: {why})"),
        }
    }
}

/// The limit if the user sets none: three quarters of the memory that is there for us.
#[must_use]
pub fn usual_limit() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(total);
    let group = ["/sys/fs/cgroup/memory.max", GROUP_LIMIT]
        .into_iter()
        .filter_map(|path| std::fs::read_to_string(Path::new(path)).ok())
        .filter_map(|text| text.trim().parse::<u64>().ok());
    let all = machine.into_iter().chain(group).min()?;
    Some(all / 4 * 3)
}

/// Of the older kind, where it is the container's.
const GROUP_LIMIT: &str = "/sys/fs/cgroup/memory/memory.limit_in_bytes";

/// The machine's memory in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_limit_and_holder() {
        let mut control = MemoryControl::default();
        assert_eq!(control.to_string(), "memory not limited");
        control.limit = Some(512 * MEGA);
        let text = "memory of a command limited to 512 MB by a control group";
        assert_eq!(control.to_string(), text);
        control.why = Some("it is missing".to_owned());
        let text =
            "memory of a command limited to 512 MB by a watchdog (no control group: it is missing)";
        assert_eq!(control.to_string(), text);
        assert_eq!(
            total("MemTotal:       2048 kB\nMemFree: 1 kB\n"),
            Some(2 * MEGA)
        );
    }
}
