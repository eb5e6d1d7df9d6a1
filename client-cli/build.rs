//! Links the programs as was measured: the client at fixed addresses (decision 60), and in both programs, beside each other,
//! the functions that usual work runs (decision 63). The script of `client-cli`, of `reasonixd`, and of the tests.

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that is linked.
struct Program {
    name: &'static str,
    /// The list of its functions, from this package's directory.
    functions: Option<&'static str>,
    has_fixed_addresses: bool,
}

const CLIENT: Program = Program {
    name: "reasonix",
    functions: Some("functions.txt"),
    has_fixed_addresses: true,
};
const DAEMON: Program = Program {
    name: "reasonixd",
    functions: Some("functions.txt"),
    has_fixed_addresses: false,
};
/// The copy of the client in the package of the tests. Its functions have other names.
const COPY: Program = Program {
    name: "test-reasonix",
    functions: None,
    ..CLIENT
};

fn main() {
    let (script, program) = match &*environment("CARGO_PKG_NAME") {
        "client-cli" => ("build.rs", CLIENT),
        "reasonixd" => ("../../client-cli/build.rs", DAEMON),
        _ => ("../client-cli/build.rs", COPY),
    };
    println!("cargo::rerun-if-changed={script}");
    if let Some(functions) = program.functions {
        println!("cargo::rerun-if-changed={functions}");
    }
    let target = |name: &str| environment(&format!("CARGO_CFG_TARGET_{name}"));
    if [target("OS"), target("ENV"), target("ARCH")] != ["linux", "gnu", "x86_64"] {
        return;
    }
    let is_static = target("FEATURE").split(',').any(|one| one == "crt-static");
    let name = program.name;
    if program.has_fixed_addresses && !is_static {
        println!("cargo::rustc-link-arg-bin={name}=-no-pie");
    }
    // The names are those of a release.
    if let Some(functions) = program.functions
        && environment("PROFILE") == "release"
        && takes_order()
    {
        for argument in order(&directory("CARGO_MANIFEST_DIR").join(functions)) {
            println!("cargo::rustc-link-arg-bin={name}={argument}");
        }
    }
}

/// The linker's arguments for the functions of a file to come first. Other compilers name functions otherwise: a name that is not
/// there is no fault.
fn order(functions: &Path) -> [String; 2] {
    [
        format!("-Wl,--symbol-ordering-file={}", functions.display()),
        "-Wl,--no-warn-symbol-ordering".to_owned(),
    ]
}

/// Whether the linker knows these arguments: LLD does, which is the compiler's own, and others do not.
fn takes_order() -> bool {
    let out = directory("OUT_DIR");
    let (source, functions) = (out.join("empty.rs"), out.join("none.txt"));
    let is_written = std::fs::write(&source, "fn main() {}").is_ok();
    if !is_written || std::fs::write(&functions, "").is_err() {
        return false;
    }
    let mut compiler = Command::new(environment("RUSTC"));
    compiler
        .args(["--target", &environment("TARGET")])
        .arg(&source)
        .arg("-o")
        .arg(out.join("empty"));
    let flags = environment("CARGO_ENCODED_RUSTFLAGS");
    compiler.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    for argument in order(&functions) {
        compiler.arg(format!("-Clink-arg={argument}"));
    }
    compiler
        .output()
        .is_ok_and(|output| output.status.success())
}

fn directory(name: &str) -> PathBuf {
    PathBuf::from(environment(name))
}

/// A variable that Cargo sets for build scripts, or nothing.
fn environment(name: &str) -> String {
    var(name).unwrap_or_default()
}
