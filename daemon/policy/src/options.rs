//! Arguments that make a program start another one, load code, or write a file of the caller's choice.
//!
//! A grant by prefix covers none of them, and a command with one of them does not only read. Errs on the
//! side of finding too much: the answer is then a question. Called by `decide` and `programs`.

use crate::programs;
use crate::shell::{Word, is_assignment};

/// Options of one program. Short ones count inside clusters (`-xo`), long ones also when shortened.
struct Danger {
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

const DANGERS: &[Danger] = &[
    danger(
        &["find", "gfind"],
        "",
        &[
            "exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls",
        ],
    ),
    danger(
        &["fd", "fdfind"],
        "xX",
        &["exec", "exec-batch", "search-path", "path-separator"],
    ),
    danger(&["rg"], "z", &["pre", "hostname-bin", "search-zip"]),
    danger(
        &["ag", "ack", "ugrep", "bat", "batcat", "delta"],
        "",
        &["pager", "filter", "output", "diff"],
    ),
    danger(
        &["sort"],
        "oT",
        &["output", "compress-program", "temporary-directory"],
    ),
    danger(&["shuf"], "o", &["output"]),
    danger(&["split", "csplit"], "", &["filter", "prefix"]),
    danger(&["tree"], "oR", &["output"]),
    danger(&["file"], "Cmz", &["compile", "magic-file", "uncompress"]),
    danger(&["diff"], "l", &["paginate"]),
    danger(&["date"], "s", &["set"]),
    danger(&["jq"], "fL", &["from-file", "library-path"]),
    danger(
        &["yq"],
        "is",
        &[
            "inplace",
            "in-place",
            "split-exp",
            "from-file",
            "split-exp-file",
        ],
    ),
    danger(&["printf"], "v", &[]),
    danger(&["test", "["], "vR", &[]),
    danger(&["wait"], "p", &[]),
    danger(&["hash"], "p", &[]),
    danger(
        &["zip"],
        "TmO",
        &["unzip-command", "test", "output-file", "move"],
    ),
    danger(
        &["curl"],
        "oOJKTDcdFwEQ",
        &[
            "output",
            "output-dir",
            "remote-name",
            "remote-name-all",
            "remote-header-name",
            "config",
            "upload-file",
            "dump-header",
            "cookie-jar",
            "data",
            "data-binary",
            "data-ascii",
            "data-raw",
            "data-urlencode",
            "json",
            "form",
            "form-string",
            "trace",
            "trace-ascii",
            "trace-config",
            "stderr",
            "libcurl",
            "engine",
            "egd-file",
            "etag-save",
            "hsts",
            "alt-svc",
            "netrc-file",
            "write-out",
            "key",
            "cert",
            "quote",
            "proxy",
            "preproxy",
            "unix-socket",
            "abstract-unix-socket",
            "resolve",
            "connect-to",
            "doh-url",
            "create-file-mode",
        ],
    ),
    danger(
        &["rsync"],
        "e",
        &[
            "rsh",
            "rsync-path",
            "log-file",
            "write-batch",
            "only-write-batch",
            "backup-dir",
            "temp-dir",
            "files-from",
            "daemon",
            "config",
        ],
    ),
    danger(&["scp"], "SoFDJ", &[]),
    danger(
        &["go", "gotestsum"],
        "",
        &[
            "o",
            "c",
            "exec",
            "toolexec",
            "vettool",
            "overlay",
            "modfile",
            "modcacherw",
            "pkgdir",
            "ldflags",
            "gcflags",
            "asmflags",
            "gccgoflags",
            "coverprofile",
            "cpuprofile",
            "memprofile",
            "blockprofile",
            "mutexprofile",
            "trace",
            "outputdir",
            "fuzzcachedir",
            "test.coverprofile",
            "test.cpuprofile",
            "test.memprofile",
            "test.outputdir",
            "test.trace",
            "test.testlogfile",
            "test.blockprofile",
            "test.mutexprofile",
            "junitfile",
            "jsonfile",
            "post-run-command",
        ],
    ),
    danger(
        &["cargo"],
        "ZC",
        &[
            "config",
            "manifest-path",
            "target-dir",
            "out-dir",
            "artifact-dir",
            "root",
            "path",
            "lockfile-path",
            "logfile",
            "index",
            "registry",
        ],
    ),
    danger(
        &["npm", "pnpm", "yarn", "corepack"],
        "Cc",
        &[
            "prefix",
            "dir",
            "cwd",
            "script-shell",
            "node-options",
            "userconfig",
            "globalconfig",
            "call",
            "shell",
            "git",
            "init-module",
            "cache",
            "use-yarnrc",
            "rcfile",
            "editor",
            "viewer",
            "browser",
            "global-dir",
        ],
    ),
    danger(
        &["make", "gmake", "ninja", "just", "task", "rake"],
        "fCIEt",
        &[
            "file",
            "makefile",
            "directory",
            "include-dir",
            "eval",
            "justfile",
            "working-directory",
            "shell",
            "shell-arg",
            "set",
            "rakefile",
            "require",
            "taskfile",
            "dir",
            "dotenv-path",
        ],
    ),
    danger(
        &["cmake"],
        "PEBSCD",
        &[
            "build",
            "install",
            "toolchain",
            "graphviz",
            "trace-redirect",
        ],
    ),
    danger(
        &["pytest", "py.test"],
        "pco",
        &[
            "rootdir",
            "confcutdir",
            "override-ini",
            "basetemp",
            "junitxml",
            "junit-xml",
            "resultlog",
            "log-file",
            "pdbcls",
            "cov-report",
            "cov-config",
            "debug",
            "report-log",
            "html",
            "plugin",
        ],
    ),
    danger(
        &[
            "eslint",
            "prettier",
            "jest",
            "vitest",
            "mocha",
            "ava",
            "tap",
            "stylelint",
            "webpack",
            "vite",
            "rollup",
            "esbuild",
            "babel",
            "nyc",
            "c8",
        ],
        "crof",
        &[
            "config",
            "plugin",
            "parser",
            "rulesdir",
            "resolve-plugins-relative-to",
            "format",
            "formatter",
            "custom-formatter",
            "output-file",
            "outputfile",
            "outfile",
            "outdir",
            "output",
            "output-path",
            "cache-location",
            "cache-file",
            "require",
            "loader",
            "import",
            "runner",
            "transform",
            "reporters",
            "reporter",
            "globalsetup",
            "setupfiles",
            "setupfilesafterenv",
            "testenvironment",
            "resolver",
            "rootdir",
            "root",
            "dir",
            "file",
            "node-option",
            "report-dir",
            "temp-directory",
            "coveragedirectory",
        ],
    ),
    danger(
        &["tsc"],
        "pb",
        &[
            "project",
            "build",
            "outdir",
            "outfile",
            "declarationdir",
            "tsbuildinfofile",
            "generatetrace",
            "generatecpuprofile",
            "locale",
        ],
    ),
    danger(
        &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ld", "tcc", "gfortran",
            "javac", "swiftc", "ghc",
        ],
        "oBCWfx@LZ",
        &[
            "output",
            "out-dir",
            "emit",
            "plugin",
            "specs",
            "wrapper",
            "sysroot",
            "config",
            "processor",
            "processorpath",
        ],
    ),
    danger(
        &["docker", "podman", "nerdctl", "docker-compose"],
        "fHcovw",
        &[
            "file",
            "host",
            "config",
            "context",
            "output",
            "volume",
            "mount",
            "privileged",
            "project-directory",
            "env-file",
            "iidfile",
            "cidfile",
            "entrypoint",
            "security-opt",
            "cap-add",
            "device",
            "pid",
            "secret",
            "ssh",
        ],
    ),
    danger(
        &["kubectl", "helm", "oc"],
        "fk",
        &[
            "kubeconfig",
            "filename",
            "kustomize",
            "post-renderer",
            "output-directory",
            "output-dir",
            "as",
            "token",
            "server",
        ],
    ),
    danger(
        &["terraform", "tofu"],
        "",
        &[
            "chdir",
            "plugin-dir",
            "out",
            "state",
            "state-out",
            "backup",
            "var-file",
        ],
    ),
    danger(
        &["pip", "pip3"],
        "tredi",
        &[
            "target",
            "root",
            "prefix",
            "python",
            "log",
            "cache-dir",
            "src",
            "editable",
            "requirement",
            "dest",
            "index-url",
            "extra-index-url",
            "find-links",
            "global-option",
            "build-option",
            "config-settings",
            "report",
            "constraint",
        ],
    ),
    danger(
        &["apt", "apt-get", "apt-cache"],
        "oc",
        &["option", "config-file"],
    ),
    danger(
        &[
            "mypy", "ruff", "black", "flake8", "pylint", "pyright", "tox", "nox", "isort",
        ],
        "cfpo",
        &[
            "config",
            "config-file",
            "rcfile",
            "load-plugins",
            "init-hook",
            "python-executable",
            "custom-typeshed-dir",
            "cache-dir",
            "output-file",
            "output",
            "any-exe",
            "html-report",
            "xml-report",
            "junit-xml",
            "root",
            "workdir",
            "noxfile",
            "append-config",
            "pythonpath",
            "project",
        ],
    ),
    danger(
        &[
            "xmllint", "xsltproc", "openssl", "gpg", "gpg2", "pandoc", "ffmpeg", "convert",
            "magick", "base32",
        ],
        "oF",
        &[
            "output",
            "out",
            "engine",
            "filter",
            "lua-filter",
            "pdf-engine",
            "load-trace",
            "path",
            "keyout",
            "config",
            "provider",
            "log-file",
        ],
    ),
    danger(
        &["tcpdump", "tshark", "nmap", "dig", "wireshark"],
        "wzfoi",
        &["script", "datadir", "servicedb", "stylesheet"],
    ),
    danger(
        &["gradle", "gradlew", "mvn", "mvnw", "ant", "sbt"],
        "IbcpfsDl",
        &[
            "init-script",
            "build-file",
            "settings-file",
            "project-dir",
            "file",
            "settings",
            "global-settings",
            "include-build",
            "project-cache-dir",
            "gradle-user-home",
            "log-file",
            "lib",
        ],
    ),
    danger(
        &[
            "mkdir", "touch", "cp", "mv", "rm", "rmdir", "chmod", "install",
        ],
        "tS",
        &["target-directory", "suffix", "reference", "strip-program"],
    ),
];

