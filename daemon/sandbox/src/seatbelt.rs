//! Renders a sandbox as a profile of Seatbelt, the macOS sandbox, for `sandbox-exec -p`.
//!
//! Seatbelt works by path, so it also protects missing paths. The last matching
//! rule applies. It has no separate network: without network access, a command reaches only sockets
//! in writable directories. Commands can see other processes, but signal only their own.

use std::fmt::Write as _;
use std::path::Path;

use contract::SandboxSpec;

/// The program that applies a profile. Never searched on `PATH`.
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Devices that every program may write.
const DEVICES: [&str; 6] = ["null", "zero", "tty", "ptmx", "stdout", "stderr"];

/// The profile of a sandbox.
#[must_use]
pub fn profile(spec: &SandboxSpec) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    let device = "allow file-write* file-ioctl";
    rule(&mut text, device, "subpath", Path::new("/dev/fd"));
    for name in DEVICES {
        rule(&mut text, device, "literal", &Path::new("/dev").join(name));
    }
    for masked in &spec.masked {
        rule(&mut text, "deny file-read* file-write*", "subpath", masked);
    }
    for readable in &spec.readable {
        rule(&mut text, "allow file-read*", "subpath", readable);
    }
    let roots = || spec.write.iter().chain([&spec.temp]);
    for root in roots() {
        rule(&mut text, "allow file-read* file-write*", "subpath", root);
    }
    for protected in &spec.protected {
        rule(&mut text, "deny file-write*", "subpath", protected);
        // Its parent directories cannot be renamed either.
        for around in protected.ancestors().skip(1) {
            if roots().any(|root| around.starts_with(root)) {
                rule(&mut text, "deny file-write-unlink", "literal", around);
            }
        }
    }
    // A root below a protected path is writable, and masked paths in a root stay masked.
    for root in roots() {
        if spec
            .protected
            .iter()
            .any(|place| root != place && root.starts_with(place))
        {
            rule(&mut text, "allow file-write*", "subpath", root);
        }
    }
    for masked in &spec.masked {
        if roots().any(|root| masked.starts_with(root)) {
            rule(&mut text, "deny file-read* file-write*", "subpath", masked);
        }
    }
    text.push_str("(deny network-outbound (remote unix-socket))\n");
    if !spec.network {
        text.push_str("(deny network*)\n(allow network-bind (local unix-socket))\n");
    }
    for root in roots() {
        let _ = writeln!(
            text,
            "(allow network-outbound (remote unix-socket (subpath {})))",
            quoted(root)
        );
    }
    text.push_str("(deny signal)\n(allow signal (target same-sandbox))\n");
    // Services that run programs on request.
    text.push_str("(deny job-creation)\n(deny appleevent-send)\n(deny process-info-pidinfo (target others))\n");
    text
}

fn rule(text: &mut String, what: &str, kind: &str, path: &Path) {
    let _ = writeln!(text, "({what} ({kind} {}))", quoted(path));
}

/// Quotes a path for the profile. A name that is not UTF-8 is converted lossily.
fn quoted(path: &Path) -> String {
    let mut word = String::from("\"");
    for letter in path.to_string_lossy().chars() {
        if matches!(letter, '"' | '\\') {
            word.push('\\');
        }
        word.push(letter);
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seatbelt_rules_of_deeper_paths_come_later() {
        let spec = SandboxSpec {
            write: vec!["/p".into(), "/p/.r/auto".into()],
            protected: vec!["/p/.git/hooks".into(), "/p/.r".into()],
            repositories: Vec::new(),
            obeyed: Vec::new(),
            masked: vec!["/h".into(), "/p/.env".into()],
            readable: vec!["/h/shown".into()],
            temp: "/h/t".into(),
            network: false,
            sockets: Vec::new(),
        };
        let profile = profile(&spec);
        let at = |line: &str| {
            let lines: Vec<_> = profile.lines().collect();
            let found = lines.iter().rposition(|known| *known == line);
            found.unwrap_or_else(|| panic!("{line} is not in {profile}"))
        };
        let mask = at("(deny file-read* file-write* (subpath \"/h\"))");
        let shown = at("(allow file-read* (subpath \"/h/shown\"))");
        let temp = at("(allow file-read* file-write* (subpath \"/h/t\"))");
        let root = at("(allow file-read* file-write* (subpath \"/p\"))");
        let hooks = at("(deny file-write* (subpath \"/p/.git/hooks\"))");
        let around = at("(deny file-write-unlink (literal \"/p/.git\"))");
        let dir = at("(deny file-write* (subpath \"/p/.r\"))");
        let auto = at("(allow file-write* (subpath \"/p/.r/auto\"))");
        let env = at("(deny file-read* file-write* (subpath \"/p/.env\"))");
        assert!(
            mask < temp
                && mask < shown
                && root < hooks
                && root < around
                && dir < auto
                && root < env
        );
        at("(deny network*)");
        let open = super::profile(&SandboxSpec {
            network: true,
            ..spec
        });
        assert!(!open.contains("(deny network*)"));
    }

    #[test]
    fn path_in_a_seatbelt_profile_cannot_end_its_string() {
        assert_eq!(
            quoted(Path::new("/a\") (allow \\x")),
            "\"/a\\\") (allow \\\\x\""
        );
    }
}
