//! `reasonixd` of the next version, built from the same sources: what an installed upgrade is to a running daemon.

fn main() -> std::process::ExitCode {
    reasonixd::main_of(tests::NEXT_VERSION)
}
