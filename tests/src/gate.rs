//! A command that runs until the test lets it go on, so that a turn is held at a known place without any waiting for
//! time.

use std::fs;
use std::path::PathBuf;

use crate::House;
use crate::wait::until;

/// The gate of one command.
pub struct Gate {
    here: PathBuf,
    open: PathBuf,
}

impl Gate {
    /// A gate in the project of this house; several have several names.
    #[must_use]
    pub fn new(house: &House, name: &str) -> Self {
        let file = |what: &str| house.project().join(format!("{name}.{what}"));
        Self {
            here: file("here"),
            open: file("open"),
        }
    }

    /// The command: says that it is there, waits for the gate to open, and ends well. `name` is the gate's.
    #[must_use]
    pub fn command(name: &str) -> String {
        format!("touch {name}.here; while [ ! -e {name}.open ]; do sleep 0.01; done; echo through")
    }

    /// Waits until the command runs.
    ///
    /// # Panics
    /// It does not begin.
    pub fn wait(&self) {
        until("the command at the gate", || {
            self.here.exists().then_some(())
        });
    }

    /// Lets the command go on.
    ///
    /// # Panics
    /// The disk does not want it.
    pub fn open(&self) {
        fs::write(&self.open, "").expect("open the gate");
    }
}
