//! Words of the status.

super::catalog! {
    Todo1 = "x", "x";
}
