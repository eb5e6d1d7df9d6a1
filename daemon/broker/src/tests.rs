//! The gate under chance, and requests that wait in it on a clock that stands still.

mod chance;
mod waiting;
