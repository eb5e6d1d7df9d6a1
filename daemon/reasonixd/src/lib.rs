//! The daemon: a small parent that keeps it alive, and the daemon proper.
//!
//! A library too, so that tests and benches can run it in their own process or under another name.

mod autostart;
mod credentials;
mod daemon;
mod doctor;
mod dotenv;
mod ending;
mod gate;
mod hold;
mod idle;
mod inherited;
mod key_keeper;
mod lifecycle;
mod logfile;
mod mark;
mod parent;
mod retention;
mod rpc;
mod server_admission;
mod server_content;
mod server_sandbox;
pub mod settings;
mod signals;
mod stop_request;
mod temporary;
mod version;
mod wire;

#[cfg(any(test, fuzzing))]
pub mod fuzz;

use std::process::ExitCode;

/// The program of this version of Reasonix. See [`main_of`].
#[must_use]
pub fn main() -> ExitCode {
    main_of(proto::VERSION)
}

/// The program of a version, by its arguments: none (the parent), `serve` (the daemon proper), `child` (the helper that starts
/// commands), `--version`, `--help`.
#[must_use]
pub fn main_of(version: &'static str) -> ExitCode {
    version::start_as(version);
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    match first.as_deref().and_then(std::ffi::OsStr::to_str) {
        // First of all and before any runtime: this is how every command of every tool is started.
        Some("child") => exit(procs::child::child_main()),
        None => {
            inherited::close_inherited_descriptors();
            parent::run()
        }
        Some("serve") => {
            inherited::close_inherited_descriptors();
            let keys_on_stdin = arguments
                .next()
                .is_some_and(|next| next == key_keeper::ARGUMENT);
            lifecycle::run(keys_on_stdin)
        }
        Some("--version" | "-V") => say(&format!("reasonixd {version}"), true),
        Some("--help" | "-h") => say(HELP, true),
        Some(other) => say(
            &format!("reasonixd: unknown command `{other}`.\n{HELP}"),
            false,
        ),
    }
}

const HELP: &str = "reasonixd owns the sessions of Reasonix. Clients start it automatically; to start it yourself, run `reasonix daemon start`.

Usage: reasonixd [serve]

  (none)     run the daemon, and restart it after a crash
  serve      run the daemon in the foreground, without restarts

Environment: REASONIX_HOME (default ~/.reasonix), REASONIX_SOCKET, REASONIX_LOG";

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Words on a terminal, for a person who starts the daemon by hand.
fn say(text: &str, well: bool) -> ExitCode {
    use std::io::Write as _;
    // Whoever started it may have stopped listening: that changes nothing.
    if well {
        let _ = writeln!(std::io::stdout(), "{text}");
        ExitCode::SUCCESS
    } else {
        let _ = writeln!(std::io::stderr(), "{text}");
        exit(64)
    }
}

#[cfg(test)]
mod tests;
