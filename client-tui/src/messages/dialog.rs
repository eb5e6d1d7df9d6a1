//! Words of the dialog.

super::catalog! {
    Todo1 = "x", "x";
}
