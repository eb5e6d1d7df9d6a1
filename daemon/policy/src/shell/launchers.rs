//! Facts about programs that launch others: the options and operands that stand before the program, one row each.
//!
//! Called by `launch`.

use super::is_assignment;
use super::types::Word;

/// What comes behind a launcher's options and operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// A program with its words.
    Program,
    /// The same, and more words come from elsewhere.
    ProgramWithMore,
    /// A line for a shell: all words with a blank between.
    Line,
}

/// A launcher.
pub(super) struct Launcher {
    names: &'static [&'static str],
    /// Short options without a value, …
    flags: &'static str,
    /// … with one, …
    valued: &'static str,
    /// … and long ones.
    long_flags: &'static [&'static str],
    long_valued: &'static [&'static str],
    /// Words before the program.
    operands: usize,
    /// Whether `NAME=value` may stand before the program.
    assigns: bool,
    pub(super) then: Then,
}

const PLAIN: Launcher = Launcher {
    names: &[],
    flags: "",
    valued: "",
    long_flags: &[],
    long_valued: &[],
    operands: 0,
    assigns: false,
    then: Then::Program,
};

#[rustfmt::skip]
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        names: &["env", "genv"],
        flags: "i0v",
        valued: "uCa",
        long_flags: &["ignore-environment", "null", "debug"],
        long_valued: &["unset", "chdir", "argv0"],
        assigns: true,
        ..PLAIN
    },
    Launcher {
        names: &["sudo"],
        flags: "AbEHnPSkKisB",
        valued: "CDghpRrtTuU",
        long_flags: &[
            "non-interactive",
            "set-home",
            "background",
            "preserve-env",
            "login",
            "shell",
            "stdin",
        ],
        long_valued: &[
            "user",
            "group",
            "host",
            "prompt",
            "chdir",
            "chroot",
            "role",
            "type",
            "close-from",
        ],
        assigns: true,
        ..PLAIN
    },
    Launcher {
        names: &["doas"],
        flags: "Lns",
        valued: "Cu",
        ..PLAIN
    },
    Launcher {
        names: &[
            "nohup",
            "unbuffer",
            "catchsegv",
            "busybox",
            "toybox",
            "builtin",
            "proot",
            "fakeroot",
            "dbus-run-session",
            "linux32",
            "linux64",
            "rlwrap",
            "caffeinate",
        ],
        ..PLAIN
    },
    Launcher {
        names: &["setsid"],
        flags: "cfw",
        long_flags: &["ctty", "fork", "wait"],
        ..PLAIN
    },
    Launcher {
        names: &["command"],
        flags: "p",
        ..PLAIN
    },
    Launcher {
        names: &["exec"],
        flags: "cl",
        valued: "a",
        ..PLAIN
    },
    Launcher {
        names: &["time"],
        flags: "pvaqlh",
        valued: "of",
        long_flags: &["portability", "verbose", "append", "quiet"],
        long_valued: &["output", "format"],
        assigns: true,
        ..PLAIN
    },
    Launcher {
        names: &["timeout", "gtimeout"],
        flags: "vfp",
        valued: "ks",
        long_flags: &["verbose", "foreground", "preserve-status"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
        ..PLAIN
    },
    Launcher {
        names: &["nice"],
        flags: "0123456789-",
        valued: "n",
        long_valued: &["adjustment"],
        ..PLAIN
    },
    Launcher {
        names: &["ionice"],
        flags: "t",
        valued: "cn",
        long_flags: &["ignore"],
        long_valued: &["class", "classdata"],
        ..PLAIN
    },
    Launcher {
        names: &["chrt"],
        flags: "abdfiorv",
        valued: "TPD",
        operands: 1,
        ..PLAIN
    },
    Launcher {
        names: &["taskset"],
        flags: "a",
        operands: 1,
        ..PLAIN
    },
    Launcher {
        names: &["stdbuf", "gstdbuf"],
        valued: "ioe",
        long_valued: &["input", "output", "error"],
        ..PLAIN
    },
    Launcher {
        names: &["xargs", "gxargs"],
        flags: "0rtxpo",
        valued: "adEILlnPsJR",
        long_flags: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "exit",
            "interactive",
            "open-tty",
        ],
        long_valued: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-procs",
            "max-chars",
            "replace",
            "max-lines",
            "process-slot-var",
        ],
        then: Then::ProgramWithMore,
        ..PLAIN
    },
    Launcher {
        names: &["watch"],
        flags: "bcdegtxCrw",
        valued: "nq",
        long_flags: &[
            "beep",
            "color",
            "differences",
            "errexit",
            "chgexit",
            "no-title",
            "exec",
            "precise",
        ],
        long_valued: &["interval"],
        then: Then::Line,
        ..PLAIN
    },
    Launcher {
        names: &["chroot"],
        long_flags: &["skip-chdir"],
        long_valued: &["userspec", "groups"],
        operands: 1,
        ..PLAIN
    },
    Launcher {
        names: &["ssh"],
        flags: "46AaCfGgKkMNnqsTtVvXxYy",
        valued: "BbcDEeFIiJLlmOopQRSWw",
        operands: 1,
        then: Then::Line,
        ..PLAIN
    },
    Launcher {
        names: &["npx", "bunx", "pnpx", "uvx"],
        flags: "yq",
        valued: "p",
        long_flags: &["yes", "no", "no-install", "quiet", "prefer-offline"],
        long_valued: &["package", "from", "with"],
        ..PLAIN
    },
    Launcher {
        names: &["strace", "ltrace"],
        flags: "cCfdhiqrtTvVwxyzFk",
        valued: "abeEIoOpPsSuU",
        ..PLAIN
    },
    Launcher {
        names: &["prlimit", "numactl", "gosu", "su-exec"],
        operands: 1,
        ..PLAIN
    },
    Launcher {
        names: &["eval"],
        then: Then::Line,
        ..PLAIN
    },
];

/// What is known of a launcher.
pub(super) fn row(program: &str) -> Option<&'static Launcher> {
    LAUNCHERS.iter().find(|row| row.names.contains(&program))
}

impl Launcher {
    /// Where the program stands: behind options, operands and assignments. `None`: not understood.
    pub(super) fn program(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') || text == "-" && self.names.contains(&"env") {
                break;
            }
            if !word.is_known() || word.glob {
                return None;
            }
            at += match text.strip_prefix("--") {
                Some(long) => self.long(long)?,
                None => self.short(&text[1..])?,
            };
        }
        if words.get(at).is_some_and(|word| word.text == "-") && self.names.contains(&"env") {
            at += 1;
        }
        at += self.operands;
        let rest = words.get(at.min(words.len())..).unwrap_or_default();
        if self.assigns {
            at += rest
                .iter()
                .take_while(|word| is_assignment(&word.text))
                .count();
        }
        Some(at)
    }

    /// How many words a long option takes.
    fn long(&self, long: &str) -> Option<usize> {
        let (name, valued) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        if self.long_valued.contains(&name) {
            return Some(if valued { 1 } else { 2 });
        }
        (self.long_flags.contains(&name)).then_some(1)
    }

    /// How many words a cluster of short options takes.
    fn short(&self, cluster: &str) -> Option<usize> {
        for (at, c) in cluster.char_indices() {
            if self.valued.contains(c) {
                let attached = at + c.len_utf8() < cluster.len();
                return Some(if attached { 1 } else { 2 });
            }
            if !self.flags.contains(c) {
                return None;
            }
        }
        Some(1)
    }
}
