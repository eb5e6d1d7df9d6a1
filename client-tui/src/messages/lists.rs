//! Words of the lists.

super::catalog! {
    Todo1 = "x", "x";
}
