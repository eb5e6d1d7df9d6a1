//! Attaches what a prompt refers to (`@path`), as far as the session's deny rules let it be read, and the text of the
//! command or skill that it runs (`/name`).

use std::path::Path;
use std::time::Duration;

use contract::{ArgumentUse, Family, SKILL_TOOL, ToolSpec};
use knowledge::memory::{FactStores, day, recall_note};
use knowledge::{
    CustomCommand, CustomCommands, FILLED_MAX, ReferringText, ResolvedReferences, Skill, Skills,
    command_block, command_call, fill_in, find_commands,
};
use policy::Access;
use proto::near::nearest;
use proto::params::command::CommandSource;
use proto::params::skill::SkillSource;
use proto::record::{PromptReferences, SkillUse, Verdict};
use proto::{ErrorName, Failure, Stamp, TextOrigin, UntypedText};
use serde_json::Map;

use crate::assembly::server_content::{ServerContent, ServerPrompt};
use crate::calls::permissions::{PermissionState, in_session};
use crate::tasks;

/// How long a prompt waits for what it refers to.
const RESOLVING_MAX: Duration = Duration::from_secs(10);

/// A prompt, as far as it refers to anything.
#[derive(Clone, Debug)]
pub(crate) struct PromptText {
    /// All of it.
    whole: String,
    /// What was typed of it.
    typed: String,
    /// The parts that came from standard input as the prompt.
    stdin: Vec<String>,
}

impl PromptText {
    /// `untyped`: its parts that were not typed, as [`UntypedText::check`] wants them.
    pub(crate) fn new(text: &str, untyped: &[UntypedText]) -> Self {
        let stdin = untyped
            .iter()
            .filter(|part| part.origin == TextOrigin::Stdin);
        let stdin = stdin.filter_map(|part| text.get(part.range()));
        Self {
            whole: text.to_owned(),
            typed: UntypedText::cut(text, untyped, |_| true),
            stdin: stdin.map(str::to_owned).collect(),
        }
    }

    /// Whether it may refer to anything, or run a command.
    pub(crate) fn may_refer(&self) -> bool {
        let mut referring = self.stdin.iter().chain([&self.typed]);
        referring.any(|text| text.contains('@')) || self.call().is_some()
    }

    /// The name of the command that it is to run, and the arguments. Text that is quoted beside the prompt runs none.
    fn call(&self) -> Option<(&str, &str)> {
        let mut calling = self.stdin.iter().chain([&self.typed]);
        command_call(&self.whole).filter(|(name, _)| {
            calling.any(|text| command_call(text).is_some_and(|(called, _)| called == *name))
        })
    }

    /// The typed ones of the arguments.
    fn typed_arguments(&self) -> &str {
        command_call(&self.typed).map_or("", |(_, arguments)| arguments)
    }
}

/// Reads what a prompt refers to, and the command that it runs. A disk that does not answer is told, and holds nobody
/// up.
///
/// # Errors
/// The prompt is to run a command, and there is none of this name, or the disk does not answer.
pub(crate) async fn resolve(
    mut permissions: PermissionState,
    prompt: PromptText,
) -> Result<ResolvedReferences, Failure> {
    // Skills limit the model's calls, not what the user attaches.
    permissions.standpoint.skills.clear();
    let text = prompt.clone();
    let reading = tasks::blocking(move || resolve_blocking(&permissions, &text));
    match tokio::time::timeout(RESOLVING_MAX, reading).await {
        Ok(Ok(resolved)) => resolved,
        Ok(Err(_)) | Err(_) if prompt.call().is_some() => Err(Failure::new(
            ErrorName::Storage,
            "The commands cannot be read: the disk does not answer.",
            "Send the prompt again.",
        )),
        Ok(Err(_)) | Err(_) if !prompt.may_refer() => Ok(ResolvedReferences::default()),
        Ok(Err(_)) | Err(_) => Ok(ResolvedReferences {
            found: None,
            problems: vec![
                "What the prompt refers to is not attached: the disk does not answer.".to_owned(),
            ],
        }),
    }
}

