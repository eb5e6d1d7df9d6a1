//! Which hooks run in the sandbox: those that reach into what the session may write, because the agent could rewrite
//! the files they run or write through a link.
//!
//! A hook runs outside only if each of its programs is known to run nothing of the workspace. Looks at the disk
//! (blocks); starts nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hooks::{Hook, HookPlacement, HookScope, PlaceHook};
use policy::{Part, Redirection, Word};

use crate::assembly::setup::RuleLayer;
use crate::calls::call::CallEnvironment;
use crate::calls::judgement::ShellPosition;
use crate::calls::outside::ProgramSearch;
use crate::calls::permissions::compiled;

/// Programs that read and print, wait, or notify somebody: they run nothing that the working directory holds, and write
/// no file by their arguments. Parts of a line that these launch are looked at by themselves.
const PLAIN: [&str; 38] = [
    ":",
    "true",
    "false",
    "exit",
    "echo",
    "printf",
    "test",
    "[",
    "[[",
    "read",
    "wait",
    "sleep",
    "cat",
    "head",
    "tail",
    "wc",
    "cut",
    "tr",
    "grep",
    "egrep",
    "fgrep",
    "jq",
    "date",
    "basename",
    "dirname",
    "id",
    "whoami",
    "hostname",
    "uname",
    "timeout",
    "nice",
    "notify-send",
    "osascript",
    "say",
    "logger",
    "curl",
    "reasonix",
    "command",
];

/// Programs that run the file that they are given first.
const INTERPRETERS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "python", "python3", "node", "perl", "ruby",
];

/// Programs that run or obey what the working directory holds.
const RUNNERS: [&str; 44] = [
    "npx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "bunx",
    "deno",
    "uv",
    "uvx",
    "pip",
    "pipx",
    "poetry",
    "pdm",
    "hatch",
    "make",
    "gmake",
    "cmake",
    "ninja",
    "just",
    "task",
    "cargo",
    "go",
    "gradle",
    "mvn",
    "ant",
    "rake",
    "bundle",
    "composer",
    "dotnet",
    "bazel",
    "tox",
    "nox",
    "pytest",
    "pre-commit",
    "prettier",
    "eslint",
    "tsc",
    "git",
    "gh",
    "nix",
    "direnv",
    "mise",
    "env",
    "xargs",
];

/// Those of the plain programs that do what their arguments say: others only read and print.
const OBEYING: [&str; 7] = [
    "curl",
    "reasonix",
    "osascript",
    "timeout",
    "nice",
    "command",
    "date",
];

/// Variables that choose files of settings, beside those that name programs.
const SETTING_VARIABLES: [&str; 3] = ["HOME", "CURL_HOME", "XDG_CONFIG_HOME"];

/// Variables that a hook gets, and whose values are no options.
const OF_DAEMON: [&str; 4] = ["REASONIX_PROJECT_DIR", "HOME", "USER", "PWD"];

/// Options of `curl` whose value is only sent.
const SENT: [&str; 9] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "-H",
    "--header",
];

/// Where the system's programs are: these are known by their names.
const SYSTEM_DIRS: [&str; 5] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"];

/// How far a hook reaches into what the session may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    None,
    /// A program is not known to leave it alone.
    Unknown,
    /// It runs a file of the workspace, or writes one.
    Workspace,
}

/// Places the hooks of one session.
pub(crate) struct SessionPlacement {
    pub environment: Arc<CallEnvironment>,
    /// The rules that the sandbox enforces.
    pub layers: Vec<RuleLayer>,
}

impl PlaceHook for SessionPlacement {
    fn place(&self, hook: &Hook) -> HookPlacement {
        let workspace = &self.environment.workspace;
        let cwd = hook.project().unwrap_or_else(|| workspace.cwd());
        let search = self.search();
        let reach = reach(&search, &hook.command, cwd);
        let is_trusted = match (hook.sandbox, reach) {
            (Some(true), _) => false,
            (Some(false) | None, Reach::None) | (Some(false), Reach::Unknown) => true,
            // Only a project's trust covers files of a workspace.
            (Some(false), Reach::Workspace) => hook.scope == HookScope::Project,
            (None, Reach::Unknown | Reach::Workspace) => false,
        };
        if !is_trusted {
            return self.sandboxed();
        }
        if let Some(changed) = hook.files.iter().find(|file| !file.is_unchanged()) {
            return HookPlacement::Refused(format!(
                "`{}` changed since this hook was trusted to run outside the sandbox; review it, then run `reasonix trust` and `/hooks reload`",
                changed.path.display()
            ));
        }
        let path = search.env.iter().find(|(name, _)| name == "PATH");
        let dirs = workspace.writable_dirs(search.beside);
        let path = path.map(|(_, path)| path.as_str());
        HookPlacement::Outside {
            // A program trusted by its files may be in the workspace.
            path: (reach == Reach::None).then(|| dirs.without(path)),
        }
    }
}

