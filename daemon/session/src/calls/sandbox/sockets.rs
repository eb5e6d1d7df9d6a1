//! Sockets of programs that do for whoever speaks to them what no command may: keys, containers, the desktop.
//!
//! What lies in `/run` and in the machine's `/tmp` no command sees, and a broker lets commands reach the sockets of
//! their session only. This is the rest: sockets in a workspace that is a user's home, and sockets that are hidden if
//! no broker runs. Looks at names and kinds only.

use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Where programs keep theirs in a person's home.
const IN_HOME: [&str; 11] = [
    ".cache/git/credential",
    ".git-credential-cache",
    ".docker/run",
    ".docker/desktop",
    ".orbstack/run",
    ".colima",
    ".lima",
    ".rd",
    ".local/share/containers/podman/machine",
    ".1password/agent.sock",
    ".bitwarden-ssh-agent.sock",
];
/// Those of `gpg-agent` lie beside its keys, by this name.
const GPG: (&str, &str) = (".gnupg", "S.");
/// In `/tmp`, for who works in `/tmp` itself.
const IN_TMP: [&str; 2] = ["/tmp/.X11-unix", "/tmp/.ICE-unix"];
/// A directory of nothing else.
const RUNTIME: &str = "XDG_RUNTIME_DIR";

/// What the user opened, free of links, as far as it is there.
pub(super) fn opened(sockets: &[PathBuf]) -> Vec<PathBuf> {
    let there = sockets.iter().filter_map(|path| path.canonicalize().ok());
    there.collect()
}

/// The places that a command's sandbox hides, as far as they exist; `env`: variables that lead to some of them.
pub(super) fn of(user_home: &Path, env: &[(String, String)]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = IN_HOME.iter().map(|name| user_home.join(name)).collect();
    places.extend(IN_TMP.map(PathBuf::from));
    let (gpg, begins) = GPG;
    let entries = std::fs::read_dir(user_home.join(gpg));
    let entries = entries.into_iter().flatten().flatten();
    places.extend(
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(begins))
            .map(|entry| entry.path()),
    );
    places.retain(|place| place.exists());
    places.extend(
        env.iter()
            .filter_map(|(name, value)| named(name, value, user_home)),
    );
    places
}

/// The socket that a variable names, or the directory for them.
fn named(name: &str, value: &str, user_home: &Path) -> Option<PathBuf> {
    let path = |text: &str| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
    if name == RUNTIME {
        // One that is everything around the person's home would hide what a command has to see.
        return path(value).filter(|dir| dir.is_dir() && !user_home.starts_with(dir));
    }
    // `unix:///x`, `unix:path=/x,guid=1`, or the path alone.
    let rest = match value.split_once("unix:") {
        Some((_, rest)) => rest
            .strip_prefix("path=")
            .or(rest.strip_prefix("//"))
            .unwrap_or(rest),
        None => value,
    };
    let found = path(rest.split([',', ';']).next()?)?;
    let kind = found.metadata().ok()?.file_type();
    kind.is_socket().then_some(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn sockets_are_found_by_where_programs_keep_them_and_by_what_names_them() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let home = top.join("ann");
        for dir in [".docker/run", ".gnupg", "runtime"] {
            std::fs::create_dir_all(home.join(dir)).unwrap();
        }
        std::fs::write(home.join("notes"), "x").unwrap();
        let bound = [".gnupg/S.gpg-agent", "agent", "docker", "bus"].map(|name| home.join(name));
        let _open = bound
            .each_ref()
            .map(|path| UnixListener::bind(path).unwrap());
        let [gpg, agent, docker, bus] = &bound;
        let env = [
            ("SSH_AUTH_SOCK", agent.display().to_string()),
            ("DOCKER_HOST", format!("unix://{}", docker.display())),
            (
                "DBUS_SESSION_BUS_ADDRESS",
                format!("unix:path={},guid=1", bus.display()),
            ),
            (
                "XDG_RUNTIME_DIR",
                home.join("runtime").display().to_string(),
            ),
            ("NOTES", home.join("notes").display().to_string()),
            ("HOME", home.display().to_string()),
            ("PATH", "/usr/bin:/bin".to_owned()),
        ];
        let mut env = env.map(|(name, value)| (name.to_owned(), value));
        let mut found = of(&home, &env);
        found.retain(|place| place.starts_with(&home));
        let expected = [
            home.join(".docker/run"),
            gpg.clone(),
            agent.clone(),
            docker.clone(),
            bus.clone(),
            home.join("runtime"),
        ];
        assert_eq!(found, expected);
        // Nobody's home disappears because of it.
        env[3].1 = top.display().to_string();
        assert!(!of(&home, &env).contains(&top));
    }
}
