//! How large the programs are as they are given away, and of how many crates they are made. It builds them, which takes
//! minutes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Size;
use super::table::{Figure, mb, plain};

/// All rows.
pub fn figures(_: Size) -> Vec<Figure> {
    let bytes = |package, program| {
        let path = built(package, program);
        let size = std::fs::metadata(&path).expect("a program").len();
        mb(size as f64)
    };
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file");
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    vec![
        plain(
            "`reasonix`, stripped",
            bytes("client-cli", "reasonix"),
            "15 MB",
        ),
        plain(
            "`reasonixd`, stripped",
            bytes("reasonixd", "reasonixd"),
            "30 MB",
        ),
        plain(
            "packages in `Cargo.lock`, ours, of tests and of other systems with them",
            packages.to_string(),
            "–",
        ),
        plain("… that `reasonix` links", linked("client-cli"), "–"),
        plain("… that `reasonixd` links", linked("reasonixd"), "–"),
    ]
}

/// Where a program is, once it is built as it is given away.
fn built(package: &str, program: &str) -> PathBuf {
    built_by(
        &["--profile", "dist", "-p", package, "--bin", program],
        program,
    )
}

/// Where a program is, once Cargo has built it with these arguments.
pub(super) fn built_by(arguments: &[&str], program: &str) -> PathBuf {
    let messages = ["build", "--locked", "--message-format", "json"];
    let messages = cargo(&[&messages[..], arguments].concat());
    let messages = messages.lines();
    let mut messages = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = messages.find_map(|message| {
        let own = message["target"]["name"] == program;
        message["executable"]
            .as_str()
            .filter(|_| own)
            .map(PathBuf::from)
    });
    executable.expect("a program was built")
}

/// How many crates of others a package is made of.
fn linked(package: &str) -> String {
    let tree = cargo(&[
        "tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}",
    ]);
    // Ours are named with their place.
    let theirs = tree.lines().filter(|line| !line.contains("(/"));
    let theirs = theirs.map(|line| line.trim_end_matches(" (*)"));
    let theirs: BTreeSet<_> = theirs.filter(|line| !line.is_empty()).collect();
    theirs.len().to_string()
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output();
    let output = output.expect("cargo starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("the workspace").to_path_buf()
}
