//! What a daemon has from whoever happened to start it, and must not keep: open descriptors. A pipe of a script that is
//! held for days would keep the script's reader waiting for as long.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Marks, for the restarted program, that this was done: it is done once, whatever the outcome.
const DONE: &str = "REASONIX_SHED";

/// Closes every inherited descriptor but the first three, by restarting the program without them. Returns if there
/// are none, which is the usual case, or if it cannot be done: then they stay, as they would anywhere else.
pub fn close_inherited_descriptors() {
    if std::env::var_os(DONE).is_some() || !has_any() {
        return;
    }
    close_fds::set_fds_cloexec(3, &[]);
    let Ok(program) = procs::options::this_binary() else {
        return;
    };
    let mut arguments = std::env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    // Only returns if it failed; then nothing has changed but that no child gets those descriptors.
    let _ = command.args(arguments).env(DONE, "1").exec();
}

/// Whether there is a descriptor beside the first three that a program which is started would get.
fn has_any() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return false;
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| *number > 2).any(is_passed_on)
}

/// Whether a descriptor goes on to a program that is started. Its own copy of the list says so for each.
fn is_passed_on(number: i32) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok());
    // O_CLOEXEC in the flags shows the descriptor's own flag.
    flags.is_some_and(|flags| flags & u64::from(rustix::fs::OFlags::CLOEXEC.bits()) == 0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::AsRawFd as _;

    use rustix::io::FdFlags;

    use super::*;

    #[test]
    fn an_inherited_descriptor_is_distinguished_from_our_own() {
        let file = std::fs::File::open("/proc/self/status").expect("a file");
        assert!(
            !is_passed_on(file.as_raw_fd()),
            "ours are closed at a start"
        );
        let copy = rustix::io::dup(&file).expect("a copy");
        rustix::io::fcntl_setfd(&copy, FdFlags::empty()).expect("passed on");
        assert!(is_passed_on(copy.as_raw_fd()));
        rustix::io::fcntl_setfd(&copy, FdFlags::CLOEXEC).expect("not passed on");
        assert!(!is_passed_on(copy.as_raw_fd()));
        assert!(!is_passed_on(1_000_000), "there is none of that number");
    }
}
