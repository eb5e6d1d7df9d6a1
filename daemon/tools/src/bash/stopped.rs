//! Guesses whether the sandbox stopped a command that failed.
//!
//! The kernel reports nothing, so the guess is made from the error messages that programs print. It is worded as a guess.
//! Its only effect is an offer to the user.

use std::path::Path;

use contract::SandboxSpec;

/// What systems and programs say of a file system that cannot be written.
const FILES: [&str; 3] = ["read-only file system", "erofs", "device or resource busy"];
/// Error messages of programs without network access.
const NETWORK: [&str; 11] = [
    "network is unreachable",
    "enetunreach",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "failure in name resolution",
    "eai_again",
    "dns error",
    "failed to lookup address",
    "no address associated with hostname",
    "getaddrinfo failed",
];
/// Error messages of programs if no server listens: a sandboxed command has a separate loopback interface.
const NOBODY: [&str; 3] = [
    "connection refused",
    "econnrefused",
    "couldn't connect to server",
];
/// Error messages for system calls that the sandbox forbids.
const CALLS: [&str; 2] = ["operation not permitted", "eperm"];

/// What the sandbox stopped, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SandboxDenial {
    /// Why, in words for people and the model.
    pub(super) why: String,
    /// What the user could set so that it works in the sandbox.
    lift: &'static str,
    sort: Sort,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// A person is asked whether it may run once more, outside.
    Offered,
    /// The path is closed to all tools: the user is not asked.
    Closed,
    /// It may as well have failed by itself: nobody is asked.
    Unclear,
}

impl SandboxDenial {
    /// Why, if an unsandboxed run may be offered to the user.
    pub(super) fn offer(self) -> Option<String> {
        self.is_offered().then_some(self.why)
    }

    /// Whether it may run once more.
    pub(super) fn is_offered(&self) -> bool {
        self.sort == Sort::Offered
    }

    /// Whether it is likely enough to be shown to people.
    pub(super) fn is_clear(&self) -> bool {
        self.sort != Sort::Unclear
    }

    /// For the model, a line.
    pub(super) fn report(&self) -> String {
        if self.sort == Sort::Unclear {
            return format!(
                "If the server was not to be one of its own: {}. If that is needed, tell the user what for: {}.",
                self.why, self.lift
            );
        }
        format!(
            "The sandbox seems to have stopped it: {}. Another way to the same end is stopped too; if it is needed, tell the \
             user what for: {}.",
            self.why, self.lift
        )
    }

    /// The same about one that ended well.
    pub(super) fn partial_report(&self) -> String {
        format!(
            "If its output reports that a part of it failed, and does not only show that (a log): the sandbox may have stopped \
             that: {}. If it is needed, tell the user what for: {}.",
            self.why, self.lift
        )
    }
}

/// Why the sandbox probably blocked a part of a command that succeeded: in a pipe, only the last program's exit code is
/// visible. `printed`: the end of its output.
pub(super) fn part_by(sandbox: &SandboxSpec, line: &str, printed: &str) -> Option<SandboxDenial> {
    if !line.contains('|') {
        return None;
    }
    let lower = printed.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let clear = says(&FILES) || !sandbox.network && says(&NETWORK);
    clear.then(|| by(sandbox, printed)).flatten()
}

