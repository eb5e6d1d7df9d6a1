//! The opener: without bubblewrap, this process opens the namespaces and starts the helper as their
//! first process. It lives as long as the helper, and dies with its parent.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::process::Command;

use sandbox::direct::{self, NamespaceRequest};

use super::FIRST;
use crate::options::this_binary;

/// Number of digits of the length before a request.
pub(crate) const DIGITS: usize = 8;

/// `before`: the arguments that select the helper. `after`: further arguments for the first
/// process.
pub(super) fn main(before: &[OsString], after: &[OsString]) -> i32 {
    match open(before, after) {
        Ok(code) => code,
        Err(reason) => {
            // The daemon reads it from the command's standard error.
            let _ = writeln!(io::stderr(), "{reason}");
            1
        }
    }
}

fn open(before: &[OsString], after: &[OsString]) -> Result<i32, String> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| format!("{what}: {error}")
    };
    let kill = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(kill)
        .map_err(|error| failed("tie it to the daemon")(error.into()))?;
    close_fds::set_fds_cloexec(3, &[]);
    let request = request().map_err(failed("read the namespace request"))?;
    let identity = direct::open(&request)?;
    if request.place {
        return Ok(crate::session_networks::give());
    }
    let sandboxed = if request.plan.is_some() {
        "sandboxed"
    } else {
        "open"
    };
    let binary = this_binary().map_err(failed("find its binary"))?;
    let mut first = Command::new(binary)
        .args(before)
        .args([FIRST, sandboxed, &identity.to_string()])
        .args(after)
        .env_clear()
        .spawn()
        .map_err(failed("start the first process"))?;
    let nothing = || super::nothing().map_err(failed("let go of its output"));
    // The pipes and the channel must end with the command's last process, not with us.
    rustix::stdio::dup2_stdin(nothing()?).map_err(|error| error.to_string())?;
    rustix::stdio::dup2_stdout(nothing()?).map_err(|error| error.to_string())?;
    rustix::stdio::dup2_stderr(nothing()?).map_err(|error| error.to_string())?;
    let ended = first.wait().map_err(failed("wait for the first process"))?;
    Ok(i32::from(!ended.success()))
}

/// Reads only the request from the channel: the following bytes are for the helper.
fn request() -> io::Result<NamespaceRequest> {
    // The library's standard input reads ahead.
    let mut channel = std::fs::File::from(rustix::io::dup(rustix::stdio::stdin())?);
    let mut digits = [0; DIGITS];
    channel.read_exact(&mut digits)?;
    let length = std::str::from_utf8(&digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .ok_or(io::ErrorKind::InvalidData)?;
    let mut text = vec![0; length];
    channel.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}
