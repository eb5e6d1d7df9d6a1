//! Lists that a person picks from: sessions, turns, prompts that wait, what runs, what waits for somebody.

/// A list on the screen.
#[derive(Debug)]
pub struct ListDialog {
    pub what: ListOf,
}

/// What is listed.
#[derive(Debug)]
pub enum ListOf {
    /// All sessions, to switch between. `here`: only those of this directory.
    Sessions { here: bool },
    /// Turns to go back to.
    Turns,
    /// Prompts that wait.
    Queue,
    /// What runs; takes the whole screen.
    Processes,
    /// What waits for a person, in all sessions.
    Inbox,
}

impl ListDialog {
    /// Whether it takes the whole screen.
    #[must_use]
    pub fn covers(&self) -> bool {
        matches!(self.what, ListOf::Processes)
    }
}