/// Programs of which no argument can be judged: what they are for is running code or writing files.
const NEVER: &[&str] = &[
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
];

/// Programs whose operands are files to write: covered inside the workspace only.
const WRITERS: &[&str] = &["mkdir", "touch", "cp", "mv", "rm", "rmdir", "chmod"];

/// Subcommands that run code or write where they are told, unless the rule names them.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
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

/// What in a command no prefix grant covers, if there is anything. The first `named` words stand in the rule.
pub(crate) fn risk(words: &[Word], named: usize) -> Option<String> {
    // The author of the rule has seen every word of it.
    if words.len() <= named && named > 1 {
        return None;
    }
    let program = programs::base(&words.first()?.text);
    // The option at the end of a rule takes its value from the caller.
    let from = named.saturating_sub(1).max(1);
    let extra = words.get(from..).unwrap_or_default();
    let said = |what: &str| Some(format!("`{what}` is not covered by a prefix"));
    if NEVER.contains(&program) || programs::is_launcher(program) {
        return said(program);
    }
    if program == "awk" || program.ends_with("awk") {
        return awk(extra).then(|| "this awk program is not covered by a prefix".to_owned());
    }
    if programs::is_interpreter(program) {
        return interpreter(words, named);
    }
    if let Some(glob) = extra.iter().find(|word| word.may_become_option()) {
        if !is_harmless(program) {
            return Some(format!(
                "file names in place of `{}` could be options",
                glob.text
            ));
        }
    }
    if let Some(found) =
        danger_of(program).and_then(|danger| extra.iter().find(|word| danger.has(&word.text)))
    {
        return said(&found.text);
    }
    subcommand(program, words, named).or_else(|| special(program, words, extra, named))
}