/// Why the sandbox probably blocked a command, if it did. `printed`: the end of the failed command's output.
pub(super) fn by(sandbox: &SandboxSpec, printed: &str) -> Option<SandboxDenial> {
    let mut printed = printed.to_lowercase();
    if let Some(temp) = sandbox.temp.to_str().filter(|temp| !temp.is_empty()) {
        // The temporary directory may be below a closed path, but is open.
        printed = printed.replace(&temp.to_lowercase(), "");
    }
    let says = |words: &[&str]| words.iter().any(|word| printed.contains(word));
    let masked = sandbox.masked.iter().find(|place| {
        place
            .to_str()
            .is_some_and(|place| place.len() > 1 && printed.contains(&place.to_lowercase()))
    });
    let because = |why: String, lift| {
        Some(SandboxDenial {
            why,
            lift,
            sort: match masked {
                Some(_) => Sort::Closed,
                None => Sort::Offered,
            },
        })
    };
    if says(&FILES) {
        if let Some(place) = protected(sandbox, &printed) {
            return because(
                format!("it changes `{}`, which is protected", place.display()),
                "they can allow this one run outside the sandbox when they are asked, or do it themselves",
            );
        }
        return because(
            "it writes outside the workspace or to a protected file".to_owned(),
            "they can add the directory to `sandbox.allow_write`, or do it themselves",
        );
    }
    if !sandbox.network && says(&NETWORK) {
        return because(
            "it needs the network, which the sandbox blocks".to_owned(),
            "they can set `sandbox.network = true`, or do it themselves",
        );
    }
    if let Some(place) = masked {
        return Some(SandboxDenial {
            why: format!("it needs `{}`, which the sandbox denies", place.display()),
            lift: "they can open it where they have closed it (`sandbox.deny_read`, a rule), or do it themselves",
            sort: Sort::Unclear,
        });
    }
    if says(&CALLS) {
        return because(
            "it makes a system call that the sandbox denies".to_owned(),
            "they can do it themselves",
        );
    }
    (!sandbox.network && says(&NOBODY)).then(|| SandboxDenial {
        why: "the sandbox gives the command a separate network without access to any server, including servers on this machine".to_owned(),
        lift: "they can set `sandbox.network = true`, or do it themselves",
        sort: Sort::Unclear,
    })
}

/// The protected place that a message names, whole or from the workspace on; `printed` in small letters.
fn protected<'a>(sandbox: &'a SandboxSpec, printed: &str) -> Option<&'a Path> {
    let found = sandbox.protected.iter().filter(|place| {
        let mut below = sandbox
            .write
            .iter()
            .filter_map(|root| place.strip_prefix(root).ok());
        named(place, printed) || below.any(|place| named(place, printed))
    });
    found
        .max_by_key(|place| place.components().count())
        .map(|place| place.as_path())
}

/// Whether a message names a path, or a path below it, and not only a longer path that ends like it.
fn named(place: &Path, printed: &str) -> bool {
    let name = place.to_string_lossy().to_lowercase();
    let begins = |before: &str| {
        let before = match place.is_absolute() {
            true => before,
            false => without_steps(before),
        };
        !before.ends_with(|last: char| last.is_alphanumeric() || "-_./~".contains(last))
    };
    let ends =
        |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || "-_.".contains(next));
    !name.is_empty()
        && printed.match_indices(&name).any(|(at, name)| {
            printed.get(..at).is_some_and(begins)
                && printed.get(at + name.len()..).is_some_and(ends)
        })
}

