//! The program `reasonix-plugin-example`.

fn main() {
    std::process::exit(plugin_example::run());
}
