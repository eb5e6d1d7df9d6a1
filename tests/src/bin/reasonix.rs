//! `reasonix` as it was just built: see the library `client_cli`.

fn main() -> std::process::ExitCode {
    client_cli::main()
}
