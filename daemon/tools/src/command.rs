//! What a shell command is started with: shell, environment, title.
//!
//! Pure but for the look for a shell. Called by `bash`.

mod stateless;

use std::path::Path;

use contract::Command;
use proto::Pid;
use workspace::WritableDirs;

use crate::lasting::{CommandStart, Environment};

pub(crate) use stateless::is_stateless;

/// Characters of a title.
const TITLE_CHARS: usize = 80;

/// The variable of the shell that holds the line; not exported.
pub(crate) const LINE_VARIABLE: &str = "__reasonix_line";

/// What every command gets, whatever the session has.
const FIXED: [(&str, &str); 4] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// A shell command, ready to be started. `number`: its number if it runs in the background. `back`: the file to which
/// the shell writes its directory and environment when the line has ended.
pub(crate) fn command(
    line: &str,
    title: String,
    number: Option<Pid>,
    start: CommandStart,
    back: Option<&Path>,
) -> Command {
    let shell = start.shell;
    let argv = match number {
        Some(_) => vec![shell, "-c".to_owned(), line.to_owned()],
        None => {
            let line_of_shell = wrapped(back.and_then(Path::to_str));
            vec![
                shell.clone(),
                "-c".to_owned(),
                line_of_shell,
                shell,
                line.to_owned(),
            ]
        }
    };
    Command {
        argv,
        cwd: start.cwd,
        env: start.env.into_iter().collect(),
        title,
        number,
        sandbox: start.sandbox,
        stdin: contract::Stdin::Empty,
        merge_stderr: true,
    }
}

/// A line that runs its first argument as if it were the line itself, and then writes the shell's directory and its
/// environment to `back`, separated by zero bytes.
///
/// The trap preserves the exit code, and also runs after `exit` and `set -e`. If it does not run (`exec`, a trap of the
/// line itself, a signal), the file stays empty. `>|` works despite `set -C`.
fn wrapped(back: Option<&str>) -> String {
    let trap = back.map(|back| {
        let write = format!(
            "{{ command pwd -P && printf '\\0' && /usr/bin/env -0; }} >|{} 2>/dev/null || :",
            quoted(back)
        );
        format!("trap {} EXIT; ", quoted(&write))
    });
    format!(
        "{}{LINE_VARIABLE}=$1; shift; eval \"${LINE_VARIABLE}\"",
        trap.unwrap_or_default()
    )
}

/// A text as one word of a shell line.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The title of the command for display: the model's description, or the first line of the command.
pub(crate) fn title(line: &str, description: Option<&str>) -> String {
    description
        .filter(|text| !text.trim().is_empty())
        .unwrap_or(line)
        .trim()
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|char| !char.is_control())
        .take(TITLE_CHARS)
        .collect()
}

/// The command's environment: the session's, which has let go of secrets and of what changes how programs are loaded.
pub(crate) fn environment(session: &[(String, String)]) -> Environment {
    let mut env: Environment = session.iter().cloned().collect();
    env.entry("PATH".to_owned())
        .or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    for (name, value) in FIXED {
        env.insert(name.to_owned(), value.to_owned());
    }
    no_monitor(&mut env);
    env
}

/// Keeps git from running the monitor program that a repository's own config names, because `git status` is read-only
/// and runs without asking. Must come after the git config from the session's environment.
fn no_monitor(env: &mut Environment) {
    let count = env
        .get("GIT_CONFIG_COUNT")
        .map_or(Ok(0), |count| count.parse::<u32>());
    // Git refuses to run with a count that is none; that is the person's to see.
    let Ok(count) = count else {
        return;
    };
    env.insert(
        "GIT_CONFIG_COUNT".to_owned(),
        count.saturating_add(1).to_string(),
    );
    env.insert(
        format!("GIT_CONFIG_KEY_{count}"),
        "core.fsmonitor".to_owned(),
    );
    env.insert(format!("GIT_CONFIG_VALUE_{count}"), "false".to_owned());
}

/// Whether no command changes this variable for the next.
pub(crate) fn is_fixed(name: &str) -> bool {
    proto::loader_name(name)
        || name.starts_with("GIT_CONFIG_")
        || FIXED.iter().any(|(fixed, _)| *fixed == name)
}

/// The shell: `bash` where the session's `PATH` has it, by its absolute path, and never one that the session may write;
/// else what every system has.
pub(crate) fn shell(path: &str, dirs: &WritableDirs) -> String {
    let path = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let mut found = path.filter_map(|dir| dirs.find("bash", &dir, dir.to_str()));
    found
        .find(|bash| !bash.own)
        .and_then(|bash| bash.path.into_os_string().into_string().ok())
        .unwrap_or_else(|| "/bin/sh".to_owned())
}

#[cfg(test)]
mod tests;
