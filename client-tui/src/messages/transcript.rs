//! Words of the transcript.

super::catalog! {
    Todo1 = "x", "x";
}
