//! Words of the composer.

super::catalog! {
    Todo1 = "x", "x";
}
