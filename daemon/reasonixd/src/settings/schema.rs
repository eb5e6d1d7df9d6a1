//! Every setting: its name, its kind, its default, and a sentence. The example file and the reference are made
//! from this table.

use policy::List;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// True or false.
    Flag,
    /// One of these words; one that is a number (`16`) may be written as a number.
    Word(&'static [&'static str]),
    /// A whole number in these bounds, both included.
    Number {
        min: i64,
        max: i64,
    },
    /// A number in these bounds, both included; it may have a fraction.
    Decimal {
        min: i64,
        max: i64,
    },
    /// A list of names of tools.
    Tools,
    /// A list of permission rules.
    Rules(List),
    /// A directory: absolute, below `~`, or relative to the file that sets it; not `/`.
    Place,
    /// A list of such directories.
    Places,
    /// A file: absolute, below `~`, or relative to the file that sets it.
    File,
    /// A list of globs of files.
    Globs,
    /// A list of names of environment variables, with `*` for any letters.
    Variables,
    /// A list of names of skills.
    Skills,
    /// A table: the name of an agent or skill, and its model.
    AgentModels,
    /// A list of shell commands.
    Commands,
}

/// What a project's config may do with a key before the project is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectPermission {
    /// It can only tighten, or does no harm: counts at once.
    Free,
    /// It could loosen something: counts only in a trusted project.
    Trusted,
    /// A limit: counts at once if it is lower than the user's, and else never. 0 is none.
    Lower,
    /// It is the user's own matter: never counts in a project.
    User,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// With its table, for instance `agent.max_steps`.
    pub name: &'static str,
    pub kind: Kind,
    /// As TOML. Empty: there is none.
    pub default: &'static str,
    pub reach: ProjectPermission,
    pub about: &'static str,
}

const fn number(min: i64, max: i64) -> Kind {
    Kind::Number { min, max }
}

const fn decimal(min: i64, max: i64) -> Kind {
    Kind::Decimal { min, max }
}

