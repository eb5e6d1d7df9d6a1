//! `/commands`: the custom commands that a prompt can run, and the files that are left out.

use proto::params::command::{CommandInfo, CommandSource, ListOutput};

use super::{composer, pager};
use crate::effect::{Call, Effect};
use crate::messages::found::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::slash::is_own;

/// Asks for them.
pub fn asked(model: &Model) -> Vec<Effect> {
    vec![Effect::Call(Call::CustomCommands(composer::commands_of(
        model,
    )))]
}

/// Shows the list.
pub fn shown(model: &mut Model, list: &ListOutput) -> Vec<Effect> {
    let language = model.look.language;
    if list.commands.is_empty() && list.problems.is_empty() {
        model.toast(Tone::Info, language.say(Msg::NoCommands));
        return Vec::new();
    }
    let commands = list.commands.iter();
    let mut lines: Vec<String> = commands.flat_map(|command| about(model, command)).collect();
    let problems = list.problems.iter();
    let problem = |text: &String| format!("! {}", client::text::line(&language.translate(text)));
    lines.extend(problems.map(problem));
    let title = language.say(Msg::CommandsTitle).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

/// A command, one thing a line: what is typed, what it does, where it is from, and what keeps it from running.
fn about(model: &Model, command: &CommandInfo) -> Vec<String> {
    let language = model.look.language;
    let line = |text: &str| client::text::line(text);
    let hint = command.argument_hint.as_deref().unwrap_or_default();
    let typed = format!("/{} {hint}", command.name);
    let from = match (&command.file, command.source) {
        (Some(file), _) => line(file),
        (None, CommandSource::McpServer) => language.say(Msg::OfServer).to_owned(),
        (None, _) => language.say(Msg::OfProgram).to_owned(),
    };
    let mut lines = vec![line(typed.trim_end())];
    if !command.description.is_empty() {
        lines.push(format!("  {}", line(&command.description)));
    }
    lines.push(format!("  {from}"));
    let mark = |mark: String| format!("  ! {mark}");
    if let Some(file) = &command.hidden_by {
        lines.push(mark(language.fill(Msg::HiddenBy, &[&line(file)])));
    } else if is_own(command) {
        lines.push(mark(
            language.fill(Msg::OwnCommand, &[&line(&command.name)]),
        ));
    }
    if !command.trusted {
        lines.push(mark(language.say(Msg::NotTrusted).to_owned()));
    }
    lines.push(String::new());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Dialog;
    use crate::update::scene::{attached, say};

    fn command(name: &str) -> CommandInfo {
        CommandInfo {
            name: name.to_owned(),
            description: format!("Does {name}\u{1b}[31m"),
            argument_hint: Some("[where]".to_owned()),
            source: CommandSource::Project,
            file: Some(format!(".reasonix/commands/{name}.md")),
            hidden_by: None,
            trusted: true,
        }
    }

    #[test]
    fn custom_commands_are_listed_with_what_keeps_them_from_running() {
        let mut model = attached();
        let effects = say(&mut model, "/commands");
        assert!(
            matches!(&effects[..], [Effect::Call(Call::CustomCommands(params))] if params.session.is_some())
        );
        let list = ListOutput {
            commands: vec![
                CommandInfo {
                    trusted: false,
                    ..command("deploy")
                },
                command("help"),
                CommandInfo {
                    hidden_by: Some("mine.md".to_owned()),
                    ..command("review")
                },
            ],
            problems: vec!["`x.md` is left out: it is a link.".to_owned()],
        };
        shown(&mut model, &list);
        let Some(Dialog::Pager(pager)) = &model.dialog else {
            panic!("{:?}", model.dialog);
        };
        let PagerContent::Lines { lines, .. } = &pager.what else {
            panic!("{:?}", pager.what);
        };
        let text = lines.join("\n");
        assert!(!text.contains('\u{1b}'), "{text}");
        for words in [
            "/deploy [where]\n",
            "  .reasonix/commands/deploy.md\n  ! from a project that is not trusted",
            "! `/help` is a command of this interface, which runs instead",
            "! hidden by `mine.md`",
            "! `x.md` is left out",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
