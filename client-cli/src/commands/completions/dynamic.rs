//! Additions to the scripts of `clap_complete`: sessions and models, which change while a shell runs. Pure.

use clap::{Arg, Command};
use clap_complete::Shell;

/// The script with functions that ask `reasonix completions --list`. Shells without such functions get it as it is.
pub fn extended(shell: Shell, command: &Command, script: &str) -> String {
    match shell {
        Shell::Bash => bash(command, script),
        Shell::Zsh => zsh(script),
        Shell::Fish => fish(command, script),
        _ => script.to_owned(),
    }
}

/// The commands that take a session.
fn of_sessions(command: &Command) -> Vec<String> {
    let takes = |command: &&Command| {
        let mut positionals = command.get_positionals();
        positionals.any(|arg| matches!(arg.get_id().as_str(), "session" | "sessions"))
    };
    let commands = command.get_subcommands().filter(takes);
    let names = commands.flat_map(Command::get_name_and_visible_aliases);
    names.map(str::to_owned).collect()
}

/// The options, with their dashes, whose value is called so (`SESSION`, `MODEL`), each with the name of its command;
/// empty: of the program itself.
fn options<'a>(command: &'a Command, value: &str) -> Vec<(&'a str, String)> {
    let own = std::iter::once(("", command));
    let commands = command.get_subcommands();
    let all = own.chain(commands.flat_map(|command| {
        let names = command.get_name_and_visible_aliases();
        names.into_iter().map(move |name| (name, command))
    }));
    let mut found: Vec<(&str, String)> = Vec::new();
    for (name, command) in all {
        let takes = |arg: &&Arg| arg.get_value_names().is_some_and(|names| names == [value]);
        for arg in command.get_opts().filter(takes) {
            let long = arg.get_long().map(|long| (name, format!("--{long}")));
            let short = arg.get_short().map(|short| (name, format!("-{short}")));
            found.extend(long.into_iter().chain(short));
        }
    }
    found
}

/// The script's own function is asked where neither a session nor a model is meant.
fn bash(command: &Command, script: &str) -> String {
    let mut added = BASH.to_owned();
    let after = |value| {
        let options = options(command, value).into_iter();
        let words: Vec<String> = options
            .map(|(name, option)| format!("'{name} {option}'"))
            .collect();
        words.join("|")
    };
    for (place, words) in [
        ("@COMMANDS@", of_sessions(command).join("|")),
        ("@SESSION_OPTIONS@", after("SESSION")),
        ("@MODEL_OPTIONS@", after("MODEL")),
    ] {
        added = added.replace(place, &words);
    }
    format!("{script}\n{added}")
}

const BASH: &str = r#"# Sessions and models, as the running daemon knows them.
_reasonix_pick() {
    local kind="$1" cur="$2" word about line
    local -a found=()
    while IFS=$'\t' read -r word about; do
        [[ $word == "$cur"* ]] && found+=("$word"$'\t'"$about")
    done < <(command reasonix completions --list "$kind" 2>/dev/null)
    COMPREPLY=()
    for line in "${found[@]}"; do
        word="${line%%$'\t'*}" about="${line#*$'\t'}"
        # Where the candidates are only shown, their titles are shown, too.
        case "${#found[@]}/$COMP_TYPE" in
            1/*|*/9|*/37) COMPREPLY+=("$word") ;;
            *) COMPREPLY+=("$word${about:+  ($about)}") ;;
        esac
    done
}

_reasonix_dynamic() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    local command="" count=0 i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] && continue
        if [[ -z $command ]]; then command="${COMP_WORDS[i]}"; else count=$((count + 1)); fi
    done
    case "$command $prev" in
        @SESSION_OPTIONS@) _reasonix_pick sessions "$cur"; return ;;
        @MODEL_OPTIONS@) _reasonix_pick models "$cur"; return ;;
    esac
    # The value of another option.
    if [[ $prev == -* ]]; then
        _reasonix "$@"
        [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} != -* ]] && return
    fi
    if [[ $cur != -* ]]; then
        case "$command/$count" in
            model/1) _reasonix_pick models "$cur"; return ;;
        esac
        case "$command" in
            @COMMANDS@) _reasonix_pick sessions "$cur"; return ;;
        esac
    fi
    _reasonix "$@"
}

complete -F _reasonix_dynamic -o bashdefault -o default reasonix
"#;

/// The places of sessions and models get functions of their own.
fn zsh(script: &str) -> String {
    let mut out = String::new();
    for line in script.lines() {
        let spec = line.trim_start().trim_start_matches(['\'', '*', ':']);
        let is_session = spec.starts_with("session -- ") || spec.starts_with("sessions -- ");
        let function = match line {
            line if is_session || line.contains(":SESSION:_default") => "_reasonix_sessions",
            line if line.contains(":MODEL:_default") => "_reasonix_models",
            _ => "_default",
        };
        if line.starts_with("if [ \"$funcstack[1]\" = ") {
            out.push_str(ZSH);
        }
        out.push_str(&line.replace(":_default'", &format!(":{function}'")));
        out.push('\n');
    }
    out
}

const ZSH: &str = r#"# Sessions and models, as the running daemon knows them.
_reasonix_listed() {
    local -a words
    words=("${(@f)$(command reasonix completions --list $1 2>/dev/null)}")
    words=("${(@)words//:/\\:}")
    words=("${(@)words/$'\t'/:}")
    _describe $1 words
}
_reasonix_sessions() { _reasonix_listed sessions }
_reasonix_models() { _reasonix_listed models }

"#;

fn fish(command: &Command, script: &str) -> String {
    let mut out = format!("{script}\n# Sessions and models, as the running daemon knows them.\n");
    for name in of_sessions(command) {
        out.push_str(&format!(
            "complete -c reasonix -n \"__fish_reasonix_using_subcommand {name}\" -f -a \"(reasonix completions --list sessions 2>/dev/null)\"\n"
        ));
    }
    for (value, kind) in [("SESSION", "sessions"), ("MODEL", "models")] {
        for (name, option) in options(command, value) {
            let when = match name {
                "" => "__fish_reasonix_needs_command".to_owned(),
                name => format!("__fish_reasonix_using_subcommand {name}"),
            };
            let flag = match option.strip_prefix("--") {
                Some(long) => format!("-l {long}"),
                None => format!("-s {}", option.trim_start_matches('-')),
            };
            out.push_str(&format!(
                "complete -c reasonix -n \"{when}\" {flag} -x -a \"(reasonix completions --list {kind} 2>/dev/null)\"\n"
            ));
        }
    }
    out
}
