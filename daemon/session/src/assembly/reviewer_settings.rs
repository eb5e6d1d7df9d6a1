//! Whether a second model looks at risky calls, by the config.

/// What the config says of the review of calls that would be put to the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewerSettings {
    /// A second model looks at them first.
    pub reviews: bool,
    /// It may allow some of them by itself.
    pub allows: bool,
}
