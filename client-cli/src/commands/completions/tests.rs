use super::*;

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut command = crate::command();
    clap_complete::generate(shell, &mut command, "reasonix", &mut script);
    dynamic::extended(shell, &command, &String::from_utf8(script).unwrap())
}

#[test]
fn every_shell_asks_for_sessions_and_models_at_their_places() {
    let zsh = script(Shell::Zsh);
    let line = |words: &str| {
        let found = zsh.lines().find(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("no `{words}`")).to_owned()
    };
    assert!(line("session -- Session").contains(":_reasonix_sessions'"));
    assert!(line("--model=").contains(":_reasonix_models'"));
    let defined = zsh.find("_reasonix_sessions() {").unwrap();
    assert!(defined < zsh.find("if [ \"$funcstack[1]\"").unwrap());
    let fish = script(Shell::Fish);
    assert!(fish.contains("__fish_reasonix_using_subcommand attach\" -f -a"));
    assert!(fish.contains("using_subcommand run\" -l model -x -a"));
    let bash = script(Shell::Bash);
    assert!(
        bash.trim_end()
            .ends_with("complete -F _reasonix_dynamic -o bashdefault -o default reasonix")
    );
    assert!(!bash.contains("S@)"), "every place is filled");
}
