//! Requests to the model: assembled, sent, sampled, counted and held to budgets.

pub(crate) mod blocks;
pub(crate) mod budget;
pub(crate) mod in_flight;
pub(crate) mod keys;
pub(crate) mod reasoning;
pub(crate) mod samples;
pub(crate) mod shape;
pub(crate) mod side_requests;
