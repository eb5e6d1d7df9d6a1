//! The opener: where there is no bubblewrap, this process opens the namespaces, and starts the helper as the first
//! process in them. It lives as long as the helper, and dies with who started it.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::process::Command;

use sandbox::direct::{self, Order};

use super::FIRST;
use crate::options::this_binary;

/// Digits of the length that an order begins with.
pub(crate) const DIGITS: usize = 8;

/// `before`: what makes this binary the helper. `told`: what the first process is told besides.
pub(super) fn main(before: &[OsString], told: &[OsString]) -> i32 {
    match open(before, told) {
        Ok(code) => code,
        Err(reason) => {
            // The daemon reads it where the command's words would stand.
            let _ = writeln!(io::stderr(), "{reason}");
            1
        }
    }
}

fn open(before: &[OsString], told: &[OsString]) -> Result<i32, String> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| format!("{what}: {error}")
    };
    let kill = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(kill)
        .map_err(|error| failed("tie it to the daemon")(error.into()))?;
    close_fds::set_fds_cloexec(3, &[]);
    let order = order().map_err(failed("hear what to open"))?;
    let identity = direct::open(&order)?;
    if order.place {
        return Ok(crate::place::give());
    }
    let walled = if order.plan.is_some() {
        "walled"
    } else {
        "open"
    };
    let binary = this_binary().map_err(failed("find its binary"))?;
    let mut first = Command::new(binary)
        .args(before)
        .args([FIRST, walled, &identity.to_string()])
        .args(told)
        .env_clear()
        .spawn()
        .map_err(failed("start the first process"))?;
    let nothing = || super::nothing().map_err(failed("let go of its output"));
    // The pipes and the channel must end with the last process of the command, not with us.
    rustix::stdio::dup2_stdin(nothing()?).map_err(|error| error.to_string())?;
    rustix::stdio::dup2_stdout(nothing()?).map_err(|error| error.to_string())?;
    rustix::stdio::dup2_stderr(nothing()?).map_err(|error| error.to_string())?;
    let ended = first.wait().map_err(failed("wait for the first process"))?;
    Ok(i32::from(!ended.success()))
}

/// What stands on the channel before all else, and no byte more: what follows is the helper's.
fn order() -> io::Result<Order> {
    // Standard input of the library reads ahead.
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
