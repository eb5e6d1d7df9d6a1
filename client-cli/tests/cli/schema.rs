//! What `--json` prints, against the schema that `reasonix rpc --schema --cli` publishes.

use std::sync::OnceLock;

use serde_json::Value;
use testkit::schema::fits;

use crate::program::{reasonix, run};

/// The published schemas.
fn published() -> &'static Value {
    static PUBLISHED: OnceLock<Value> = OnceLock::new();
    PUBLISHED.get_or_init(|| {
        let home = tempfile::tempdir_in("/tmp").unwrap();
        let done = run(&mut reasonix(home.path(), &["rpc", "--schema", "--cli"]));
        assert_eq!(done.code, Some(0), "{done:?}");
        serde_json::from_str(&done.out).unwrap()
    })
}

/// Fails unless `out` is what the command is said to print, and returns it.
pub fn check(command: &str, out: &str) -> Vec<Value> {
    let row = &published()["commands"][command];
    assert!(row.is_object(), "no schema of `{command}`");
    let values: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    if row["lines"] == false {
        assert_eq!(values.len(), 1, "one line: {out}");
    }
    for value in &values {
        if let Err(why) = fits(published(), &row["schema"], value) {
            panic!("`{command} --json` does not fit its schema: {why}\n{value}");
        }
    }
    values
}
