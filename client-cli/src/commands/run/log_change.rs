//! A log that was repaired or restored while its run was watched.

use client::{DecodedEvent, FollowEvent};

use crate::exit::Error;
use crate::messages::run::Msg;

/// Notices that the log that is followed is not the one of this run any more: the end of the turn may never come.
#[derive(Default)]
pub struct LogChange {
    synced: bool,
    marked: bool,
}

impl LogChange {
    /// The event that has come; an error if it shows that the log is another one.
    pub fn take(
        &mut self,
        followed: Option<FollowEvent>,
    ) -> Result<Option<Box<DecodedEvent>>, Error> {
        let Some(followed) = followed else {
            return Ok(None);
        };
        match followed {
            FollowEvent::Reconnected => {
                self.marked = self.synced;
                Ok(None)
            }
            FollowEvent::Event(event) if event.kind() == "snapshot" && self.marked => {
                Err(Error::Failed {
                    what: say!(Msg::LogRepaired).to_owned(),
                    hint: say!(Msg::LogsShow, event.session),
                })
            }
            FollowEvent::Event(event) => {
                self.synced |= event.kind() == "sync";
                self.marked &= event.kind() != "sync";
                Ok(Some(event))
            }
        }
    }
}
