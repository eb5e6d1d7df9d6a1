//! Temporary.
#[path = "../it/house.rs"]
mod house;
#[path = "../it/reference.rs"]
mod reference;
