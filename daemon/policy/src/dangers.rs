//! Tables: which options of which programs start others, load code or write where they are told.
//!
//! Facts about programs, and the reading of one option. Called by `options`.

mod builders;
mod everyday;
mod services;

/// Options of one program. Short ones count inside clusters (`-xo`), long ones also when shortened.
pub(crate) struct Danger {
    programs: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
}

const fn danger(
    programs: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
) -> Danger {
    Danger {
        programs,
        short,
        long,
    }
}

const TABLES: &[&[Danger]] = &[everyday::EVERYDAY, builders::BUILDERS, services::SERVICES];

/// Programs of which no argument can be judged: what they are for is running code or writing files.
pub(crate) const NEVER: &[&str] = &[
    "dd",
    "tee",
    "ln",
    "wget",
    "wget2",
    "aria2c",
    "socat",
    "chown",
    "chgrp",
    "mount",
    "umount",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "let",
    "getopts",
    "set",
    "shopt",
    "enable",
    "mkfifo",
    "mknod",
    "truncate",
    "patch",
    "cpio",
    "ar",
    "7z",
    "7za",
    "unrar",
    "gzip",
    "gunzip",
    "xz",
    "install",
    "systemctl",
    "service",
    "launchctl",
    "crontab",
    "fzf",
    "tmux",
    "screen",
    "tmate",
    "objcopy",
    "strip",
    "ffmpeg",
    "openocd",
    "wall",
    "write",
    "mail",
    "mailx",
    "sendmail",
    "mutt",
    "lp",
    "lpr",
    "logrotate",
    "sysctl",
    "ip",
    "nft",
    "setcap",
    "update-alternatives",
    "visudo",
    "vipw",
    "chsh",
    "useradd",
    "usermod",
    "passwd",
    "insmod",
    "modprobe",
    "kexec",
    "tic",
    "tftp",
    "smbclient",
    "rlogin",
    "rsh",
    "vagrant",
    "xdotool",
    "xdg-open",
    "open",
    "cmd.exe",
    "powershell.exe",
    "wine",
    "unsquashfs",
    "debugfs",
    "losetup",
    "mkfs",
    "fdisk",
    "parted",
    "bzip2",
    "bunzip2",
    "zstd",
    "unxz",
];

/// Programs whose operands are files to write: covered inside the workspace only.
pub(crate) const WRITERS: &[&str] = &["mkdir", "touch", "cp", "mv", "rm", "rmdir", "chmod"];

/// Subcommands that run code or write where they are told, unless the rule names them.
pub(crate) const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "npm",
        &[
            "exec",
            "x",
            "explore",
            "init",
            "create",
            "config",
            "set",
            "edit",
            "start-shell",
            "rum",
        ],
    ),
    ("pnpm", &["exec", "dlx", "create", "init", "config", "env"]),
    ("yarn", &["exec", "dlx", "create", "init", "config", "node"]),
    (
        "go",
        &["run", "generate", "tool", "env", "install", "get", "work"],
    ),
    (
        "cargo",
        &[
            "install", "config", "new", "init", "vendor", "package", "login",
        ],
    ),
    (
        "docker",
        &[
            "run", "exec", "cp", "create", "build", "compose", "save", "export", "buildx",
            "plugin", "context",
        ],
    ),
    (
        "podman",
        &[
            "run", "exec", "cp", "create", "build", "compose", "save", "export", "unshare",
            "machine",
        ],
    ),
    (
        "kubectl",
        &[
            "exec",
            "cp",
            "run",
            "debug",
            "plugin",
            "edit",
            "config",
            "apply",
            "proxy",
            "port-forward",
        ],
    ),
    (
        "gh",
        &[
            "alias",
            "extension",
            "ext",
            "codespace",
            "config",
            "auth",
            "run",
            "release",
            "gist",
            "api",
        ],
    ),
    ("pip", &["install", "download", "wheel", "config"]),
    ("pip3", &["install", "download", "wheel", "config"]),
    ("poetry", &["run", "shell", "config", "self"]),
    ("uv", &["run", "tool", "pip"]),
    ("bundle", &["exec", "config", "open"]),
    ("rustup", &["run", "override", "toolchain", "self"]),
];

/// The rows of a program. One that is not known has one too: names of options that mean the same everywhere.
pub(crate) fn dangers_of(program: &str) -> Vec<&'static Danger> {
    let rows = TABLES.iter().flat_map(|table| table.iter());
    let mut found: Vec<&Danger> = rows
        .filter(|danger| danger.programs.contains(&program))
        .collect();
    if found.is_empty() {
        found.push(&UNKNOWN);
    }
    found
}

/// Of programs that stand in no table: their options are not known, but what these say is.
const UNKNOWN: Danger = danger(
    &[],
    "",
    &[
        "exec",
        "execute",
        "command",
        "cmd",
        "eval",
        "plugin",
        "load",
        "preload",
        "rsh",
        "shell",
        "pager",
        "editor",
        "hook",
        "pre-exec",
        "post-exec",
        "output",
        "output-file",
        "outfile",
        "out",
        "output-dir",
        "outdir",
        "log-file",
        "logfile",
        "rcfile",
        "init-file",
        "startup-file",
        "require",
        "library-path",
        "use-compress-program",
        "compress-program",
        "to-command",
        "script",
    ],
);

impl Danger {
    /// Whether a word is, or may be read as, one of these options.
    pub(crate) fn has(&self, word: &str) -> bool {
        // These take no shortened names, and some of their harmless options look like one.
        const WHOLE_NAMES: &[&str] = &[
            "cargo",
            "go",
            "rg",
            "fd",
            "pytest",
            "eslint",
            "jest",
            "tsc",
            "docker",
            "kubectl",
            "mypy",
            "yq",
            "dotnet",
            "swift",
            "phpunit",
            "bazel",
            "mix",
            "biome",
            "golangci-lint",
            "cowsay",
        ];
        let shortened = !self.programs.is_empty()
            && !self
                .programs
                .iter()
                .any(|program| WHOLE_NAMES.contains(program));
        has_option(word, self.short, self.long, shortened)
    }
}

pub(crate) fn has_option(word: &str, short: &str, long: &[&str], shortened: bool) -> bool {
    let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
        return false;
    };
    let name = option.strip_prefix('-').unwrap_or(option);
    let name = name.split('=').next().unwrap_or(name).to_ascii_lowercase();
    if option.starts_with('-') {
        // Shortened names too, but for `--` itself.
        let fits = |long: &&str| {
            if shortened {
                long.starts_with(name.as_str())
            } else {
                *long == name
            }
        };
        return !name.is_empty() && long.iter().any(fits);
    }
    long.contains(&name.as_str()) || option.chars().any(|c| short.contains(c))
}
