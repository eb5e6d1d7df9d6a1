//! A copy of the program `reasonix-plugin-example` for tests.

fn main() {
    std::process::exit(plugin_example::run());
}
