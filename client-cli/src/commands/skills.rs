//! `reasonix skills`: the skills that a model or a prompt can use.

use proto::hello::Role;
use proto::methods::SkillList;
use proto::params::skill::{ListParams, RunAs, SkillInfo};

use super::{Listing, NamedList, here};
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::asking::Msg;
use crate::{reach, text};

/// List skills: instructions for kinds of tasks.
///
/// The model loads a skill that fits its task, and you run one as `/name ARGUMENTS`. A skill is a directory with a `SKILL.md`. They are found in `.reasonix/skills`, `.agents/skills` and `.claude/skills` of
/// the project, then in `$REASONIX_HOME/skills`, `~/.agents/skills`, `~/.claude/skills` and the directories of
/// `skills.paths`; the first of a name counts. Its front matter has `name`, `description`, and, if you want,
/// `allowed-tools` (the only tools that may be called until the turn ends) and `disable-model-invocation: true` (only you
/// can use it).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the skills of this session (pid, id, or name) [default: those of this directory].
    #[arg(long, short)]
    session: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

/// Asks, and prints.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::with("skills", |options| options.role = Role::Watch).await?;
    let cwd = here(args.session.is_none())?;
    let params = ListParams {
        cwd,
        session: args.session,
    };
    let output = client.call::<SkillList>(&params).await?;
    let counting = output.skills.iter().filter(|it| it.hidden_by.is_none());
    let list = NamedList {
        names: counting.map(|it| it.name.as_str()).collect(),
        heads: [Head::Skill, Head::What, Head::From],
        rows: output.skills.iter().map(row).collect(),
        none: say!(Msg::NoSkills),
        problems: &output.problems,
    };
    args.listing.print(&output, &list)?;
    Ok(0)
}

fn row(skill: &SkillInfo) -> [String; 3] {
    let mut from = vec![text::line(&skill.file)];
    from.extend(notes(skill));
    [
        text::line(&skill.name),
        text::line(&skill.description),
        from.join(", "),
    ]
}

/// The special properties of a skill.
fn notes(skill: &SkillInfo) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(file) = &skill.hidden_by {
        return vec![say!(Msg::SkillHidden, text::line(file))];
    }
    if !skill.trusted {
        notes.push(say!(Msg::HookNotTrusted).to_owned());
    }
    let is_agent = skill.run_as == RunAs::Subagent;
    if is_agent {
        notes.push(say!(Msg::SkillSubagent).to_owned());
    }
    if skill.refusal.is_some() {
        notes.push(say!(Msg::SkillDisabled).to_owned());
    } else if !skill.offered {
        notes.push(say!(Msg::SkillUserOnly).to_owned());
    }
    if skill.is_command {
        notes.push(say!(Msg::SkillIsCommand, text::line(&skill.name)));
    }
    if let Some(model) = skill.model.as_ref().filter(|_| !is_agent) {
        notes.push(say!(Msg::SkillModel, text::line(model)));
    }
    notes
}
