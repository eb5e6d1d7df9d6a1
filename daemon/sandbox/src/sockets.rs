//! Which Unix sockets a command may reach, and how it names one. Pure.

use contract::lossless_paths;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use contract::SandboxSpec;
use serde::{Deserialize, Serialize};

use crate::file_system::FileSystem;
use crate::plan::MountStep;

/// Services that only look names up. The second value: it may ask the network, so it is for
/// commands that may do so themselves.
const NAME_SERVICES: [(&str, bool); 4] = [
    ("/run/systemd/userdb", false),
    ("/var/lib/sss/pipes/nss", false),
    ("/run/nscd/socket", true),
    ("/run/systemd/resolve/io.systemd.Resolve", true),
];

/// The Unix sockets that a command may connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketRules {
    /// Sockets, and directories whose sockets may be reached. As the command sees them, free of
    /// links.
    #[serde(with = "lossless_paths::many")]
    pub reachable: Vec<PathBuf>,
    /// Exceptions. The deepest of all paths decides.
    #[serde(with = "lossless_paths::many")]
    pub closed: Vec<PathBuf>,
    /// Whether names without a file belong to the session alone.
    pub abstract_names: bool,
}

impl SocketRules {
    /// Whether a socket may be reached. `socket`: its path, free of links.
    pub(crate) fn allow(&self, socket: &Path) -> bool {
        let deepest = |places: &[PathBuf]| {
            let around = places.iter().filter(|place| socket.starts_with(place));
            around.map(|place| place.components().count()).max()
        };
        deepest(&self.reachable) > deepest(&self.closed)
    }
}

/// Sockets that are not in the workspace and may be reached: those of name services, and those that
/// the user opened.
pub(crate) fn elsewhere(spec: &SandboxSpec, files: &dyn FileSystem) -> Vec<PathBuf> {
    let services = NAME_SERVICES
        .iter()
        .filter(|(_, asks)| spec.network || !asks)
        .map(|(place, _)| PathBuf::from(place));
    let inside = |path: &PathBuf| spec.write.iter().any(|root| path.starts_with(root));
    let opened = spec.sockets.iter().filter(|path| !inside(path)).cloned();
    services
        .chain(opened)
        .filter_map(|place| files.real(&place))
        .collect()
}

/// All places whose sockets may be reached behind these mounts.
pub(crate) fn inside_mounts(
    spec: &SandboxSpec,
    files: &dyn FileSystem,
    steps: &[MountStep],
) -> Vec<PathBuf> {
    let mut all = reachable(spec, files);
    // Of the command alone.
    all.push(PathBuf::from("/dev/shm"));
    all.extend(steps.iter().filter_map(|step| match step {
        MountStep::Bind { from, to, .. } if *from == spec.temp => Some(to.clone()),
        _ => None,
    }));
    all
}

/// All places whose sockets may be reached if there are no mounts.
pub(crate) fn reachable(spec: &SandboxSpec, files: &dyn FileSystem) -> Vec<PathBuf> {
    let mut all = elsewhere(spec, files);
    let inside = |path: &&PathBuf| spec.write.iter().any(|root| path.starts_with(root));
    all.extend(spec.sockets.iter().filter(inside).cloned());
    all.push(spec.temp.clone());
    all
}

/// What an address of `connect` names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SocketName<'a> {
    /// A file.
    Path(&'a Path),
    /// A name that no file system has.
    Abstract,
    /// No Unix socket: the kernel judges it.
    Other,
}

/// Reads a socket address as the kernel does.
pub(crate) fn name_of(address: &[u8]) -> SocketName<'_> {
    /// `AF_UNIX`.
    const UNIX: u16 = 1;
    /// The size of `sockaddr_un`. The kernel refuses longer addresses.
    const LONGEST: usize = 110;
    let [low, high, name @ ..] = address else {
        return SocketName::Other;
    };
    if u16::from_ne_bytes([*low, *high]) != UNIX || address.len() > LONGEST {
        return SocketName::Other;
    }
    let path = name.split(|byte| *byte == 0).next().unwrap_or_default();
    match (name, path) {
        ([], _) => SocketName::Other,
        (_, []) => SocketName::Abstract,
        (_, path) => SocketName::Path(Path::new(OsStr::from_bytes(path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_place_decides_whether_a_socket_is_reached() {
        let paths = |of: &[&str]| of.iter().map(PathBuf::from).collect();
        let rules = SocketRules {
            reachable: paths(&["/w", "/home/t"]),
            closed: paths(&["/home", "/w/agent"]),
            abstract_names: false,
        };
        for (socket, expected) in [
            ("/w/s", true),
            ("/w/a/b", true),
            ("/wider/s", false),
            ("/w/agent", false),
            ("/w/agent/s", false),
            ("/home/s", false),
            ("/home/t/s", true),
            ("/s", false),
        ] {
            assert_eq!(rules.allow(Path::new(socket)), expected, "{socket}");
        }
        assert!(!SocketRules::default().allow(Path::new("/w/s")));
    }

    #[test]
    fn addresses_are_read_as_the_kernel_does() {
        let address = |family: u16, name: &[u8]| [&family.to_ne_bytes()[..], name].concat();
        let path = SocketName::Path(Path::new("/a"));
        assert_eq!(name_of(&address(1, b"/a")), path);
        assert_eq!(name_of(&address(1, b"/a\0rest")), path);
        assert_eq!(name_of(&address(1, b"\0a")), SocketName::Abstract);
        assert_eq!(name_of(&address(1, b"\0")), SocketName::Abstract);
        assert_eq!(name_of(&address(1, b"")), SocketName::Other);
        assert_eq!(name_of(&address(2, b"/a")), SocketName::Other);
        assert!(name_of(&address(1, &[b'a'; 108])).is_path());
        assert_eq!(name_of(&address(1, &[b'a'; 109])), SocketName::Other);
        assert_eq!(name_of(b"\x01"), SocketName::Other);
    }

    impl SocketName<'_> {
        fn is_path(&self) -> bool {
            matches!(self, Self::Path(_))
        }
    }
}
