//! What a session is not made for: parameters, directories, rules, budgets and keys that do not fit. Blocks.

use std::path::{Path, PathBuf};

use contract::ToolSet;
use proto::params::session::CreateParams;
use proto::record::Rules;
use proto::state::Kind;
use proto::{ErrorName, Failure};

use crate::assembly::options;
use crate::assembly::setup::{ModelSetup, Setup};
use crate::context::first_message;
use crate::supervisor::agents::Parent;
use crate::supervisor::load::SessionServices;

/// What can be seen from the parameters, and the directories that they name. Blocks.
pub(super) fn check(params: &CreateParams) -> Result<(), Failure> {
    options::check(&params.options)?;
    if params
        .prompt
        .as_ref()
        .is_some_and(|prompt| prompt.trim().is_empty())
    {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "The prompt is empty.",
            "Describe what to do.",
        ));
    }
    let mut added = params.profile.add_dirs.iter();
    added.try_for_each(|dir| check_added(dir))?;
    let cwd = Path::new(&params.cwd);
    if !cwd.is_absolute() || !cwd.is_dir() {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            format!("The directory `{}` does not exist.", params.cwd),
            "Give the absolute path of the directory to work in.",
        ));
    }
    Ok(())
}

/// Whether a directory can be added to those that the session may write in.
fn check_added(dir: &str) -> Result<(), Failure> {
    let path = Path::new(dir);
    let real = path.canonicalize();
    let reason = match real {
        _ if !path.is_absolute() => "is not an absolute path",
        Err(_) => "does not exist",
        Ok(real) if !real.is_dir() => "is not a directory",
        Ok(real) if real.parent().is_none() => "is the root of the file system",
        Ok(_) => return Ok(()),
    };
    Err(Failure::new(
        ErrorName::InvalidParams,
        format!("The directory `{dir}` cannot be added: it {reason}."),
        "Give existing directories that the session may write in.",
    ))
}

/// Whether the rules of the session can be read, by its tools.
pub(super) fn check_rules(rules: &Rules, tools: &ToolSet) -> Result<(), Failure> {
    let layer = (policy::Layer::Run, rules, true);
    let (_, problems) = policy::RuleSet::parse(&[layer], &tools.specs().collect::<Vec<_>>());
    match problems.first() {
        None => Ok(()),
        Some(problem) => Err(Failure::new(
            ErrorName::InvalidParams,
            format!(
                "{} `{}` cannot be used: {}.",
                match problem.list {
                    policy::List::Allow => "The allow rule",
                    policy::List::Ask => "The ask rule",
                    policy::List::Deny => "The deny rule",
                },
                problem.text,
                problem.fault
            ),
            "Fix the rule. Examples: `Bash(cargo test:*)`, `Edit(docs/**)`, or only a tool's name.",
        )),
    }
}

/// Refuses a model whose key nobody has: the first turn would fail at once.
fn has_key(model: &ModelSetup, brought: &[&str]) -> Result<(), Failure> {
    let missing = model.key_variable.as_deref();
    let missing = missing.filter(|name| model.own_key.is_none() && !brought.contains(name));
    let Some(variable) = missing else {
        return Ok(());
    };
    Err(Failure::new(
        ErrorName::InvalidConfig,
        format!(
            "The provider `{}` has no key: `{variable}` is not set.",
            model.provider_name
        ),
        format!(
            "Set `{variable}` in the environment, or store the key with `reasonix login {}`.",
            model.provider_name
        ),
    ))
}

/// Refuses a run in the user's home: nobody is asked there about what starts at the next login.
pub(super) fn check_home(
    params: &CreateParams,
    setup: &Setup,
    user_home: &Path,
    cwd: &Path,
) -> Result<(), Failure> {
    let options = &params.options;
    if options.kind != Some(Kind::Headless) || options.in_home == Some(true) {
        return Ok(());
    }
    let mut roots = vec![first_message::workspace_root(setup, cwd, user_home)];
    roots.extend(params.profile.add_dirs.iter().map(PathBuf::from));
    let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
    let mut roots = roots.into_iter().map(real);
    let Some(root) = roots.find(|root| workspace::holds_home(root, user_home)) else {
        return Ok(());
    };
    Err(Failure::new(
        ErrorName::InvalidParams,
        format!(
            "The workspace `{}` is your home directory or contains it.",
            root.display()
        ),
        "Run it in a project's directory. To work there all the same, add `--in-home`.",
    ))
}

/// Whether the models of the session can be asked: they have a price if there is a budget in money, and there are keys.
/// `brought`: variables whose keys the client or the parent has.
pub(super) fn check_models(
    services: &SessionServices,
    params: &CreateParams,
    parent: Option<&Parent>,
    model: &ModelSetup,
    brought: &[&str],
) -> Result<(), Failure> {
    let budget = parent.map_or(params.options.budget, |parent| parent.budget);
    options::check_budget(budget, &model.full_name(), model.price.is_some())?;
    if params.prompt.is_some() {
        has_key(model, brought)?;
    }
    let planner = params.options.planner_model.as_deref();
    options::check_planner(&*services.assembly, Path::new(&params.cwd), planner, budget)
}
