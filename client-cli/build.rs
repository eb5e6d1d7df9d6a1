//! Links the client at fixed addresses where that was measured: decision 60.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let measured = (target("OS"), target("ENV"), target("ARCH"))
        == ("linux".into(), "gnu".into(), "x86_64".into());
    let is_static = target("FEATURE").split(',').any(|one| one == "crt-static");
    if measured && !is_static {
        // The copy that tests run is another package's program.
        let of_tests = var("CARGO_PKG_NAME").is_ok_and(|package| package == "tests");
        let program = if of_tests {
            "test-reasonix"
        } else {
            "reasonix"
        };
        println!("cargo::rustc-link-arg-bin={program}=-no-pie");
    }
}
