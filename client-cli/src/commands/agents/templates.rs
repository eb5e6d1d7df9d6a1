//! `reasonix agents new`: writes a definition from a template, and checks that the daemon reads it.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use proto::hello::Role;
use proto::methods::AgentList;
use proto::params::agent::{AgentInfo, ListOutput, ListParams};
use proto::params::command::CommandSource;

use crate::exit::Error;
use crate::messages::agents::Msg;
use crate::messages::translated;
use crate::{output, reach, text};

/// Letters of a name.
const NAME_MAX: usize = 64;
/// The separator of the front matter and the system prompt of a template.
const FENCE: &str = "\n---\n";

/// What a template is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Template {
    /// Finds where and how something is done; changes nothing.
    Explorer,
    /// Reviews changes; changes nothing.
    Reviewer,
    /// Runs tests and finds causes of failures.
    Tester,
    /// Writes documentation.
    Writer,
    /// Works in its own git worktree.
    Worker,
}

impl Template {
    fn text(self) -> &'static str {
        match self {
            Self::Explorer => include_str!("templates/explorer.md"),
            Self::Reviewer => include_str!("templates/reviewer.md"),
            Self::Tester => include_str!("templates/tester.md"),
            Self::Writer => include_str!("templates/writer.md"),
            Self::Worker => include_str!("templates/worker.md"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Explorer => "explorer",
            Self::Reviewer => "reviewer",
            Self::Tester => "tester",
            Self::Writer => "writer",
            Self::Worker => "worker",
        }
    }
}

/// Write the definition of a new agent from a template
///
/// It goes to `.reasonix/agents` of the project. Edit the file as you like: the next session has the agent. A file that
/// exists is never replaced.
#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Name of the agent: letters, digits, `-` and `_` [default: that of the template].
    name: Option<String>,
    /// Template to start from.
    #[arg(long, value_enum, value_name = "TEMPLATE")]
    template: Template,
    /// Write it to `$REASONIX_HOME/agents`, for all projects.
    #[arg(long)]
    user: bool,
    /// Write a directory with `agent.yaml` and `instructions.md`.
    #[arg(long)]
    yaml: bool,
}

/// Writes it, and asks the daemon whether it is an agent.
pub(super) async fn create(args: NewArgs) -> Result<u8, Error> {
    let name = args.name.as_deref().unwrap_or(args.template.name());
    check_name(name)?;
    let client = reach::with("agents", |options| options.role = Role::Watch).await?;
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    let params = ListParams {
        cwd: Some(cwd),
        session: None,
    };
    let before = client.call::<AgentList>(&params).await?;
    let source = match args.user {
        true => CommandSource::User,
        false => CommandSource::Project,
    };
    let directory = before.directories.iter().find(|at| at.source == source);
    let directory = directory.map(|at| PathBuf::from(&at.path));
    let directory = directory.ok_or_else(|| Error::Failed {
        what: say!(Msg::NoDirectory).to_owned(),
        hint: say!(Msg::DoctorVersions).to_owned(),
    })?;
    let text = named(args.template, name);
    let file = match args.yaml {
        true => write_yaml(&directory.join(name), &text)?,
        false => write(&directory.join(format!("{name}.md")), &text)?,
    };
    let after = client.call::<AgentList>(&params).await?;
    report(&before, &after, &file)
}

fn check_name(name: &str) -> Result<(), Error> {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.chars().count() > NAME_MAX || !name.chars().all(fits) {
        return Err(Error::usage(
            say!(Msg::BadName, text::line(name)),
            say!(Msg::BadNameHint, NAME_MAX),
        ));
    }
    Ok(())
}

/// The text of a template with this name.
fn named(template: Template, name: &str) -> String {
    let line = |name: &str| format!("\nname: {name}\n");
    template
        .text()
        .replacen(&line(template.name()), &line(name), 1)
}

fn write_yaml(directory: &Path, text: &str) -> Result<PathBuf, Error> {
    let text = text.strip_prefix("---\n").unwrap_or(text);
    let (yaml, body) = text.split_once(FENCE).unwrap_or((text, ""));
    let file = write(&directory.join("agent.yaml"), &format!("{yaml}\n"))?;
    write(&directory.join("instructions.md"), body.trim_start())?;
    Ok(file)
}

/// Writes a file that must not exist yet.
fn write(file: &Path, text: &str) -> Result<PathBuf, Error> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::usage(
            say!(Msg::FileExists, text::line(&file.display().to_string())),
            say!(Msg::FileExistsHint),
        ),
        _ => Error::io(
            say!(crate::messages::common::Msg::DoWrite, file.display()),
            error,
        ),
    };
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o644).open(file);
    let mut opened = opened.map_err(failed)?;
    opened.write_all(text.as_bytes()).map_err(failed)?;
    Ok(file.to_owned())
}

fn report(before: &ListOutput, after: &ListOutput, file: &Path) -> Result<u8, Error> {
    let path = file.display().to_string();
    let is_it = |agent: &&AgentInfo| {
        let named = agent.file.as_deref();
        named.is_some_and(|named| file.ends_with(named))
    };
    let found = after.agents.iter().find(is_it);
    output::line(&text::line(&path))?;
    for problem in after
        .problems
        .iter()
        .filter(|it| !before.problems.contains(it))
    {
        output::progress(&format!("! {}", text::line(&translated(problem))));
    }
    let Some(agent) = found else {
        return Err(Error::Failed {
            what: say!(Msg::NotAnAgent, text::line(&path)),
            hint: say!(Msg::NotAnAgentHint).to_owned(),
        });
    };
    if let Some(other) = &agent.hidden_by {
        output::progress(&say!(
            Msg::NewIsHidden,
            text::line(&agent.name),
            text::line(other)
        ));
    }
    Ok(0)
}