/// Makes a table: of each setting its name, kind, reach and default, and below them its description.
macro_rules! settings {
    ($(#[$table_about:meta])* $table:ident:
        $($name:literal, $kind:expr, $reach:ident, $default:literal: $about:literal;)*) => {
        $(#[$table_about])*
        pub const $table: &[Key] = &[$(Key {
            name: $name,
            kind: $kind,
            default: $default,
            reach: ProjectPermission::$reach,
            about: $about,
        }),*];
    };
}

settings! {
    /// All settings beside `[[providers]]`, in the order of the example file.
    KEYS:
    "default_model", Kind::Text, Trusted, "":
        "Model of sessions that name none: a provider, a model, or `provider/model`. Unset: the first provider.";
    "credentials_store", Kind::Word(&["auto", "file", "keyring"]), User, "\"auto\"":
        "Where `login` stores keys. `keyring`: the system's keyring (needs a build with the feature `keychain`); `file`: `credentials.toml` in the home; `auto`: the keyring if there is one, else the file.";
    "language", Kind::Word(&["auto", "en", "zh"]), User, "\"auto\"":
        "Language of the terminal interface and the command line. `auto`: `REASONIX_LANG`, else the locale, else English.";
    "agent.max_steps", number(0, 1_000_000), Trusted, "0":
        "Maximum number of steps (requests to the model) per turn; 0: no limit.";
    "agent.compact_ratio", decimal(0, 1), Trusted, "0.8":
        "Compact the context before the next request once it fills this share of the model's window; 0: never automatically. If the window is unknown, compact when the provider rejects a request as too long.";
    "agent.fallback_model", Kind::Text, Trusted, "":
        "Model for the rest of a turn if the session's model still fails after all retries: a provider, a model, or `provider/model`. The switch is reported, and the next turn uses the session's model again. Unset: the turn fails.";
    "agent.fast_model", Kind::Text, Trusted, "":
        "Model for cheap requests (reasoning extraction, the preset `fast`): a provider, a model, or `provider/model`. Unset: the session's model.";
    "agent.compaction_model", Kind::Text, Trusted, "":
        "Model that writes the summary of a compaction: a provider, a model, or `provider/model`. It gets what is folded as plain text, and no cache serves it. Unset: the session's model, which reads the conversation from its provider's cache.";
    "agent.subagent_model", Kind::Text, Trusted, "":
        "Model of sub-agents whose file names none: a provider, a model, or `provider/model`. Unset: the model of the session that starts them.";
    "agent.subagent_models", Kind::AgentModels, Trusted, "{}":
        "Models of single agents and of skills that run as one, by name: `{ explore = \"deepseek-v4-flash\" }`. They count before the model in the agent's file.";
    "agent.planner_model", Kind::Text, Trusted, "":
        "Model that plans the work of each turn, in a session of its own that only reads, before the session's model does it: a provider, a model, or `provider/model`. Applies to new sessions. Unset: nothing is planned.";
    "agent.planner_max_steps", number(0, 1_000), Trusted, "12":
        "Maximum number of requests that the planner makes for one plan; 0: no limit. The last one sums up what it has found.";
    "agent.auto_plan", Kind::Flag, Free, "false":
        "Start prompts that look like work of many steps in plan mode, in new interactive sessions: the model plans, and changes nothing before the plan is approved. `reasonix run` and goals never start so.";
    "agent.system_prompt", Kind::Text, Trusted, "":
        "System prompt of new sessions, instead of the shipped one. Instruction files (AGENTS.md …) still follow it. Unset: the shipped prompt.";
    "agent.system_prompt_file", Kind::File, Trusted, "":
        "File with the system prompt of new sessions (at most 64 KB), instead of `agent.system_prompt`.";
    "agent.reasoning_language", Kind::Word(&["auto", "en", "zh"]), Trusted, "\"auto\"":
        "Language of the model's reasoning in new sessions: `en` English, `zh` Chinese; `auto`: the model chooses. It is a request in the system prompt.";
    "agent.examples_file", Kind::File, Trusted, "":
        "File with examples (few-shot) for the model (at most 64 KB). They are at the end of the system prompt of new sessions.";
    "reasoning.extract", Kind::Flag, Trusted, "false":
        "Extract lists from the reasoning of new sessions (subgoals, hypotheses, uncertainties, rejected paths), with a separate request for each answer. The lists are for you; they do not improve the answers.";
    "budget.day.usd", decimal(0, 1_000_000), User, "0":
        "US dollars that all sessions together may use from midnight to midnight of the daemon's clock; fractions allowed; 0: no limit. Once it is used up, no request is sent; answers in progress still finish. Models without a known price are not limited.";
    "budget.day.tokens", number(0, 1_000_000_000_000), User, "0":
        "Tokens (prompts, cached or not, and answers) that all sessions together may use per day; 0: no limit.";
    "budget.day.steps", number(0, 1_000_000_000), User, "0":
        "Requests to models that all sessions together may send per day; 0: no limit.";
    "budget.project.usd", decimal(0, 1_000_000), Lower, "0":
        "US dollars that all sessions of a project (a workspace root) may use per day; 0: no limit.";
    "budget.project.tokens", number(0, 1_000_000_000_000), Lower, "0":
        "Tokens that all sessions of a project may use per day; 0: no limit.";
    "budget.project.steps", number(0, 1_000_000_000), Lower, "0":
        "Requests to models that all sessions of a project may send per day; 0: no limit.";
    "budget.session.usd", decimal(0, 1_000_000), Lower, "0":
        "US dollars that a session may use in total; 0: no limit. Applies to new sessions; `reasonix budget` changes it for an existing one.";
    "budget.session.tokens", number(0, 1_000_000_000_000), Lower, "0":
        "Tokens that a session may use in total; 0: no limit. Applies as `budget.session.usd` does.";
    "budget.session.steps", number(0, 1_000_000_000), Lower, "0":
        "Requests to models that a session may send in total; 0: no limit. Applies as `budget.session.usd` does.";
    "budget.session.minutes", decimal(0, 525_600), Lower, "0":
        "Minutes that the turns of a session may run in total, pauses excluded; fractions allowed; 0: no limit. Once they are used up, no request is sent; running work finishes. Applies as `budget.session.usd` does.";
    "tools.bash_timeout_seconds", number(0, 600), Trusted, "120":
        "Time limit of a command if the call gives none, in seconds; 0: no limit.";
    "tools.shell.pass", Kind::Variables, User, "[]":
        "Environment variables to pass to commands although they would be removed, with `*` for any letters. Removed are variables that are named like a secret (`*KEY*`, `*TOKEN*`, `*SECRET*`, `*PASSWORD*`, `*PASSPHRASE*`, `PASS` as a part between `_`), contain a password (`postgres://user:password@host`), or change how programs are loaded (`LD_*`, `DYLD_*`). A provider's key is never passed.";
    "tools.enabled", Kind::Tools, Free, "[]":
        "Tools that the model gets in new sessions; `[]`: all. `run --tools` chooses for one run.";
    "tools.pinned", Kind::Tools, Trusted, "[]":
        "Tools whose full description is in every request from the start. Other tools' descriptions may be loaded only when the model asks for them.";
    "mcp.read_only_policy", Kind::Word(&["disabled", "read_only", "allow"]), User, "\"disabled\"":
        "What read-only sessions and plan mode may call of your MCP servers. `disabled`: nothing; `read_only`: the tools that a server of your own configuration marks as reading only, which then run without asking; `allow`: every tool, as the rules say. An entry of `[[plugins]]` or `mcp.json` can set its own `read_only_policy`.";
    "mcp.deferred_above", number(0, 10_000), User, "40":
        "If the MCP servers of a session have more tools than this, the model gets their names only, and loads descriptions as it needs them.";
    "permissions.mode", Kind::Word(&["ask", "auto", "yolo"]), Trusted, "\"ask\"":
        "Approval mode of new sessions, for calls that no rule decides. `ask`: ask you; `auto`: allow sandboxed writes; `yolo`: allow everything.";
    "permissions.reviewer", Kind::Word(&["off", "agent"]), Trusted, "\"off\"":
        "Have a second model look at each call before you are asked about it. `agent`: the model of `agent.fast_model` (unset: the session's) sees the call and your message, has no tools, and denies the call with a reason, or leaves it to you. Its verdict is in the session's log.";
    "permissions.reviewer_allows", Kind::Flag, User, "false":
        "Let the reviewer allow calls without asking you. Never calls that a rule asks about or that are always asked, runs outside the sandbox, or plans.";
    "permissions.deny", Kind::Rules(List::Deny), Free, "[]":
        "Rules for calls that never run, for instance `\"Bash(git push:*)\"` or `\"Edit(vendor/**)\"`. Rules in all three lists may have examples, which are checked when the config is read: `{ rule = \"Bash(npm run test:*)\", match = [\"npm run test:unit\"], not_match = [\"npm run test; rm x\"] }`.";
    "permissions.ask", Kind::Rules(List::Ask), Free, "[]":
        "Rules for calls that need your approval.";
    "permissions.allow", Kind::Rules(List::Allow), Trusted, "[]":
        "Rules for calls that run without asking, for instance `\"Bash(cargo test:*)\"`.";
    "sandbox.bash", Kind::Word(&["enforce", "warn", "off"]), Trusted, "\"enforce\"":
        "Run commands in the sandbox. `enforce`: if the sandbox is unavailable, ask before each command; `warn`: if it is unavailable, run commands with your rights, as the rules say; `off`: never use the sandbox.";
    "sandbox.layer", Kind::Word(&["auto", "bubblewrap", "direct", "landlock"]), User, "\"auto\"":
        "Sandbox backend. `auto`: the strongest one available; `bubblewrap`, `direct` (equivalent, with our own system calls) or `landlock` (partial): only this one; if it does not work, `sandbox.bash` decides. Read when the daemon starts.";
    "sandbox.network", Kind::Flag, Trusted, "false":
        "Let commands use the network. Otherwise each session has only its own loopback interface.";
    "sandbox.sockets", Kind::Places, User, "[]":
        "Unix sockets, or directories with such, that commands may connect to. All others outside the workspace and the session's temporary directory are closed: of `ssh-agent`, `gpg-agent`, D-Bus, Docker, tmux, credential caches and the like. What a service does for a command is not sandboxed.";
    "sandbox.memory_limit_mb", number(0, 1_000_000_000), User, "0":
        "Memory that one command may use with all its processes, in MB. It is killed if it uses more, and the model is told why. 0: three quarters of the machine's memory. Read when the daemon starts.";
    "sandbox.caches", Kind::Flag, Trusted, "false":
        "Let commands write to the caches of toolchains in your home (cargo, go, npm, pip, gradle, ccache …). Your own builds later use these files outside the sandbox.";
    "sandbox.accept_partial", Kind::Flag, User, "false":
        "Let unattended runs execute commands without asking even if the sandbox is only partial (sockets, processes and protected files of the workspace are then exposed).";
    "sandbox.workspace_root", Kind::Place, Trusted, "":
        "Directory that sessions may write in. Unset: the git root above the working directory, else that directory.";
    "sandbox.allow_write", Kind::Places, Trusted, "[]":
        "Additional directories that tools and commands may write in.";
    "sandbox.deny_read", Kind::Globs, User, "[\"~/.ssh/**\", \"~/.aws/**\", \"~/.gnupg/**\", \"~/.netrc\", \"~/.git-credentials\", \"~/.pypirc\", \"~/.kube/**\", \"~/.azure/**\", \"~/.config/gcloud/**\", \"~/.config/gh/**\", \"~/.config/git/credentials\"]":
        "Files that tools and sandboxed commands may not read.";
    "skills.paths", Kind::Places, Trusted, "[]":
        "More directories with skills, each a directory with a `SKILL.md`. Those of the project, of `<home>/skills`, `~/.agents/skills` and `~/.claude/skills` are found without it and come first.";
    "skills.excluded_paths", Kind::Places, Trusted, "[]":
        "Directories in which no skill is looked for, for instance `[\"~/.claude/skills\"]`. A skill in them is not listed, cannot be used, and hides no other one.";
    "skills.disabled", Kind::Skills, Trusted, "[]":
        "Names of skills that neither the model nor a prompt can use.";
    "goal.max_turns", number(0, 1_000_000), Lower, "50":
        "Number of turns after which a goal ends that is not reached; 0: no limit.";
    "goal.check", Kind::Commands, Trusted, "[]":
        "Shell commands that must succeed before a goal counts as complete, beside those that it is started with. Each runs in the session's directory, by the rules and in the sandbox of the session.";
    "supervision.max_restarts", number(0, 1_000), User, "3":
        "Restarts of a session with a restart policy (`--restart`) within `supervision.window_seconds`, after which it gives up; 0: none.";
    "supervision.window_seconds", number(1, 86_400), User, "60":
        "Length of the window in which restarts of a session are counted, in seconds.";
    "memory.enabled", Kind::Flag, User, "true":
        "Give new sessions the facts that earlier ones saved: a line each in the prefix, and the tools to look up, save and forget them. `false`: neither; `reasonix memory` still lists and changes the facts, and `/memory` lists them.";
    "memory.recall", Kind::Flag, User, "false":
        "Send the facts that fit a message with it: at most three, shortened, as background. Facts that have expired are left out. Their text costs tokens with each message that they fit.";
    "sessions.keep_days", number(0, 36_500), User, "0":
        "Delete sessions that have been idle for this many days; 0: never. Running and waiting sessions are never deleted.";
    "daemon.recover", Kind::Word(&["auto", "continue", "idle"]), User, "\"auto\"":
        "What to do with a turn that was cut off when the daemon died. `continue`: resume it; `idle`: wait for you; `auto`: resume headless runs, wait in interactive sessions.";
    "daemon.log", Kind::Word(&["error", "warn", "info", "debug", "trace"]), User, "\"info\"":
        "Level of the daemon's log.";
    "daemon.idle_exit_minutes", decimal(0, 525_600), User, "0":
        "Stop the daemon after this many idle minutes: no client, no unfinished session, no background command, no running `[[autostart]]` server. Fractions allowed (0.5: 30 seconds); time while the machine sleeps counts; 0: never.";
    "network.connect_seconds", number(1, 600), User, "10":
        "Timeout for connecting to a provider, in seconds.";
    "network.first_byte_seconds", number(1, 3600), User, "120":
        "Timeout for the first byte of an answer, in seconds.";
    "network.idle_seconds", number(1, 3600), User, "120":
        "Timeout between two pieces of an answer, in seconds.";
    "network.answer_max_mb", number(1, 16), User, "16":
        "End a request whose answer grows beyond this many megabytes. It fails and is not tried again.";
    "tui.theme", Kind::Word(&["auto", "dark", "light", "16", "none"]), User, "\"auto\"":
        "Colours of the terminal interface. `auto`: detect the background; `dark`, `light`: for that background; `16`: only the terminal's 16 colours; `none`: no colours.";
    "tui.vim", Kind::Flag, User, "false":
        "Use vim keys in the prompt line.";
    "tui.fullscreen", Kind::Flag, User, "false":
        "Use the whole screen, with its own scrolling. Otherwise the transcript goes into the terminal's scrollback.";
    "tui.mouse", Kind::Flag, User, "false":
        "Scroll with the mouse wheel in full screen. To select text, hold the terminal's modifier key.";
    "tui.bell", Kind::Flag, User, "true":
        "Ring the bell and send a desktop notification when a session waits or a turn ends while the terminal is not in focus.";
}

/// Old spellings of settings, which still count.
const OLD_NAMES: &[(&str, &str)] = &[("skills.disabled_skills", "skills.disabled")];

/// The setting that a name of an older version means.
pub(super) fn renamed(old: &str) -> Option<&'static str> {
    let found = OLD_NAMES.iter().find(|(name, _)| *name == old);
    found.map(|(_, new)| *new)
}

/// The names under which a file may set a key: its own, then older ones.
pub(super) fn spellings(name: &'static str) -> impl Iterator<Item = &'static str> {
    let old = OLD_NAMES.iter().filter(move |(_, new)| *new == name);
    [name].into_iter().chain(old.map(|(old, _)| *old))
}

/// The daemon's own pacing, in the table `[internal]` of the user's config file. Tests set it. It is not part of the
/// documented config: the example, the reference, hints and `config.get` have only `KEYS`.
const INTERNAL: &[Key] = &[
    // A session that does nothing leaves memory after so long; 0: never.
    Key {
        kind: decimal(0, 525_600),
        ..internal("internal.evict_minutes", 0, "10")
    },
    // A client has so long to say hello.
    internal("internal.hello_seconds", 3600, "10"),
    // A client that reads nothing for so long while data waits is disconnected.
    internal("internal.client_stuck_seconds", 3600, "60"),
    // Tries of one request, the first included.
    internal("internal.retry_tries", 100, "8"),
    // Before the second try. It doubles with each; half of it is chance.
    internal("internal.retry_base_ms", 60_000, "500"),
    internal("internal.restart_base_ms", 60_000, "1000"),
    // The longest wait between two tries, unless the provider asks for a longer one.
    internal("internal.retry_cap_seconds", 3600, "30"),
    // No try begins later than this.
    internal("internal.retry_total_seconds", 86_400, "600"),
    // A request waits so long for its turn, unless the provider asks for a longer wait.
    internal("internal.queue_seconds", 86_400, "600"),
];

const fn internal(name: &'static str, max: i64, default: &'static str) -> Key {
    Key {
        name,
        kind: number(1, max),
        default,
        reach: ProjectPermission::User,
        about: "",
    }
}

/// All keys that a file may set.
pub(super) fn readable() -> impl Iterator<Item = &'static Key> {
    let keys = KEYS.iter().chain(INTERNAL);
    #[cfg(test)]
    let keys = keys.chain(EXAMPLES);
    keys
}

#[cfg(test)]
settings! {
    /// A setting that only a test knows.
    EXAMPLES:
    "example.minutes", decimal(0, 10), Lower, "2.5":
        "A setting of a test.";
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::settings::load;
    use crate::settings::tests::known_tools;
    use crate::settings::values::Values;

    #[test]
    fn a_new_setting_is_read_and_checked_by_its_key_alone() {
        let values = Values::new(Path::new("/home/ann"), &known_tools());
        assert_eq!(values.get("example.minutes"), Some(2.5.into()));
        assert!(values.is_lower("example.minutes", 1.0));
        let home = tempfile::tempdir().unwrap();
        for (value, problem) in [
            ("7", None),
            (
                "11",
                Some("`example.minutes` must be a number from 0 to 10"),
            ),
        ] {
            let text = format!("[example]\nminutes = {value}\n");
            std::fs::write(home.path().join("config.toml"), text).unwrap();
            let problems = load(home.path(), None, Path::new("/home/ann"), &known_tools()).problems;
            assert_eq!(
                problems.len(),
                usize::from(problem.is_some()),
                "{problems:?}"
            );
            assert!(
                problems
                    .iter()
                    .all(|found| found.contains(problem.unwrap()))
            );
        }
    }
}
