//! Files that something starts from by itself: a login, a shell, an editor, an interpreter, a terminal, a desktop or a service
//! manager. A change of one runs something later, so only a person may make it. Beside [`crate::startup`], which has
//! those of shells and git.

use std::path::Path;
use std::sync::LazyLock;

/// Their paths, in lower case, wherever they lie. With `/` at the end: everything below, and the directory itself.
pub const LOGIN_FILES: [&str; 94] = [
    ".zlogout",
    ".login",
    ".logout",
    ".cshrc",
    ".tcshrc",
    ".kshrc",
    ".mkshrc",
    ".inputrc",
    ".envrc",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".xserverrc",
    ".xresources",
    ".forward",
    ".procmailrc",
    ".config/fish/",
    ".config/git/",
    ".config/environment.d/",
    ".config/systemd/",
    ".config/autostart/",
    ".config/plasma-workspace/",
    ".config/powershell/",
    ".config/nushell/",
    ".config/zsh/",
    ".config/elvish/",
    ".config/xonsh/",
    ".local/share/systemd/",
    ".local/share/applications/",
    ".local/share/dbus-1/",
    ".local/share/bash-completion/",
    ".local/lib/",
    ".local/bin/",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".nvimrc",
    ".vim/",
    ".config/vim/",
    ".config/nvim/",
    ".emacs",
    ".emacs.el",
    ".emacs.d/",
    ".config/emacs/",
    ".config/helix/",
    ".config/zed/",
    ".config/code/user/",
    ".tmux.conf",
    ".config/tmux/",
    ".screenrc",
    ".gdbinit",
    ".config/gdb/",
    ".lldbinit",
    ".pythonrc",
    "usercustomize.py",
    "sitecustomize.py",
    ".irbrc",
    ".pryrc",
    ".rprofile",
    ".ssh/",
    ".gnupg/",
    ".curlrc",
    ".wgetrc",
    ".config/openbox/",
    ".config/river/",
    ".config/labwc/",
    ".config/lxsession/",
    ".config/sway/",
    ".config/i3/",
    ".i3/",
    ".config/hypr/",
    ".config/awesome/",
    ".config/bspwm/",
    ".config/qtile/",
    ".xmonad/",
    ".config/xmonad/",
    ".doom.d/",
    ".config/doom/",
    ".ipython/",
    ".direnvrc",
    ".config/direnv/",
    ".wezterm.lua",
    ".config/wezterm/",
    ".config/kitty/",
    ".config/alacritty/",
    ".config/ghostty/",
    ".pdbrc",
    ".perldb",
    ".ghci",
    ".psqlrc",
    ".sqliterc",
    ".mailcap",
];

/// One of [`LOGIN_FILES`], in its names.
struct KnownFile {
    path: &'static str,
    names: Vec<&'static str>,
    /// Everything below it counts too.
    below: bool,
}

/// Split once, because paths are looked at many times in each call of a tool. Kept in two lists, because few names of a
/// path begin with a dot.
struct KnownFiles {
    dotted: Vec<KnownFile>,
    /// Each of one name.
    others: Vec<KnownFile>,
}

static KNOWN_FILES: LazyLock<KnownFiles> = LazyLock::new(|| {
    let known = |path: &'static str| KnownFile {
        path,
        names: path.trim_end_matches('/').split('/').collect(),
        below: path.ends_with('/'),
    };
    let known = LOGIN_FILES.into_iter().map(known);
    let (dotted, others) = known.partition(|known| known.path.starts_with('.'));
    KnownFiles { dotted, others }
});

/// Whether components of a path, from one of them on, name such a file or something in such a directory.
pub fn begins_login_file<'a>(mut names: impl Iterator<Item = &'a str> + Clone) -> bool {
    let Some(first) = names.next() else {
        return false;
    };
    let known = match first.starts_with('.') {
        true => &KNOWN_FILES.dotted,
        false => &KNOWN_FILES.others,
    };
    let begins = |known: &&KnownFile| known.names[0].eq_ignore_ascii_case(first);
    known.iter().filter(begins).any(|known| {
        let mut names = names.clone();
        let mut rest = known.names[1..].iter();
        let leads = rest.all(|part| {
            names
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(part))
        });
        leads && (known.below || names.next().is_none())
    })
}

/// The login files of a directory because of where it lies, relative to it: `fish/` in `~/.config`. An empty name: all
/// that is in it, as in `~/.config/fish`.
#[must_use]
pub fn of_directory(directory: &Path) -> Vec<&'static str> {
    let names: Vec<_> = directory
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    let named = |at: usize| names[at..].iter().map(|name| &**name);
    if (0..names.len()).any(|at| begins_login_file(named(at))) {
        return vec![""];
    }
    if !names.iter().any(|name| name.starts_with('.')) {
        return Vec::new();
    }
    KNOWN_FILES
        .dotted
        .iter()
        .filter_map(|known| {
            // So many of its first names are the last ones of the directory.
            let count = (1..known.names.len()).find(|count| {
                let last = names.len().checked_sub(*count).map(|at| &names[at..]);
                let mut pairs = last.into_iter().flatten().zip(&known.names);
                last.is_some() && pairs.all(|(one, other)| one.eq_ignore_ascii_case(other))
            })?;
            let led: usize = known.names[..count].iter().map(|name| name.len() + 1).sum();
            Some(&known.path[led..])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_that_lead_to_login_files_hold_the_rest_of_their_names() {
        let of = |directory| of_directory(Path::new(directory));
        assert!(of("/home/ann/.config").contains(&"systemd/"));
        assert!(of("/home/ann/.Config").contains(&"fish/"));
        assert_eq!(
            of("/home/ann/.local"),
            [
                "share/systemd/",
                "share/applications/",
                "share/dbus-1/",
                "share/bash-completion/",
                "lib/",
                "bin/"
            ]
        );
        assert_eq!(
            of("/home/ann/.local/share"),
            ["systemd/", "applications/", "dbus-1/", "bash-completion/"]
        );
        for all in [
            "/home/ann/.config/fish",
            "/home/ann/.local/bin/tools",
            "/home/ann/.ssh",
        ] {
            assert_eq!(of(all), [""], "{all}");
        }
        for none in [
            "/",
            "/home/ann",
            "/home/ann/config",
            "/home/ann/.config/app",
        ] {
            assert!(of(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn undotted_login_files_have_one_name() {
        for known in &KNOWN_FILES.others {
            assert_eq!(known.names.len(), 1, "{}", known.path);
        }
        let count = KNOWN_FILES.others.len() + KNOWN_FILES.dotted.len();
        assert_eq!(count, LOGIN_FILES.len());
    }

    #[test]
    fn files_are_meant_by_themselves_and_directories_with_all_that_is_in_them() {
        let found = |path: &str| begins_login_file(path.split('/'));
        for path in [
            ".vimrc",
            ".config/git/config",
            ".config/systemd/user/x.service",
            ".local/bin/curl",
            ".LOCAL/bin",
            "usercustomize.py",
            ".config/fish/config.fish",
            ".config/sway/config",
            ".config/openbox/autostart",
            ".doom.d/init.el",
            ".ipython/profile_default/startup/00.py",
            ".psqlrc",
            ".config/Code/User/tasks.json",
            ".local/lib/python3.13/site-packages/x.pth",
        ] {
            assert!(found(path), "{path}");
        }
        for path in [
            ".config/other",
            ".vimrc/x",
            "vimrc",
            ".local/share/x",
            ".config",
        ] {
            assert!(!found(path), "{path}");
        }
    }
}
