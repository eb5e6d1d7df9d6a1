//! What `reasonix doctor` asks the daemon: does everything that it needs hold?

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use contract::{SandboxStrength, Spawn as _};
use proto::params::config::{Check, CheckLevel, DoctorParams};
use session::{SandboxDemand, tasks};

use crate::autostart;
use crate::credentials::FallbackKeys;
use crate::daemon::Daemon;
use crate::settings::{Loaded, shipped};
use crate::wire;

mod damage;

/// Looks at everything. Changes nothing, unless the index is to be made again.
pub async fn run(daemon: &Daemon, params: &DoctorParams) -> Vec<Check> {
    let mut checks = vec![home(daemon)];
    checks.extend(store(daemon, params.rebuild_index).await);
    checks.extend(damage::check(daemon).await);
    checks.extend(config(daemon, params.cwd.as_deref().map(Path::new)));
    checks.extend(autostart::checks(daemon, &daemon.settings(None)).await);
    checks.extend(project_files(daemon, params.cwd.as_deref()).await);
    checks.push(confinement(daemon, params.cwd.as_deref().map(Path::new)));
    for check in &mut checks {
        check.text = contract::scrub(&check.text);
        check.hint = contract::scrub(&check.hint);
    }
    checks
}

/// How commands are held here, against what the settings demand.
fn confinement(daemon: &Daemon, cwd: Option<&Path>) -> Check {
    let settings = daemon.settings(cwd).settings;
    let mut text = daemon.confinement();
    if settings.layers != procs::BackendChoice::Auto {
        text += "; `sandbox.layer` allows no other layer";
    }
    let mechanism = daemon.procs.mechanism();
    let brokered = mechanism.sandbox().is_some_and(|sandbox| sandbox.brokered);
    let open = settings.confine.network && !brokered && !procs::holds_abstract_sockets();
    held(settings.confine.demand, daemon.procs.strength(), text, open)
}

/// `open`: with the network of the machine come its abstract sockets, which no file system has.
fn held(demand: SandboxDemand, strength: SandboxStrength, text: String, open: bool) -> Check {
    match (demand, strength) {
        (SandboxDemand::Off, _) => warning(
            "sandbox",
            format!(
                "`sandbox.bash` is `off`: commands run unsandboxed, subject to the rules ({text})"
            ),
            "Remove the setting to sandbox commands.",
        ),
        (_, SandboxStrength::Full) if open => warning(
            "sandbox",
            format!(
                "{text}; `sandbox.network` is on, and this kernel cannot block abstract Unix sockets: commands may reach X11 and D-Bus"
            ),
            "Remove `sandbox.network` if you do not need it, or use Linux 6.12 or newer with Landlock.",
        ),
        (_, SandboxStrength::Full) => ok("sandbox", text),
        (_, SandboxStrength::Partial) => warning(
            "sandbox",
            text,
            "Sockets, processes, and protected or denied files inside the workspace are not sandboxed: `auto` asks before every command, unattended runs need `sandbox.accept_partial`, and `yolo` does not restrict commands there. Install bubblewrap, or allow user namespaces.",
        ),
        (SandboxDemand::Warn, SandboxStrength::None) => warning(
            "sandbox",
            text,
            "Commands run unsandboxed, with your rights: each needs approval unless a rule allows it. Install bubblewrap.",
        ),
        (SandboxDemand::Enforce, SandboxStrength::None) => warning(
            "sandbox",
            text,
            "No sandbox works here, so each command needs approval. Install bubblewrap, or set `sandbox.bash` to `warn` to let the rules decide.",
        ),
    }
}

/// Faults of the files that tell the model about a directory: instructions, commands, skills, facts, agents.
async fn project_files(daemon: &Daemon, cwd: Option<&str>) -> Vec<Check> {
    let Some(cwd) = cwd else {
        return Vec::new();
    };
    let scope = session::PermissionScope::Directory(cwd.into());
    let supervisor = &daemon.supervisor;
    let instructions = supervisor.instructions(Path::new(cwd)).await;
    let commands = supervisor.commands(&scope).await;
    let skills = supervisor.skills(&scope).await;
    let facts = supervisor.with_facts(&scope, |facts| Ok(facts.load()));
    let facts = facts.await.map(|loaded| loaded.problems);
    let agents = supervisor.agents(&scope).await;
    let found = [
        ("instructions", instructions.map(|found| found.problems)),
        ("commands", commands.map(|list| list.problems)),
        ("skills", skills.map(|list| list.problems)),
        ("memory", facts),
        ("agents", agents.map(|list| list.problems)),
    ];
    let mut checks = Vec::new();
    for (name, problems) in found {
        // Other checks report problems of the directory.
        let problems = problems.unwrap_or_default().into_iter();
        checks.extend(problems.map(|problem| warning(name, problem, file_hint(name))));
    }
    checks
}