fn resolve_blocking(
    permissions: &PermissionState,
    prompt: &PromptText,
) -> Result<ResolvedReferences, Failure> {
    let mut resolved = resolve_attachments(permissions, prompt)?;
    if let Some((name, _)) = prompt.call() {
        resolved
            .problems
            .extend(hidden_definition_notice(permissions, name));
    }
    let recalled = permissions.call_environment.recall.as_ref();
    Ok(
        match recalled.and_then(|facts| recall(facts, &prompt.whole)) {
            Some(note) => with_block(resolved, &note),
            None => resolved,
        },
    )
}

/// A note with the facts that fit a prompt, as they are now.
fn recall(facts: &FactStores, prompt: &str) -> Option<String> {
    recall_note(&facts.load().facts, prompt, &day(Stamp::now()))
}

fn resolve_attachments(
    permissions: &PermissionState,
    prompt: &PromptText,
) -> Result<ResolvedReferences, Failure> {
    let workspace = &permissions.call_environment.workspace;
    let by_rules = |path: &Path| denial(permissions, path);
    let inside = |whose: &'static str, path: &Path| match path.starts_with(workspace.root()) {
        true => by_rules(path),
        false => Some(format!("it is outside of the workspace, {whose}")),
    };
    let of_stdin = |path: &Path| inside("and the prompt came from standard input", path);
    let content = &*permissions.call_environment.server_content;
    let resource = |server: &str, uri: &str| content.resource(workspace.cwd(), server, uri);
    let typed = ReferringText {
        text: &prompt.typed,
        from_root: false,
        denied: &by_rules,
        resource: &resource,
    };
    let stdin = prompt.stdin.iter().map(|text| ReferringText {
        text,
        from_root: false,
        denied: &of_stdin,
        resource: &|_, _| None,
    });
    let mut own: Vec<_> = [typed].into_iter().chain(stdin).collect();
    let (command, arguments) = match called(permissions, prompt.call())? {
        None => return Ok(knowledge::resolve_references(workspace, &own)),
        Some((Called::Skill(skill), arguments)) => {
            let own = knowledge::resolve_references(workspace, &own);
            return with_skill(permissions, own, &skill, arguments);
        }
        Some((Called::ServerPrompt(command), arguments)) => {
            let own = knowledge::resolve_references(workspace, &own);
            return with_server_prompt(content, workspace.cwd(), own, &command, arguments);
        }
        Some((Called::Command(command), arguments)) => (command, arguments),
    };
    let fill = |arguments| {
        let filled = fill_in(&command.body, arguments);
        filled.ok_or_else(|| too_long(&command.name))
    };
    let filled = fill(arguments)?;
    // What arguments refer to that were not typed is limited as above.
    let referring = fill(prompt.typed_arguments())?;
    // What a project's file names was not chosen by the user: it does not reach beyond the project.
    let is_project = command.source == CommandSource::Project;
    let in_command = |path: &Path| match is_project {
        true => inside("and the command is the project's", path),
        false => by_rules(path),
    };
    own.push(ReferringText {
        text: &referring,
        from_root: is_project,
        denied: &in_command,
        resource: match is_project {
            true => &|_, _| None,
            false => &resource,
        },
    });
    let resolved = knowledge::resolve_references(workspace, &own);
    let mut resolved = with_block(resolved, &command_block(&command, &filled));
    if let Some(found) = resolved.found.as_mut().filter(|_| command.read_only) {
        found.skill = Some(SkillUse {
            name: format!("/{}", command.name),
            directory: String::new(),
            allowed_tools: None,
            read_only: true,
        });
    }
    Ok(resolved)
}

fn too_long(name: &str) -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        format!(
            "The command `/{name}` has more than {} KB with its arguments.",
            FILLED_MAX / 1024
        ),
        "Give it shorter arguments.",
    )
}

