//! Every setting: its name, what it may be, its default, and a sentence. The example file and the reference are made
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
    /// A list of globs of files.
    Globs,
    /// A list of names of environment variables, with `*` for any letters.
    Variables,
}

/// What a project's config may do with a key before the project is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It can only tighten, or does no harm: counts at once.
    Free,
    /// It could loosen something: counts only in a trusted project.
    Trusted,
    /// A limit: counts at once where it is lower than the user's, and else never. 0 is none.
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
    pub reach: Reach,
    pub about: &'static str,
}

const fn number(min: i64, max: i64) -> Kind {
    Kind::Number { min, max }
}

const fn decimal(min: i64, max: i64) -> Kind {
    Kind::Decimal { min, max }
}

/// Makes a table: of each setting its name, kind, reach and default, and below them what it is about.
macro_rules! settings {
    ($(#[$table_about:meta])* $table:ident:
        $($name:literal, $kind:expr, $reach:ident, $default:literal: $about:literal;)*) => {
        $(#[$table_about])*
        pub const $table: &[Key] = &[$(Key {
            name: $name,
            kind: $kind,
            default: $default,
            reach: Reach::$reach,
            about: $about,
        }),*];
    };
}

settings! {
    /// All settings beside `[[providers]]`, in the order of the example file.
    KEYS:
    "default_model", Kind::Text, Trusted, "":
        "The model of a session that names none: a provider's name, a model, or `provider/model`. Unset: the first provider.";
    "credentials_store", Kind::Word(&["auto", "file", "keyring"]), User, "\"auto\"":
        "Where `login` keeps keys. `keyring`: in the system's keyring, where this program was built with it (feature `keychain`); `file`: in `credentials.toml` in the home; `auto`: in the keyring where there is one, else in the file.";
    "language", Kind::Word(&["auto", "en", "zh"]), User, "\"auto\"":
        "The language of the terminal interface; `auto`: by the environment (`REASONIX_LANG`, else the locale), else English.";
    "agent.max_steps", number(0, 1_000_000), Trusted, "0":
        "Steps (requests to the model) that a turn may have; 0: no limit.";
    "agent.compact_ratio", decimal(0, 1), Trusted, "0.8":
        "At this part of the model's window the context is compacted before the next request; 0: never by itself. Without a known window it is compacted when the provider finds a request too long.";
    "agent.fallback_model", Kind::Text, Trusted, "":
        "Who answers for the rest of a turn when the session's model is down after all tries: a provider's name, a model, or `provider/model`. The switch is reported, and the next turn asks the session's model again. Unset: the turn fails.";
    "agent.fast_model", Kind::Text, Trusted, "":
        "Who is asked for what is cheap (reasoning extraction, the preset `fast`): a provider's name, a model, or `provider/model`. Unset: the session's own model.";
    "reasoning.extract", Kind::Flag, Trusted, "false":
        "Turn the reasoning of new sessions into lists for people (subgoals, hypotheses, uncertainties, rejected paths), by a separate request for each answer. It makes no answer better.";
    "budget.day.usd", decimal(0, 1_000_000), User, "0":
        "US dollars that all sessions together may use from midnight to midnight (of the daemon's clock); a fraction counts; 0: no limit. No further request is sent once they are used; what the answers under way cost is not held back. A model without a known price is not held by it.";
    "budget.day.tokens", number(0, 1_000_000_000_000), User, "0":
        "Tokens, of prompts (cached or not) and answers, that all sessions together may use in a day; 0: no limit.";
    "budget.day.steps", number(0, 1_000_000_000), User, "0":
        "Requests to models that all sessions together may make in a day; 0: no limit.";
    "budget.project.usd", decimal(0, 1_000_000), Lower, "0":
        "US dollars that all sessions of a project (a workspace root) may use in a day; 0: no limit.";
    "budget.project.tokens", number(0, 1_000_000_000_000), Lower, "0":
        "Tokens that all sessions of a project may use in a day; 0: no limit.";
    "budget.project.steps", number(0, 1_000_000_000), Lower, "0":
        "Requests to models that all sessions of a project may make in a day; 0: no limit.";
    "budget.session.usd", decimal(0, 1_000_000), Lower, "0":
        "US dollars that a session may use in its whole life; 0: no limit. It counts for new sessions; `reasonix budget` changes it for one that is there.";
    "budget.session.tokens", number(0, 1_000_000_000_000), Lower, "0":
        "Tokens that a session may use in its whole life; 0: no limit. As `budget.session.usd`.";
    "budget.session.steps", number(0, 1_000_000_000), Lower, "0":
        "Requests to models that a session may make in its whole life; 0: no limit. As `budget.session.usd`.";
    "budget.session.minutes", decimal(0, 525_600), Lower, "0":
        "Minutes that turns of a session may take in its whole life, without pauses; no request is sent after them, and what runs goes on; a fraction counts; 0: no limit. As `budget.session.usd`.";
    "tools.bash_timeout_seconds", number(0, 600), Trusted, "120":
        "Seconds that a command may take where the call says nothing; 0: no limit.";
    "tools.shell.pass", Kind::Variables, User, "[]":
        "Names of environment variables, with `*` for any letters, that commands get although they are named like a secret (`*KEY*`, `*TOKEN*`, `*SECRET*`, `*PASSWORD*`, `*PASSPHRASE*`, `PASS` as a part between `_`), have a password in their value (`postgres://user:password@host`), or change how programs are loaded (`LD_*`, `DYLD_*`). A provider's key never passes.";
    "tools.pinned", Kind::Tools, Trusted, "[]":
        "Names of tools whose full description stands in every request from the start, where it would come only when the model asks for it.";
    "permissions.mode", Kind::Word(&["ask", "auto", "yolo"]), Trusted, "\"ask\"":
        "How new sessions answer what no rule decides: `ask` a person, `auto` allow confined writes, `yolo` allow everything that no rule denies.";
    "permissions.deny", Kind::Rules(List::Deny), Free, "[]":
        "Rules for calls that never run, for instance `\"Bash(git push:*)\"` or `\"Edit(vendor/**)\"`. A rule of this and the next two lists may bring examples, tried when it is read: `{ rule = \"Bash(npm run test:*)\", match = [\"npm run test:unit\"], not_match = [\"npm run test; rm x\"] }`.";
    "permissions.ask", Kind::Rules(List::Ask), Free, "[]":
        "Rules for calls that a person is asked about.";
    "permissions.allow", Kind::Rules(List::Allow), Trusted, "[]":
        "Rules for calls that run without asking, for instance `\"Bash(cargo test:*)\"`.";
    "sandbox.bash", Kind::Word(&["enforce", "warn", "off"]), Trusted, "\"enforce\"":
        "Whether the system's kernel holds commands to the workspace. `enforce`: where it cannot, a person is asked before each one; `warn`: where it cannot, they run with your rights, as the rules say; `off`: always so.";
    "sandbox.layer", Kind::Word(&["auto", "bubblewrap", "direct", "landlock"]), User, "\"auto\"":
        "By what commands are held. `auto`: by the strongest that works here; `bubblewrap`, `direct` (the same by system calls of our own) or `landlock` (partial): by this one, and where it does not work by nothing, as `sandbox.bash` says. Counts from the daemon's start.";
    "sandbox.network", Kind::Flag, Trusted, "false":
        "Whether commands reach the network. Else each session has a loopback of its own.";
    "sandbox.caches", Kind::Flag, Trusted, "false":
        "Whether commands may write in the caches of toolchains in your home (cargo, go, npm, pip, gradle, ccache …). What a command leaves there, your own builds use later, outside the sandbox.";
    "sandbox.accept_partial", Kind::Flag, User, "false":
        "Whether unattended runs may run commands without asking where only a part of the sandbox works (sockets, processes and protected files of the workspace are not protected).";
    "sandbox.workspace_root", Kind::Place, Trusted, "":
        "The directory that sessions may write in. Unset: the git root above the working directory, else that directory.";
    "sandbox.allow_write", Kind::Places, Trusted, "[]":
        "Further directories that tools and commands may write in.";
    "sandbox.deny_read", Kind::Globs, User, "[\"~/.ssh/**\", \"~/.aws/**\", \"~/.gnupg/**\", \"~/.netrc\", \"~/.git-credentials\", \"~/.pypirc\", \"~/.kube/**\", \"~/.azure/**\", \"~/.config/gcloud/**\", \"~/.config/gh/**\", \"~/.config/git/credentials\"]":
        "What no tool reads, and no command that the sandbox holds.";
    "sessions.keep_days", number(0, 36_500), User, "0":
        "Days without activity after which a session is deleted, for good; 0: none is. Never one that runs or waits.";
    "daemon.recover", Kind::Word(&["auto", "continue", "idle"]), User, "\"auto\"":
        "What a session does whose turn was cut off when the daemon died: go on, or wait for you. `auto`: headless runs go on, interactive ones wait.";
    "daemon.log", Kind::Word(&["error", "warn", "info", "debug", "trace"]), User, "\"info\"":
        "How much the daemon writes into its own log.";
    "daemon.idle_exit_minutes", decimal(0, 525_600), User, "0":
        "Minutes after which a daemon goes that nobody needs: no client, no unfinished session, no command in the background. A fraction counts (0.5: 30 seconds); sleep of the machine counts; 0: never.";
    "network.connect_seconds", number(1, 600), User, "10":
        "Seconds to wait for a connection to a provider.";
    "network.first_byte_seconds", number(1, 3600), User, "120":
        "Seconds to wait for the first byte of an answer.";
    "network.idle_seconds", number(1, 3600), User, "120":
        "Seconds that an answer's stream may be silent.";
    "tui.theme", Kind::Word(&["auto", "dark", "light", "16", "none"]), User, "\"auto\"":
        "Colours of the terminal interface: `auto` by the terminal, for a `dark` or `light` background, only the terminal's own `16`, or `none`.";
    "tui.vim", Kind::Flag, User, "false":
        "Whether the line for prompts has vim keys.";
    "tui.fullscreen", Kind::Flag, User, "false":
        "Whether the terminal interface takes the whole screen and scrolls by itself, where else the transcript goes into the terminal's own scrollback.";
    "tui.mouse", Kind::Flag, User, "false":
        "Whether the wheel scrolls in full screen; the terminal's own selection then needs its modifier key.";
    "tui.bell", Kind::Flag, User, "true":
        "Whether to ring the terminal and notify the desktop when a session waits or a turn ends while nobody looks.";
}

/// The daemon's own pacing, in the table `[internal]` of the user's config file. Tests set it. It is no part of the
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
        reach: Reach::User,
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