/// Programs without any option that could do harm.
fn is_harmless(program: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "ls",
        "cat",
        "head",
        "tail",
        "wc",
        "echo",
        "stat",
        "du",
        "df",
        "grep",
        "egrep",
        "fgrep",
        "cmp",
        "comm",
        "cut",
        "nl",
        "od",
        "hexdump",
        "tac",
        "rev",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "cksum",
        "basename",
        "dirname",
        "realpath",
        "readlink",
    ];
    HARMLESS.contains(&program)
}

fn danger_of(program: &str) -> Option<&'static Danger> {
    DANGERS
        .iter()
        .find(|danger| danger.programs.contains(&program))
}

impl Danger {
    /// Whether a word is, or may be read as, one of these options.
    fn has(&self, word: &str) -> bool {
        // These take no shortened names, and some of their harmless options look like one.
        const WHOLE_NAMES: &[&str] = &[
            "cargo", "go", "rg", "fd", "pytest", "eslint", "jest", "tsc", "docker", "kubectl",
            "mypy", "yq",
        ];
        let shortened = !self
            .programs
            .iter()
            .any(|program| WHOLE_NAMES.contains(program));
        has_option(word, self.short, self.long, shortened)
    }
}

fn has_option(word: &str, short: &str, long: &[&str], shortened: bool) -> bool {
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

/// Awk programs that run, read or write something beside their input.
fn awk(extra: &[Word]) -> bool {
    extra.iter().any(|word| {
        let text = word.text.as_str();
        let option = text.starts_with('-') && !text.starts_with("-F");
        option
            || word.may_become_option()
            || [
                "system",
                "getline",
                "@",
                "|",
                ">",
                "ARGV",
                "extension",
                "close",
            ]
            .iter()
            .any(|sign| text.contains(sign))
    })
}

/// Code must be named by the rule itself: the script, or the module.
fn interpreter(words: &[Word], named: usize) -> Option<String> {
    let program = &words.first()?.text;
    let refused = Some(format!(
        "code for `{program}` is covered only if the rule names it"
    ));
    let base = programs::base(program);
    // Shells read options everywhere, and editors and clients take commands anywhere.
    let scripts = [
        "python", "pypy", "node", "deno", "bun", "ruby", "perl", "php", "lua", "tsx", "ts-node",
        "Rscript", "sh", "bash", "dash", "zsh",
    ];
    if !scripts.iter().any(|name| base.starts_with(name)) {
        return refused;
    }
    let named = words.get(1..named).unwrap_or_default();
    let module = matches!(named, [option, name, ..] if option.text == "-m" && base.starts_with("py") && !name.text.starts_with('-'));
    let script = matches!(named, [script, ..] if !script.text.starts_with('-') && script.text.contains(['.', '/']));
    if module || script { None } else { refused }
}

fn subcommand(program: &str, words: &[Word], named: usize) -> Option<String> {
    let (_, risky) = SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    let found = words.get(1)?;
    if found.text.starts_with(['-', '+']) {
        let asks_only = matches!(
            found.text.as_str(),
            "--version" | "--help" | "-V" | "-v" | "-h"
        ) && words.len() == 2;
        return (!asks_only).then(|| {
            format!("options of `{program}` before its subcommand are not covered by a prefix")
        });
    }
    // A rule that names the subcommand has decided about it; what starts others is never decided by that.
    let launches = matches!(
        found.text.as_str(),
        "exec" | "x" | "dlx" | "tool" | "unshare"
    );
    let risk = risky.contains(&found.text.as_str()) && (launches || named < 2);
    risk.then(|| format!("`{program} {}` is not covered by a prefix", found.text))
}

/// What a list of options cannot say.
fn special(program: &str, words: &[Word], extra: &[Word], named: usize) -> Option<String> {
    let refused = |reason: &str| Some(reason.to_owned());
    match program {
        "git" => {
            let Some((subcommand, rest)) = words.get(1..).and_then(<[Word]>::split_first) else {
                return None;
            };
            if subcommand.text.starts_with('-') {
                return refused("options of git before its subcommand are not covered by a prefix");
            }
            if rest.iter().any(Word::may_become_option) {
                return refused("file names in place of a pattern could be options");
            }
            let is_named = named >= 2;
            git_subcommand(&subcommand.text, rest, is_named).or_else(|| git_risk(subcommand, rest))
        }
        "sed" | "gsed" => {
            sed(extra).then(|| "this sed script is not covered by a prefix".to_owned())
        }
        "uniq" => (words
            .iter()
            .skip(1)
            .filter(|word| !word.text.starts_with('-'))
            .count()
            > 1)
        .then(|| "the second file of `uniq` is written".to_owned()),
        "tar" | "bsdtar" | "gtar" => {
            (!tar_lists(&words[1..])).then(|| "`tar` is covered only when it lists".to_owned())
        }
        "unzip" => (!words.iter().any(|word| word.text == "-l"))
            .then(|| "`unzip` is covered only when it lists".to_owned()),
        "make" | "gmake" | "just" | "rake" => extra
            .iter()
            .find(|word| is_assignment(&word.text) || word.text.contains('='))
            .map(|word| format!("`{}` changes what `{program}` runs", word.text)),
        "curl" => extra
            .iter()
            .find(|word| word.text.to_ascii_lowercase().contains("file:"))
            .map(|word| format!("`{}` reads a file", word.text)),
        "gcc" | "g++" | "cc" | "clang" | "javac" | "rustc" => extra
            .iter()
            .find(|word| word.text.starts_with('@'))
            .map(|word| format!("`{}` holds further options", word.text)),
        _ if WRITERS.contains(&program) => extra
            .iter()
            .find(|word| leaves_folder(word))
            .map(|word| format!("`{}` may lead outside the workspace", word.text)),
        _ => None,
    }
}

/// Whether an operand is not plainly below the current directory.
fn leaves_folder(word: &Word) -> bool {
    let text = word.text.as_str();
    word.tilde
        || word.glob && text.starts_with(['*', '?', '[', '-'])
        || text.starts_with('/')
        || text.split('/').any(|part| part == "..")
        || (text.starts_with("--") && text.contains('='))
}

/// Options of git's subcommands.
pub(crate) fn git_risk(subcommand: &Word, rest: &[Word]) -> Option<String> {
    const LONG: &[&str] = &[
        "output",
        "output-directory",
        "ext-diff",
        "textconv",
        "filters",
        "exec",
        "upload-pack",
        "receive-pack",
        "open-files-in-pager",
        "extcmd",
        "config",
        "config-env",
        "template",
        "separate-git-dir",
        "exec-path",
        "git-dir",
        "work-tree",
        "namespace",
        "tool",
        "show-signature",
        "ext-grep",
        "contents",
        "to-cmd",
        "cc-cmd",
        "sendmail-cmd",
        "smtp-server",
        "edit-description",
        "pathspec-from-file",
        "strategy",
    ];
    let short = match subcommand.text.as_str() {
        "clone" => "uc",
        "rebase" => "xs",
        "grep" => "O",
        "format-patch" | "archive" => "o",
        "difftool" | "mergetool" => "xtg",
        "merge" | "pull" | "cherry-pick" | "revert" => "s",
        _ => "",
    };
    let transport = |text: &str| text.contains("ext::") || text.contains("fd::");
    rest.iter()
        .find(|word| has_option(&word.text, short, LONG, true) || transport(&word.text))
        .map(|word| format!("`{}` is not covered by a prefix", word.text))
}

/// Subcommands of git that run programs or write anywhere.
fn git_subcommand(subcommand: &str, rest: &[Word], is_named: bool) -> Option<String> {
    const RUNNERS: &[&str] = &[
        "filter-branch",
        "difftool",
        "mergetool",
        "instaweb",
        "daemon",
        "send-email",
        "hook",
        "credential",
        "shell",
        "upload-pack",
        "receive-pack",
        "upload-archive",
        "remote-ext",
        "remote-fd",
        "fast-import",
        "fsmonitor--daemon",
        "web--browse",
        "gui",
        "citool",
        "gitk",
        "p4",
        "svn",
        "maintenance",
        "for-each-repo",
    ];
    const ELSEWHERE: &[&str] = &[
        "clone",
        "init",
        "worktree",
        "bundle",
        "archive",
        "format-patch",
        "submodule",
        "remote",
        "checkout-index",
    ];
    let first = rest
        .iter()
        .find(|word| !word.text.starts_with('-'))
        .map(|word| word.text.as_str());
    let runs = RUNNERS.contains(&subcommand)
        || (subcommand == "submodule" && rest.iter().any(|word| word.text == "foreach"))
        || (subcommand == "bisect" && first == Some("run"))
        || (subcommand == "config" && !git_config_reads(rest))
        || (ELSEWHERE.contains(&subcommand)
            && !is_named
            && !(subcommand == "remote" && first.is_none()));
    runs.then(|| format!("`git {subcommand}` is not covered by this prefix"))
}

/// `git config` that only shows.
pub(crate) fn git_config_reads(rest: &[Word]) -> bool {
    let shows = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "get",
        "list",
    ];
    let changes = |text: &str| {
        let name = text.strip_prefix("--").unwrap_or_default();
        !name.is_empty()
            && [
                "unset",
                "unset-all",
                "replace-all",
                "add",
                "rename-section",
                "remove-section",
                "edit",
                "file",
            ]
            .iter()
            .any(|long| long.starts_with(name.split('=').next().unwrap_or(name)))
    };
    rest.first()
        .is_some_and(|word| shows.contains(&word.text.as_str()))
        && !rest
            .iter()
            .any(|word| changes(&word.text) || word.text == "-e" || word.text == "-f")
}