fn file_hint(name: &str) -> &'static str {
    match name {
        "instructions" => "Correct the file, or remove it. The other instructions work.",
        "commands" => "Correct the file, or remove it. The other commands work.",
        "skills" => "Correct the file, or remove it. The other skills work.",
        "memory" => "Correct the file, or remove it. The other facts work.",
        _ => "Correct the file, or remove it. The other agents work.",
    }
}

fn home(daemon: &Daemon) -> Check {
    // It was checked when the daemon started; the access of others to it may have changed since.
    match store::home::Home::open(daemon.home.root()) {
        Ok(home) => match std::fs::metadata(home.root()) {
            Ok(metadata) => privacy(home.root(), metadata.permissions().mode() & 0o777),
            Err(error) => failed("privacy", error.to_string(), ""),
        },
        Err(error) => failed(
            "privacy",
            store::reason(&error),
            "Run the `chmod` command shown above.",
        ),
    }
}

/// Whether others can look into a home that they cannot write to. The files that the daemon makes there are closed to them
/// anyway; those that the user puts there may not be.
fn privacy(home: &Path, mode: u32) -> Check {
    let shown = home.display();
    match mode & 0o077 {
        0 => ok("privacy", format!("{shown} is private")),
        _ => warning(
            "privacy",
            format!("others can look into {shown} (mode {mode:04o})"),
            &format!("Run `chmod 700 {shown}`."),
        ),
    }
}

async fn store(daemon: &Daemon, rebuild: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    if rebuild {
        match daemon.supervisor.rebuild().await {
            Ok((count, unreadable)) => {
                checks.push(ok(
                    "index",
                    format!("rebuilt from the logs: {count} sessions"),
                ));
                checks.extend(unreadable.into_iter().map(|text| {
                    warning(
                        "index",
                        format!("left out: {text}"),
                        "The log was not changed; inspect it by hand.",
                    )
                }));
            }
            Err(failure) => checks.push(failed("index", failure.message, &failure.hint)),
        }
    }
    if let Some(reason) = unwritable(daemon).await {
        checks.push(failed(
            "store",
            format!("nothing can be saved: {reason}"),
            "Check whether the disk is full, read-only or missing.",
        ));
    }
    checks.push(match daemon.supervisor.counts().await {
        Ok(counts) => ok(
            "store",
            format!(
                "{} sessions, {} loaded, {} running, {} waiting",
                counts.stored, counts.loaded, counts.running, counts.waiting
            ),
        ),
        Err(failure) => failed("store", failure.message, &failure.hint),
    });
    if let Ok(Some(reason)) = daemon.supervisor.history_problem().await {
        checks.push(warning(
            "history",
            format!("The history index cannot be used: {reason}"),
            "Rebuild it from the logs with `reasonix doctor --rebuild-index`.",
        ));
    }
    let closed = daemon
        .supervisor
        .handles()
        .into_iter()
        .filter_map(|handle| {
            let summary = handle.summary();
            let reason = summary.read_only?;
            Some(failed(
                "sessions",
                format!("session {} is read-only: {reason}", summary.pid),
                "Refused actions were not done; the session continues once the cause is fixed.",
            ))
        });
    checks.extend(closed);
    let unrecovered = daemon.supervisor.unrecovered();
    checks.extend(unrecovered.into_iter().map(|(session, reason)| {
        failed(
            "sessions",
            format!("session {session} has unfinished work and was not brought back: {reason}"),
            "It is tried again by itself, once a minute at least.",
        )
    }));
    checks
}