/// Puts the text of a server's prompt behind what the user's own text refers to. What it refers to itself is not attached:
/// the user did not choose it.
fn with_server_prompt(
    content: &dyn ServerContent,
    cwd: &Path,
    own: ResolvedReferences,
    command: &CustomCommand,
    arguments: &str,
) -> Result<ResolvedReferences, Failure> {
    let name = &command.name;
    let filled = content.prompt(cwd, name, arguments).map_err(|reason| {
        Failure::new(
            ErrorName::InvalidParams,
            format!("`/{name}` was not run: {reason}."),
            "`reasonix commands` lists the commands; `reasonix mcp list` shows the state of servers.",
        )
    })?;
    match filled.len() > FILLED_MAX {
        true => Err(too_long(name)),
        false => Ok(with_block(own, &command_block(command, &filled))),
    }
}

/// Puts the text of a skill behind what the prompt itself refers to.
fn with_skill(
    permissions: &PermissionState,
    own: ResolvedReferences,
    skill: &Skill,
    arguments: &str,
) -> Result<ResolvedReferences, Failure> {
    let call_environment = &permissions.call_environment;
    let skills = &call_environment.skills;
    let refused = |reason| Failure::new(ErrorName::InvalidParams, reason, "See `reasonix skills`.");
    if skill.is_agent() {
        let has_tool = call_environment.tools.get(SKILL_TOOL).is_some();
        let asked = skills
            .ask_for(skill, arguments, has_tool)
            .map_err(refused)?;
        return Ok(with_block(own, &asked));
    }
    let used = skills.use_skill(skill, arguments).map_err(refused)?;
    let mut resolved = with_block(own, &used.text);
    if let Some(found) = &mut resolved.found {
        found.skill = Some(used.used);
    }
    Ok(resolved)
}

/// Puts a block behind what is attached.
pub(crate) fn with_block(resolved: ResolvedReferences, block: &str) -> ResolvedReferences {
    let found = resolved.found.unwrap_or_else(|| PromptReferences {
        text: String::new(),
        files: Vec::new(),
        attached: Vec::new(),
        skill: None,
    });
    let text = match found.text.is_empty() {
        true => block.to_owned(),
        false => format!("{}\n{block}", found.text),
    };
    ResolvedReferences {
        found: Some(PromptReferences { text, ..found }),
        problems: resolved.problems,
    }
}

/// What a prompt of the form `/name arguments` runs.
enum Called {
    Command(CustomCommand),
    Skill(Box<Skill>),
    ServerPrompt(CustomCommand),
}

/// The command or skill that a prompt runs, and its arguments. Commands come first. `None`: the prompt is text.
fn called<'a>(
    permissions: &PermissionState,
    call: Option<(&str, &'a str)>,
) -> Result<Option<(Called, &'a str)>, Failure> {
    let Some((name, arguments)) = call else {
        return Ok(None);
    };
    let call_environment = &permissions.call_environment;
    let found = find_commands(&call_environment.workspace, &call_environment.user_commands);
    if let Some(command) = found.named(name) {
        return Ok(Some((Called::Command(command.clone()), arguments)));
    }
    let skills = call_environment.skills.find();
    if let Some(skill) = skills.named(name) {
        return Ok(Some((Called::Skill(Box::new(skill.clone())), arguments)));
    }
    let content = &call_environment.server_content;
    let prompts = content.prompts(call_environment.workspace.cwd());
    if let Some(prompt) = prompts.iter().find(|prompt| prompt.name == name) {
        let command = CustomCommand {
            name: prompt.name.clone(),
            description: prompt.description.clone(),
            argument_hint: prompt.argument_hint.clone(),
            source: CommandSource::McpServer,
            file: None,
            body: String::new(),
            hidden_by: None,
            read_only: false,
        };
        return Ok(Some((Called::ServerPrompt(command), arguments)));
    }
    // `/etc is full` is about a directory.
    match Path::new("/").join(name).exists() {
        true => Ok(None),
        false => Err(unknown(name, &found, &skills, &prompts)),
    }
}

