//! `reasonix doctor`: does everything work that must?

mod probe;

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use client::Paths;
use client::start::find_program;
use proto::methods::DoctorRun;
use proto::params::config::{Check, CheckLevel, DoctorParams};

use crate::exit::Error;
use crate::messages::daemon::Msg;
use crate::messages::{Label, translated};
use crate::{output, reach, text, unread_rules};

/// Check home, socket, daemon, config and providers.
///
/// Exits 0 if everything required works.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Rebuild the index from the logs.
    #[arg(long)]
    rebuild_index: bool,
    /// Also check that each usable provider answers and accepts its key, by its list of models and a prompt of one token.
    #[arg(long)]
    probe: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Checks the client's side, then asks the daemon for its own.
pub async fn run(args: Args) -> Result<u8, Error> {
    let paths = client::paths::from_env()?;
    let mut checks = vec![home(&paths), program()];
    match reach::daemon("doctor").await {
        Ok(client) => {
            let hello = client.hello().await;
            checks.push(socket(&paths));
            checks.push(versions(&hello.daemon.version));
            let cwd = reach::cwd(None).and_then(|cwd| reach::utf8(&cwd)).ok();
            let params = DoctorParams {
                cwd,
                rebuild_index: args.rebuild_index,
            };
            checks.extend(client.call::<DoctorRun>(&params).await?.checks);
            checks.extend(rules_of_others());
            if args.probe {
                checks.extend(probe::checks(&client).await?);
            }
        }
        Err(error) => {
            let last = error.daemon_log().last();
            let cause = last.map_or_else(String::new, |line| format!(": {line}"));
            let text = format!("{}{cause}", translated(&error.to_string()));
            checks.push(check("daemon", CheckLevel::Failed, &text, &error.hint()));
        }
    }
    if args.json {
        output::json(&checks)?;
    } else {
        for check in &checks {
            let level = match check.level {
                CheckLevel::Ok => say!(Msg::LevelOk),
                CheckLevel::Warning => say!(Msg::LevelWarning),
                CheckLevel::Failed => say!(Msg::Failed),
            };
            let level = output::padded(level, LEVEL);
            let (name, found) = (Label::shown(&check.name), translated(&check.text));
            let line = format!("{level} {}: {}", text::line(&name), text::line(&found));
            output::line_wrapped(&line, LEVEL + 1)?;
            if !check.hint.is_empty() {
                let hint = text::line(&translated(&check.hint));
                output::line_wrapped(&format!("{:LEVEL$} {hint}", ""), LEVEL + 1)?;
            }
        }
    }
    Ok(u8::from(
        checks.iter().any(|check| check.level == CheckLevel::Failed),
    ))
}

/// Columns of a level.
const LEVEL: usize = 8;

fn check(name: &str, level: CheckLevel, text: &str, hint: &str) -> Check {
    Check {
        name: name.to_owned(),
        level,
        text: text.to_owned(),
        hint: hint.to_owned(),
    }
}

/// Rules that a user could take for ours.
fn rules_of_others() -> Vec<Check> {
    let lines = reach::cwd(None).map_or_else(|_| Vec::new(), |cwd| unread_rules::lines(&cwd));
    let warning = |line: &String| check("rules", CheckLevel::Warning, line, "");
    lines.iter().map(warning).collect()
}

fn home(paths: &Paths) -> Check {
    let shown = paths.home.display().to_string();
    let metadata = match std::fs::metadata(&paths.home) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return check("home", CheckLevel::Ok, &say!(Msg::WillCreate, shown), "");
        }
        Err(error) => {
            return check(
                "home",
                CheckLevel::Failed,
                &format!("{shown}: {error}"),
                say!(Msg::SetHome),
            );
        }
    };
    if !metadata.is_dir() {
        return check(
            "home",
            CheckLevel::Failed,
            &say!(Msg::NotDirectory, shown),
            say!(Msg::SetHome),
        );
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return check(
            "home",
            CheckLevel::Failed,
            &say!(Msg::OthersOwn, shown),
            say!(Msg::SetHome),
        );
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        let hint = format!("`chmod 700 {shown}`");
        return check(
            "home",
            CheckLevel::Failed,
            &say!(Msg::OthersWrite, shown, format_args!("{:o}", mode)),
            &hint,
        );
    }
    if let Err(error) = rustix::fs::access(&paths.home, rustix::fs::Access::WRITE_OK) {
        let why = std::io::Error::from(error);
        return check(
            "home",
            CheckLevel::Failed,
            &say!(Msg::NotWritable, shown, why),
            say!(Msg::SetHome),
        );
    }
    check("home", CheckLevel::Ok, &shown, "")
}

fn program() -> Check {
    match find_program() {
        Some(path) => check("reasonixd", CheckLevel::Ok, &path.display().to_string(), ""),
        None => check(
            "reasonixd",
            CheckLevel::Warning,
            say!(Msg::NotFoundHere),
            say!(Msg::InstallIt),
        ),
    }
}

fn socket(paths: &Paths) -> Check {
    let shown = paths.socket.display().to_string();
    match std::fs::metadata(&paths.socket) {
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => check(
            "socket",
            CheckLevel::Failed,
            &say!(Msg::OthersAccess, shown),
            say!(Msg::WhoChanges),
        ),
        Ok(_) => check("socket", CheckLevel::Ok, &shown, ""),
        Err(error) => check(
            "socket",
            CheckLevel::Warning,
            &format!("{shown}: {error}"),
            "",
        ),
    }
}

fn versions(daemon: &str) -> Check {
    if daemon == proto::VERSION {
        return check(
            "versions",
            CheckLevel::Ok,
            &say!(Msg::SameVersion, daemon),
            "",
        );
    }
    check(
        "versions",
        CheckLevel::Warning,
        &say!(Msg::OtherVersion, proto::VERSION, daemon),
        say!(Msg::RestartInstalled),
    )
}
