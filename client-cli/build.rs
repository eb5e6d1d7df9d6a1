//! Links the client at fixed addresses where that was measured: decision 60.

use std::env::var;

fn main() {
    // The copy of the client that tests run is another package's program.
    let of_tests = var("CARGO_PKG_NAME").is_ok_and(|package| package == "tests");
    let (this, program) = if of_tests {
        ("../client-cli/build.rs", "test-reasonix")
    } else {
        ("build.rs", "reasonix")
    };
    println!("cargo::rerun-if-changed={this}");
    let target = |name: &str| var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let measured = (target("OS"), target("ENV"), target("ARCH"))
        == ("linux".into(), "gnu".into(), "x86_64".into());
    let is_static = target("FEATURE").split(',').any(|one| one == "crt-static");
    if measured && !is_static {
        println!("cargo::rustc-link-arg-bin={program}=-no-pie");
    }
}
