//! `reasonixd`: see the library.

fn main() -> std::process::ExitCode {
    reasonixd::main()
}
