//! What has to be there before a command within walls is started, and for as long as it runs.

use std::sync::Arc;

use contract::Walls;
use proto::Pid;
use sandbox::{Host, Inner, Plan, Stubs};

use crate::found;
use crate::spawner::Opening;

/// All that one command needs.
#[derive(Default)]
pub(crate) struct Prepared {
    /// What is opened around the helper.
    pub opening: Opening,
    /// What the second stage does to itself.
    pub inner: Option<Inner>,
    /// What runs the command, before its own words.
    pub before: Vec<String>,
    /// To be kept until nothing of the command is left.
    pub held: Stubs,
}

/// Gets everything ready. Without walls nothing is needed. The error is for a person.
pub(crate) async fn prepare(
    session: Pid,
    walls: Option<Arc<Walls>>,
    by: found::Walls,
) -> Result<Prepared, String> {
    let Some(walls) = walls else {
        return Ok(Prepared::default());
    };
    match by {
        found::Walls::Not(why) => Err(format!("the sandbox does not work here: {why}")),
        found::Walls::Landlock => Ok(Prepared {
            inner: Some(Inner::alone(&walls)),
            ..Prepared::default()
        }),
        found::Walls::Seatbelt => {
            let profile = sandbox::seatbelt::profile(&walls);
            let before = [sandbox::seatbelt::PROGRAM, "-p", &profile];
            Ok(Prepared {
                before: before.map(str::to_owned).into(),
                ..Prepared::default()
            })
        }
        found::Walls::Mounts { shared } => {
            // It asks the file system, which may be slow or far.
            let prepared = tokio::task::spawn_blocking(move || mounts(&walls)).await;
            let mut prepared = prepared.map_err(|error| error.to_string())??;
            prepared.opening.session = Some(session).filter(|_| shared);
            Ok(prepared)
        }
    }
}

fn mounts(walls: &Walls) -> Result<Prepared, String> {
    let refused = |why: sandbox::Refused| format!("the sandbox: {why}");
    let mut plan = Plan::of(walls, &Host).map_err(refused)?;
    let held = Stubs::make(&mut plan).map_err(refused)?;
    Ok(Prepared {
        inner: Some(Inner::behind(&plan)),
        opening: Opening {
            plan: Some(plan),
            session: None,
        },
        held,
        ..Prepared::default()
    })
}
