//! Rewinds as far as they know no actor: where one leads, what the log says of the files, and putting them back.

pub(crate) mod aim;
pub(crate) mod broken;
pub(crate) mod past;
pub(crate) mod restore;

pub(crate) use broken::Planned;
