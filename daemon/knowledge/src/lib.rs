//! Files in which users and projects tell the model how to work.
//!
//! Reads them through `workspace`, and prepares them for the frozen prefix. Blocks.

mod imports;
mod instructions;

pub use instructions::{Instructions, find_instructions};