/// Why nothing can be written to the home, if that is so.
async fn unwritable(daemon: &Daemon) -> Option<String> {
    let home = Arc::clone(&daemon.home);
    let checked = tasks::blocking(move || home.check_writable()).await;
    let error = checked.ok()?.err()?;
    Some(store::reason(&error))
}

/// What to do about a problem in a config file.
pub const CONFIG_HINT: &str = "Fix the line; until then it has no effect.";
/// What to do about a problem with the file of keys.
pub const CREDENTIALS_HINT: &str = "Fix the file; a key is stored with `reasonix setup`.";

fn config(daemon: &Daemon, cwd: Option<&Path>) -> Vec<Check> {
    let loaded = daemon.settings(cwd);
    let prompt_files = wire::unusable_prompt_files(&loaded.settings);
    let problems = loaded.problems.iter().cloned().chain(prompt_files);
    let mut checks: Vec<_> = problems
        .map(|problem| warning("config", problem, CONFIG_HINT))
        .collect();
    if checks.is_empty() {
        checks.push(ok("config", "no problems".into()));
    }
    if let Some(problem) = daemon.store(&loaded).problem() {
        checks.push(warning("credentials", problem, CREDENTIALS_HINT));
    }
    let own = daemon.fallback_keys(&loaded);
    if let Some(project) = &loaded.project
        && !project.trusted
    {
        checks.push(warning(
            "trust",
            format!(
                "{} is not trusted: {}",
                project.file.display(),
                project.without_effect().join(" · ")
            ),
            &trust_hint(cwd.unwrap_or(&project.directory)),
        ));
    }
    checks.extend(providers(daemon, &loaded, &own));
    checks
}

/// The configured providers; if there is none, the shipped ones that have a key.
fn providers(daemon: &Daemon, loaded: &Loaded, own: &FallbackKeys) -> Vec<Check> {
    let mut entries = loaded.settings.providers.clone();
    if entries.is_empty() {
        let has_key = |variable: &str| own.has(variable);
        let whole = loaded.providers_lost.is_empty();
        entries.extend(whole.then(|| shipped::with_key(&has_key)).flatten());
    }
    if entries.is_empty() {
        let hint = format!(
            "Choose one with `reasonix setup`, or add a `[[providers]]` entry to {}.",
            daemon.home.config().display()
        );
        return vec![failed("providers", "none is configured".into(), &hint)];
    }
    let checks = entries.iter().map(|entry| {
        let name = format!("provider {}", entry.name);
        if let Err(failure) = crate::wire::check(entry, &loaded.settings, &daemon.procs) {
            return failed(&name, failure.message, &failure.hint);
        }
        let key = entry
            .api_key_env
            .as_deref()
            .map(|variable| (variable, own.get(variable)));
        let about = match key {
            None => String::new(),
            Some((variable, None)) => {
                format!(
                    "; no key is stored for {variable}: the client's environment variable is used"
                )
            }
            Some((variable, Some((_, from)))) => {
                format!("; the key for {variable}: {}", from.word())
            }
        };
        // Not every kind has an address.
        let at = match (entry.base_url.as_str(), entry.command.first()) {
            (_, Some(program)) => format!(" `{program}`"),
            ("", None) => String::new(),
            (url, None) => format!(" ({url})"),
        };
        ok(&name, format!("{}{at}{about}", entry.kind))
    });
    checks.collect()
}

fn trust_hint(directory: &Path) -> String {
    // For a shell: a quote in a path ends the quotes, is written escaped, and begins them again.
    let directory = directory.to_string_lossy().replace('\'', r"'\''");
    format!("`reasonix trust '{directory}'` shows these settings, and asks whether to trust them.")
}

fn ok(name: &str, text: String) -> Check {
    check(CheckLevel::Ok, name, text, "")
}

fn warning(name: &str, text: String, hint: &str) -> Check {
    check(CheckLevel::Warning, name, text, hint)
}

fn failed(name: &str, text: String, hint: &str) -> Check {
    check(CheckLevel::Failed, name, text, hint)
}

fn check(level: CheckLevel, name: &str, text: String, hint: &str) -> Check {
    Check {
        name: name.to_owned(),
        level,
        text,
        hint: hint.to_owned(),
    }
}

/// Resident memory of this process, in bytes; 0 where the system does not say.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| {
        line.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()
    });
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests;
