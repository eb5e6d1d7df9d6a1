//! What is known of programs: which start others, which run code, which only read.
//!
//! Tables, and nothing that knows rules. A program that stands in no table is simply not known.
//! Called by `options`, `decide` and `grants`.

use crate::git;
use crate::options;
use crate::shell::Word;

/// Programs whose arguments are another program.
const LAUNCHERS: &[&str] = &[
    "env",
    "sudo",
    "doas",
    "su",
    "runuser",
    "sg",
    "pkexec",
    "nohup",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "setsid",
    "setarch",
    "setpriv",
    "stdbuf",
    "unbuffer",
    "time",
    "command",
    "builtin",
    "exec",
    "eval",
    "xargs",
    "parallel",
    "watch",
    "watchexec",
    "entr",
    "busybox",
    "toybox",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "fakeroot",
    "proot",
    "flock",
    "script",
    "scriptreplay",
    "expect",
    "strace",
    "ltrace",
    "perf",
    "valgrind",
    "rr",
    "gdb",
    "lldb",
    "hyperfine",
    "systemd-run",
    "dbus-run-session",
    "xvfb-run",
    "caffeinate",
    "torsocks",
    "torify",
    "proxychains",
    "proxychains4",
    "faketime",
    "prlimit",
    "numactl",
    "cgexec",
    "capsh",
    "ssh",
    "mosh",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "direnv",
    "mise",
    "asdf",
    "dotenv",
    "nix-shell",
    "nix",
    "guix",
    "at",
    "batch",
    "crontab",
    "screen",
    "tmux",
    "ld.so",
    "coproc",
    "source",
    ".",
    "trap",
    "alias",
    "fc",
    "bind",
    "complete",
    "compgen",
    "enable",
    "tsp",
    "run-parts",
    "start-stop-daemon",
    "daemonize",
    "catchsegv",
    "linux32",
    "linux64",
    "i386",
    "x86_64",
    "uname26",
    "rlwrap",
    "dumb-init",
    "tini",
    "gosu",
    "su-exec",
    "socat",
    "nc",
    "ncat",
    "netcat",
    "make-kpkg",
    "trickle",
    "ip",
    "choom",
    "cpulimit",
    "softlimit",
    "aa-exec",
    "sshpass",
    "multitime",
    "logsave",
    "ccache",
    "distcc",
    "run-mailcap",
    "grc",
    "ssh-agent",
    "pexec",
    "chronic",
    "ifne",
    "sponge",
    "parallel-ssh",
    "pssh",
    "cset",
    "lxc",
    "lxc-execute",
    "machinectl",
    "systemd-nspawn",
    "systemd-inhibit",
    "snap",
    "flatpak",
    "distrobox",
    "toolbox",
    "vagrant",
    "heroku",
    "ansible",
    "ansible-playbook",
    "puppet",
    "salt",
    "chef-client",
];

/// Programs that run code given to them: in an argument, a file or on standard input.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "rbash",
    "elvish",
    "nu",
    "xonsh",
    "pwsh",
    "powershell",
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "perl",
    "ruby",
    "irb",
    "php",
    "lua",
    "luajit",
    "Rscript",
    "R",
    "julia",
    "tclsh",
    "wish",
    "osascript",
    "erl",
    "escript",
    "elixir",
    "iex",
    "ghci",
    "runghc",
    "runhaskell",
    "ocaml",
    "scala",
    "groovy",
    "kotlin",
    "jshell",
    "java",
    "dotnet",
    "swift",
    "guile",
    "racket",
    "sbcl",
    "clisp",
    "emacs",
    "emacsclient",
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "ex",
    "ed",
    "nano",
    "pico",
    "less",
    "more",
    "most",
    "man",
    "info",
    "gawk",
    "mawk",
    "nawk",
    "sqlite3",
    "psql",
    "mysql",
    "mariadb",
    "mongo",
    "mongosh",
    "redis-cli",
    "ftp",
    "lftp",
    "sftp",
    "telnet",
    "bc",
    "dc",
    "m4",
    "cpp",
    "jrunscript",
    "gnuplot",
    "octave",
    "matlab",
    "maxima",
    "gimp",
    "latex",
    "pdflatex",
    "xelatex",
    "lualatex",
    "tex",
    "pdftex",
    "gs",
    "red",
    "rvim",
    "rview",
    "joe",
    "pg",
    "tasksh",
    "yash",
    "sash",
    "links",
    "w3m",
    "lynx",
    "elinks",
    "mutool",
    "lwp-request",
    "awk",
    "jjs",
    "cscript",
    "wscript",
    "mshta",
    "byebug",
    "pry",
    "pdb",
    "bpftrace",
    "stap",
    "dtrace",
    "cobc",
    "crash",
    "ginsh",
    "troff",
    "nroff",
    "groff",
    "pic",
    "eqn",
    "zathura",
    "yelp",
];