/// Whether a tar command only lists: `-tf x.tar`, `tvf x.tar`.
fn tar_lists(arguments: &[Word]) -> bool {
    let Some(first) = arguments.first() else {
        return false;
    };
    let letters = first.text.strip_prefix('-').unwrap_or(&first.text);
    let plain = |text: &str| text.chars().all(|c| "tvfzjJ".contains(c));
    if first.text.starts_with("--") || !letters.contains('t') || !plain(letters) {
        return false;
    }
    arguments[1..]
        .iter()
        .all(|word| match word.text.strip_prefix('-') {
            Some(letters) => !letters.starts_with('-') && plain(letters),
            None => !word.may_become_option(),
        })
        && !arguments.iter().any(|word| word.text.contains(':'))
}

/// Whether a sed command does more than print: scripts and options are taken only in plain forms.
fn sed(extra: &[Word]) -> bool {
    let mut script_seen = false;
    let mut script_next = false;
    for word in extra {
        let text = word.text.as_str();
        let is_script = std::mem::take(&mut script_next);
        if is_script {
            if !sed_script(text) {
                return true;
            }
            script_seen = true;
        } else if text.starts_with('-') {
            match text {
                "-n" | "-E" | "-r" | "-u" | "-z" | "-nE" | "-En" | "-nr" | "-rn" | "--quiet"
                | "--silent" | "--regexp-extended" | "--posix" | "--sandbox" => {}
                "-e" | "-ne" | "-Ee" | "-re" | "--expression" => script_next = true,
                _ => return true,
            }
        } else if !script_seen {
            if !sed_script(text) {
                return true;
            }
            script_seen = true;
        } else if word.may_become_option() {
            return true;
        }
    }
    false
}

