//! What a shell command is started with: shell, environment, title.
//!
//! Pure but for the look for a shell. Called by `bash`.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use contract::{CallContext, Command};
use proto::Pid;

/// Characters of a title.
const TITLE_CHARS: usize = 80;

/// A line of shell, ready to be started. `number`: its own, where it runs in the background.
pub(crate) fn command(
    line: &str,
    title: String,
    number: Option<Pid>,
    context: &CallContext,
) -> Command {
    let env = environment(&context.env);
    let shell = shell(env.get("PATH").map_or("", String::as_str));
    Command {
        argv: vec![shell, "-c".to_owned(), line.to_owned()],
        cwd: context.cwd.clone(),
        env: env.into_iter().collect(),
        title,
        number,
    }
}

/// What people call it: the model's words, or the first line of the command.
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

/// The command's environment: the session's, without secrets and without what would change how programs are loaded.
fn environment(session: &[(String, String)]) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = session
        .iter()
        .filter(|(name, _)| !proto::secret_name(name) && !is_loader(name))
        .cloned()
        .collect();
    env.entry("PATH".to_owned())
        .or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    for (name, value) in [
        ("TERM", "dumb"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    env
}

/// Whether a variable changes how programs are loaded.
fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("LD_") || name.starts_with("DYLD_")
}

/// The shell: `bash` where the session's `PATH` has it, by its absolute path; else what every system has.
fn shell(path: &str) -> String {
    let runs = |file: &Path| {
        std::fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("bash"))
        .find(|file| runs(file))
        .and_then(|file| file.into_os_string().into_string().ok())
        .unwrap_or_else(|| "/bin/sh".to_owned())
}

#[cfg(test)]
mod tests;