/// The program without its directory.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// `python3.12` is `python3`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Whether a program starts what its arguments say.
pub(crate) fn is_launcher(program: &str) -> bool {
    let name = base(program);
    LAUNCHERS.contains(&name) || name.starts_with("ld-linux") || name.starts_with("ld-musl")
}

/// Whether a program runs code that it is given.
pub(crate) fn is_interpreter(program: &str) -> bool {
    let name = base(program);
    let plain = unversioned(name);
    INTERPRETERS.contains(&name) || (!plain.is_empty() && INTERPRETERS.contains(&plain))
}

/// Whether some argument of a plain command is, or may be, a command in its turn.
pub(crate) fn holds_commands(words: &[Word]) -> bool {
    let Some(program) = words.first().map(|word| base(&word.text)) else {
        return false;
    };
    let has = |names: &[&str]| {
        words
            .iter()
            .skip(1)
            .any(|word| names.contains(&word.text.as_str()))
    };
    is_launcher(program)
        || is_interpreter(program)
        || match program {
            "find" | "gfind" => has(&["-exec", "-execdir", "-ok", "-okdir"]),
            "git" => {
                has(&[
                    "foreach",
                    "run",
                    "filter-branch",
                    "rebase",
                    "-c",
                    "config",
                    "difftool",
                    "hook",
                    "alias",
                ]) || words.iter().any(|word| word.text.starts_with("--exec"))
            }
            "docker" | "podman" | "kubectl" | "nerdctl" => has(&["run", "exec"]),
            "npm" | "pnpm" | "yarn" => has(&["exec", "x", "dlx"]),
            "poetry" | "uv" | "pdm" | "hatch" | "pipenv" | "rye" | "bundle" | "conda" | "mamba" => {
                has(&["run", "exec"])
            }
            "fd" | "fdfind" => true,
            // Options that run something may stand anywhere: `--to-command=…`, `--rsh=…`, `-I …`.
            "tar" | "bsdtar" | "gtar" | "rsync" | "scp" | "rg" | "sort" | "split" | "sed"
            | "zip" | "go" => options::risk(words, 1).is_some(),
            _ => false,
        }
}

/// What a command that is known to only read is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Whether it shows what is in files.
    pub(crate) files: bool,
}

/// Programs that only read, whatever their arguments, or but for the options that `options` knows, and that list one
/// directory at most, or refuse it.
pub(crate) const SHALLOW_READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "wc",
    "stat",
    "file",
    "df",
    "cmp",
    "comm",
    "cut",
    "tr",
    "nl",
    "od",
    "hexdump",
    "tac",
    "rev",
    "column",
    "fold",
    "paste",
    "join",
    "expand",
    "unexpand",
    "sort",
    "uniq",
    "strings",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "base64",
    "jq",
    "realpath",
    "readlink",
    "sed",
];

/// The same, which may show what is in directories below.
const DEEP_READERS: &[&str] = &[
    "ls", "du", "tree", "grep", "egrep", "fgrep", "rg", "find", "diff",
];

/// Programs that only read, and no files.
const PLAIN_READERS: &[&str] = &[
    "cd", ":", "pwd", "echo", "printf", "true", "false", "basename", "dirname", "which", "type",
    "whoami", "id", "groups", "uname", "date", "seq", "nproc", "uptime", "free", "ps", "test", "[",
    "arch", "tty", "locale", "cal", "expr", "factor", "numfmt", "sleep", "lscpu", "hostname",
];

/// Programs whose version may be asked. None whose front end looks into the directory for which program, or which
/// version of itself, to run (`cargo`, `rustc`, `go`, `yarn` and the like): that would be the repository's code.
const VERSIONED: &[&str] = &[
    "node", "python", "python3", "pip", "pip3", "ruby", "perl", "java", "javac", "gcc", "g++",
    "clang", "cmake", "make", "docker", "bash", "php", "lua",
];

/// Whether a plain command is known to only read. The program must be named without a directory: `./ls` is
/// somebody's file.
pub(crate) fn reading(words: &[Word]) -> Option<Reading> {
    let (program, arguments) = words.split_first()?;
    let program = program.text.as_str();
    if program == "git" {
        return git::only_reads(arguments).then_some(Reading { files: true });
    }
    if program == "command" {
        // Tells where a program is.
        let asks = matches!(arguments, [option, names @ ..] if matches!(option.text.as_str(), "-v" | "-V")
            && !names.is_empty() && !names.iter().any(Word::may_become_option));
        return asks.then_some(Reading { files: false });
    }
    let version =
        |word: &Word| matches!(word.text.as_str(), "--version" | "-v" | "-V" | "-version");
    if VERSIONED.contains(&program)
        && matches!(arguments, [only] if only.text == "--version" || (program != "bash" && program != "docker" && version(only)))
    {
        return Some(Reading { files: false });
    }
    let files = SHALLOW_READERS.contains(&program) || DEEP_READERS.contains(&program);
    if !files && !PLAIN_READERS.contains(&program) {
        return None;
    }
    options::risk(words, 1)
        .is_none()
        .then_some(Reading { files })
}
