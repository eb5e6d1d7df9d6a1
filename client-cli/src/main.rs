//! The program `reasonix`. All of it is in the library.

fn main() -> std::process::ExitCode {
    client_cli::main()
}
