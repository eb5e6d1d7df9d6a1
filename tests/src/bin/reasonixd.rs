//! `reasonixd` as it was just built: see the library `reasonixd`.

fn main() -> std::process::ExitCode {
    reasonixd::main()
}
