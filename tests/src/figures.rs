//! The figures: what the product costs apart from the model, each beside a floor that is measured in the same run.
//!
//! Elapsed times of one machine mean little; the ratio to the floor does. [`GROUPS`] lists all measurements;
//! `benches/figures.rs` prints the tables and puts them into `docs/performance.md`; a smoke test runs all of it small.

mod agents;
mod assembly;
mod basics;
mod beside;
mod crowd;
mod disk;
mod edits;
mod endings;
mod endpoint;
mod fanout;
mod faults;
mod floors;
mod functions;
mod grown;
mod history;
mod idle;
mod instructions;
mod interface;
mod load;
mod opening;
pub mod page;
mod parallel;
mod recall;
mod sandbox;
mod search;
mod sizes;
mod spent;
mod table;
mod top;

pub use table::{Figure, table};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub starts: usize,
    pub rounds: usize,
    pub tokens: usize,
    pub calls: usize,
    /// Sessions of a home with much history.
    pub stored: usize,
    /// Files of a large tree.
    pub files: usize,
    /// Lines of a long transcript.
    pub lines: usize,
    /// Keys that are pressed.
    pub keys: usize,
    /// Rounds of the edit session.
    pub edits: usize,
    /// Bytes of a long history.
    pub history: usize,
    /// Clients of one session.
    pub clients: usize,
    /// Sessions that stream at once.
    pub crowd: usize,
    /// Sub-agents of one session, one after the other.
    pub agents: usize,
    /// Bytes of the log of an idle session.
    pub idle: usize,
    /// Records of a long log.
    pub records: usize,
    /// Messages that are searched.
    pub messages: usize,
}

/// Enough for medians.
pub const FULL: Size = Size {
    starts: 15,
    rounds: 100,
    tokens: 20_000,
    calls: 500,
    stored: 10_000,
    files: 20_000,
    lines: 100_000,
    keys: 200,
    edits: 60,
    history: 10_000_000,
    clients: 64,
    crowd: 200,
    agents: 100,
    idle: 1_000_000,
    records: 100_000,
    messages: 1_000_000,
};
/// Enough to see that it runs.
pub const SMOKE: Size = Size {
    starts: 2,
    rounds: 3,
    tokens: 200,
    calls: 5,
    stored: 30,
    files: 200,
    lines: 400,
    keys: 5,
    edits: 12,
    history: 100_000,
    clients: 4,
    crowd: 8,
    agents: 5,
    idle: 20_000,
    records: 500,
    messages: 2_000,
};

/// Figures that are measured together and share a table.
pub struct Group {
    /// The word by which it is asked for alone.
    pub name: &'static str,
    pub measure: fn(Size) -> Vec<Figure>,
    /// Only by that word: it takes long, and says the same each time.
    pub asked: bool,
}

/// Everything that can be measured.
pub const GROUPS: [Group; 21] = [
    always("basics", basics::figures),
    always("edits", edits::figures),
    always("faults", faults::figures),
    always("disk", disk::figures),
    always("parallel", parallel::figures),
    always("assembly", assembly::figures),
    always("fanout", fanout::figures),
    always("crowd", crowd::figures),
    always("agents", agents::figures),
    always("idle", idle::figures),
    always("opening", opening::figures),
    always("recall", recall::figures),
    always("beside", beside::figures),
    always("sandbox", sandbox::figures),
    always("trees", search::figures),
    always("interface", interface::figures),
    always("top", top::figures),
    always("endings", endings::figures),
    Group {
        name: "functions",
        measure: functions::figures,
        asked: true,
    },
    Group {
        name: "instructions",
        measure: instructions::figures,
        asked: true,
    },
    Group {
        name: "sizes",
        measure: sizes::figures,
        asked: true,
    },
];

const fn always(name: &'static str, measure: fn(Size) -> Vec<Figure>) -> Group {
    Group {
        name,
        measure,
        asked: false,
    }
}