impl SessionPlacement {
    fn search(&self) -> ProgramSearch<'_> {
        ProgramSearch {
            workspace: &self.environment.workspace,
            beside: &self.environment.confine.caches,
            env: &self.environment.env,
        }
    }

    fn sandboxed(&self) -> HookPlacement {
        let rules = compiled(&self.layers, &self.environment.tools).0;
        let held = self.environment.surroundings().held(&rules);
        match (held.sandbox, held.unconfined) {
            (Some(sandbox), _) => HookPlacement::Sandboxed(sandbox),
            (None, Some(why)) => HookPlacement::Refused(format!(
                "this hook reaches into the workspace, and {why}; with `\"sandbox\": false` it runs outside the sandbox"
            )),
            // The user's config turns the sandbox off, or accepts that there is none.
            (None, None) => HookPlacement::Outside { path: None },
        }
    }
}

/// How far a hook's command reaches.
fn reach(search: &ProgramSearch<'_>, line: &str, cwd: &Path) -> Reach {
    let script = policy::read(line);
    let position = ShellPosition {
        cwd: cwd.to_path_buf(),
        ..ShellPosition::default()
    };
    let runs_own = search.look(line, &position).own().is_some();
    if script.doubt.is_some() || runs_own {
        return Reach::Workspace;
    }
    let parts = script.parts.iter();
    parts
        .map(|part| reach_of(search, part, cwd))
        .max()
        .unwrap_or(Reach::None)
}

fn reach_of(search: &ProgramSearch<'_>, part: &Part, cwd: &Path) -> Reach {
    let sets_program = |name: &str| {
        proto::program_variables::names_program(name)
            || SETTING_VARIABLES.contains(&name)
            || OF_DAEMON.contains(&name)
    };
    let writes = part
        .redirections
        .iter()
        .any(|redirection| match redirection {
            Redirection::Write(to) => !to.is_known() || is_own(search, &to.text, to.tilde, cwd),
            Redirection::Copy | Redirection::Null | Redirection::Read(_) | Redirection::Text(_) => {
                false
            }
        });
    if writes || part.assignments.iter().any(|one| sets_program(&one.name)) {
        return Reach::Workspace;
    }
    let Some(program) = part.words.first() else {
        return Reach::None;
    };
    if program.glob || !program.is_known() {
        return Reach::Workspace;
    }
    // Not analysed further for rules, which do not know the user's home.
    if program.tilde && program.text.starts_with("~/") {
        return match is_own(search, &program.text, true, cwd) {
            true => Reach::Workspace,
            false => Reach::None,
        };
    }
    if part.doubt.is_some() {
        return Reach::Workspace;
    }
    let path = Path::new(&program.text);
    let is_script = program.text.contains('/')
        && !SYSTEM_DIRS
            .iter()
            .any(|dir| path.parent() == Some(Path::new(dir)));
    if is_script {
        // One of the user's own: that of the workspace was found before.
        return match path.is_absolute() {
            true => Reach::None,
            false => Reach::Workspace,
        };
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if INTERPRETERS.contains(&&*name) {
        let script = part.words.get(1);
        let is_elsewhere = script.is_some_and(|script| {
            script.is_known()
                && (script.tilde || script.text.starts_with('/'))
                && !is_own(search, &script.text, script.tilde, cwd)
        });
        return match is_elsewhere {
            true => Reach::None,
            false => Reach::Workspace,
        };
    }
    let writes = name == "curl" && part.words.iter().any(|word| curl_writes(&word.text));
    let steered = OBEYING.contains(&&*name) && is_steered(&part.words);
    if writes || steered || RUNNERS.contains(&&*name) {
        return Reach::Workspace;
    }
    match PLAIN.contains(&&*name) {
        true => Reach::None,
        false => Reach::Unknown,
    }
}

/// Whether an argument that is not known may be an option, or more than one argument: the session could write the file
/// that it is read from.
fn is_steered(words: &[Word]) -> bool {
    words.windows(2).any(|pair| {
        let [before, word] = pair else {
            return false;
        };
        let is_sent = SENT.contains(&before.text.as_str());
        let of_daemon = word.text.split('$').skip(1).all(|name| {
            let name = name.trim_start_matches('{');
            let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let end = name.find(|letter: char| !is_of_name(letter));
            OF_DAEMON.contains(&&name[..end.unwrap_or(name.len())])
        });
        let begins = is_sent || !word.text.starts_with('$');
        let fits = !word.text.contains('`') && of_daemon && begins;
        !(word.is_known() || fits)
    })
}

/// Whether the session may change what a path leads to.
fn is_own(search: &ProgramSearch<'_>, text: &str, tilde: bool, cwd: &Path) -> bool {
    let home = search.workspace.user_home();
    let path: PathBuf = match (tilde, text.strip_prefix("~/")) {
        (true, Some(rest)) => home.join(rest),
        _ => cwd.join(text),
    };
    let dirs = search.workspace.writable_dirs(search.beside);
    // A name that is new is written in its directory.
    dirs.leads_through(&path) || path.parent().is_some_and(|dir| dirs.leads_through(dir))
}

/// Whether an argument may have `curl` write a file or read its options from one.
fn curl_writes(argument: &str) -> bool {
    const LONG: [&str; 9] = [
        "--output",
        "--remote",
        "--config",
        "--cookie-jar",
        "--dump-header",
        "--trace",
        "--hsts",
        "--alt-svc",
        "--etag-save",
    ];
    match argument.strip_prefix('-') {
        Some(long) if long.starts_with('-') => LONG.iter().any(|name| argument.starts_with(name)),
        Some(short) => short.contains(['o', 'O', 'K', 'c', 'D', 'J']),
        None => false,
    }
}

#[cfg(test)]
mod tests;