/// `1,5p`, `$d`, `/x/p`, `s/a/b/g`: one command without `e`, `w`, `r` and the like.
fn sed_script(script: &str) -> bool {
    let script = script.trim();
    if let Some(rest) = script.strip_prefix("s/") {
        return sed_substitution(rest);
    }
    let rest = match script.strip_prefix('/') {
        Some(pattern) => match sed_field(pattern) {
            Some(rest) => rest,
            None => return false,
        },
        None => script,
    };
    let command = rest.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, ',' | '$' | '~' | '+' | '!' | ' ')
    });
    if let Some(rest) = command.strip_prefix("s/") {
        return sed_substitution(rest);
    }
    let mut parts = command.split(';');
    parts.all(|part| {
        let part = part
            .trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, ',' | '$' | '~' | '+' | '!' | ' ')
            })
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        matches!(part, "" | "p" | "d" | "q" | "=" | "n")
    })
}

/// The rest of a field up to its unescaped slash, and what follows.
fn sed_field(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            // Inside brackets a slash is a character: not followed here.
            '[' => {
                let rest = &text[at..];
                if rest
                    .split(']')
                    .next()
                    .is_some_and(|class| class.contains('/'))
                {
                    return None;
                }
            }
            '/' => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

fn sed_substitution(text: &str) -> bool {
    let flags = sed_field(text).and_then(sed_field);
    flags.is_some_and(|flags| {
        flags
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'))
    })
}