/// A notice where a file of the project runs in place of a command or a skill of the program's or the user's own.
fn hidden_definition_notice(permissions: &PermissionState, name: &str) -> Option<String> {
    let call_environment = &permissions.call_environment;
    let commands = find_commands(&call_environment.workspace, &call_environment.user_commands);
    let skills = call_environment.skills.find();
    let mut of_name = skills.skills.iter().filter(|it| it.name == name);
    let hides_skill = of_name.any(|it| it.source != SkillSource::Project);
    let notice =
        |file: &str, other: &str| Some(format!("`/{name}` is the project's `{file}`, {other}."));
    let in_place_of_skill = "in place of your own skill of this name";
    if let Some(command) = commands.named(name) {
        let is_project = command.source == CommandSource::Project;
        let file = command.file.as_deref().filter(|_| is_project)?;
        let mut others = commands.commands.iter().filter(|it| it.name == name);
        // The user's own come before a project's.
        let hides_command = others.any(|it| it.source == CommandSource::BuiltIn);
        return match (hides_command, hides_skill) {
            (true, _) => notice(file, "in place of the program's command of this name"),
            (false, true) => notice(file, in_place_of_skill),
            (false, false) => None,
        };
    }
    let skill = skills.named(name)?;
    let is_project = skill.source == SkillSource::Project;
    match is_project && hides_skill {
        true => notice(&skill.file, in_place_of_skill),
        false => None,
    }
}

/// There is no such command or skill. The files that are left out may hold it.
fn unknown(
    name: &str,
    found: &CustomCommands,
    skills: &Skills,
    prompts: &[ServerPrompt],
) -> Failure {
    let names = found.commands.iter().map(|command| command.name.as_str());
    let names = names.chain(skills.skills.iter().map(|skill| skill.name.as_str()));
    let names = names.chain(prompts.iter().map(|prompt| prompt.name.as_str()));
    let near: Vec<_> = nearest(name, names)
        .iter()
        .map(|near| format!("`/{near}`"))
        .collect();
    let file = format!("{}.md", name.replace(':', "/"));
    let skill_file = format!("/{name}/SKILL.md");
    let of_skills = skills.problems.iter();
    let left_out = found
        .problems
        .iter()
        .find(|problem| problem.contains(&file))
        .or_else(|| {
            of_skills
                .clone()
                .find(|problem| problem.contains(&skill_file))
        });
    let hint = match (left_out, near.is_empty()) {
        (Some(problem), _) => problem.clone(),
        (None, false) => format!("Similar commands: {}.", near.join(", ")),
        (None, true) => {
            "See `reasonix commands`. A blank before the slash makes it text.".to_owned()
        }
    };
    Failure::new(
        ErrorName::NotFound,
        format!("There is no command `/{name}`."),
        hint,
    )
}

/// Why the rules deny reading a path. `None`: they do not.
fn denial(permissions: &PermissionState, path: &Path) -> Option<String> {
    let path = path.to_str()?.to_owned();
    let specs = permissions.call_environment.tools.specs();
    let judged = specs.filter_map(|spec| {
        let argument = path_argument(spec)?;
        let arguments = Map::from_iter([(argument.to_owned(), path.clone().into())]);
        in_session(permissions, &spec.name, &arguments).ok()
    });
    // Without such a tool nothing judges a path.
    let rules = &permissions.standpoint.rules;
    let has_rules = rules.denies_all(Access::Read) || !rules.denied_paths(Access::Read).is_empty();
    match judged.into_iter().next() {
        Some(explained) => {
            let decision = explained.explanation.decision;
            let denied = decision.verdict == Verdict::Deny;
            denied.then(|| format!("`{}` denies it", decision.rule))
        }
        None => has_rules.then(|| "the session has no tool that reads, to check it by".to_owned()),
    }
}

/// The argument of a tool that is the path of what it reads, if that is all that it does.
fn path_argument(spec: &ToolSpec) -> Option<&str> {
    let mut arguments = spec.arguments.iter();
    let read = arguments.find(|(_, use_of)| *use_of == ArgumentUse::Read);
    read.filter(|_| spec.family == Family::Read && spec.read_only)
        .map(|(name, _)| name.as_str())
}