/// Without the `./` and `../` at its end, by which a relative path may begin.
fn without_steps(text: &str) -> &str {
    let mut left = text;
    while let Some(rest) = left.strip_suffix("../").or_else(|| left.strip_suffix("./")) {
        left = rest;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_place_is_named() {
        let sandbox = SandboxSpec {
            write: vec!["/ws".into()],
            protected: [".git", ".git/config", ".git/hooks", ".mcp.json"]
                .map(|name| Path::new("/ws").join(name))
                .into(),
            ..SandboxSpec::default()
        };
        let report =
            |printed: &str| by(&sandbox, printed).map_or_else(String::new, |by| by.report());
        for (printed, place) in [
            (
                "error: could not write config file /ws/.git/config: Device or resource busy",
                "/ws/.git/config",
            ),
            (
                "error: could not write config file .git/config: Device or resource busy",
                "/ws/.git/config",
            ),
            (
                "fatal: cannot copy '/x/description' to '/ws/.git/description': Read-only file system",
                "/ws/.git",
            ),
            (
                "sh: 1: cannot create .mcp.json: Read-only file system",
                "/ws/.mcp.json",
            ),
        ] {
            let report = report(printed);
            let expected = format!("it changes `{place}`, which is protected");
            assert!(
                report.contains(&expected) && report.contains("outside the sandbox"),
                "{report}"
            );
        }
        let elsewhere = report("touch: '/etc/.gitignore': Read-only file system");
        assert!(elsewhere.contains("outside the workspace"), "{elsewhere}");
    }

    #[test]
    fn a_name_elsewhere_is_not_a_protected_place() {
        let sandbox = SandboxSpec {
            write: vec!["/ws".into()],
            protected: [".git", ".git/config"]
                .map(|name| Path::new("/ws").join(name))
                .into(),
            ..SandboxSpec::default()
        };
        for (printed, is) in [
            ("/other/repo/.git/config: Read-only file system", false),
            ("/mnt/ws/.git/config: Read-only file system", false),
            ("example.git: Read-only file system", false),
            ("~/.git/config: Read-only file system", false),
            (
                "cannot create '/ws/.git/config': Read-only file system",
                true,
            ),
            ("./.git/config: Read-only file system", true),
            ("../../.git/config: Read-only file system", true),
            ("/.git/config: Read-only file system", false),
        ] {
            let report = by(&sandbox, printed).map_or_else(String::new, |by| by.report());
            assert_eq!(
                report.contains("which is protected"),
                is,
                "{printed}: {report}"
            );
        }
    }

    #[test]
    fn a_failed_part_of_a_pipe_is_reported_if_its_output_is_clear() {
        let sandbox = SandboxSpec::default();
        let report = |line: &str, printed: &str| {
            part_by(&sandbox, line, printed).map_or_else(String::new, |by| by.partial_report())
        };
        let failed = "npm error code EAI_AGAIN";
        assert!(report("npm ci | tail -3", failed).contains("needs the network"));
        assert_eq!(report("cat log", failed), "", "it ended well by itself");
        assert_eq!(report("ls | cat", "file: Operation not permitted"), "");
        assert_eq!(report("ls | cat", "file"), "");
    }

    #[test]
    fn messages_of_programs_are_distinguished() {
        let sandbox = SandboxSpec {
            masked: vec!["/proj/home/.ssh".into()],
            ..SandboxSpec::default()
        };
        let open = SandboxSpec {
            network: true,
            ..sandbox.clone()
        };
        let report = |sandbox: &SandboxSpec, printed: &str| {
            by(sandbox, printed).map_or_else(String::new, |by| by.report())
        };
        assert!(
            report(
                &sandbox,
                "touch: cannot touch '/etc/x': Read-only file system"
            )
            .contains("outside")
        );
        assert!(
            report(&sandbox, "curl: (6) Could not resolve host: example.org").contains("network")
        );
        assert!(report(&sandbox, "npm error code EAI_AGAIN").contains("network"));
        assert!(
            report(
                &sandbox,
                "cat: /proj/home/.ssh/id: No such file or directory"
            )
            .contains(".ssh")
        );
        assert!(
            report(&sandbox, "unshare: unshare failed: Operation not permitted").contains("system")
        );
        let refused = "curl: (7) Failed to connect to 127.0.0.1 port 8080: Connection refused";
        assert!(
            report(&sandbox, refused).starts_with("If the server was not to be one of its own")
        );
        assert!(!by(&sandbox, refused).unwrap().is_clear());
        assert_eq!(report(&open, refused), "");
        assert_eq!(by(&sandbox, refused).and_then(SandboxDenial::offer), None);
        let both = format!("{refused}\nsetns: Operation not permitted");
        assert!(report(&sandbox, &both).contains("system"));
        // The way to allow it is reported next to it.
        assert!(report(&sandbox, "EROFS: x").contains("`sandbox.allow_write`"));
        assert!(report(&sandbox, "getaddrinfo failed").contains("`sandbox.network = true`"));
        // Paths that are closed to all tools are not offered, whatever the message says.
        let offered = |printed: &str| {
            by(&sandbox, printed)
                .and_then(SandboxDenial::offer)
                .is_some()
        };
        assert!(offered("touch: '/etc/x': Read-only file system"));
        assert!(!offered(
            "touch: '/proj/home/.ssh/x': Read-only file system"
        ));
        assert!(!offered(
            "cat: /proj/home/.ssh/id: No such file or directory"
        ));
        assert_eq!(
            by(&open, "curl: (6) Could not resolve host: example.org"),
            None
        );
        assert_eq!(
            by(&sandbox, "error: test failed, to rerun pass `--lib`"),
            None
        );
        assert_eq!(by(&sandbox, ""), None);
    }
}
