//! What a session is made with: model, tools and thinking, by its options, its preset and its parent.

use std::path::Path;

use contract::ToolSet;
use proto::Failure;
use proto::params::session::CreateParams;

use super::checks::check_home;
use crate::assembly::setup::{Effort, PresetOptions, ProfileChoice, Setup};
use crate::supervisor::agents::Parent;
use crate::supervisor::load::SessionServices;

/// What the session begins with, by its options and the preset.
pub(super) fn begin(
    services: &SessionServices,
    params: &CreateParams,
    bundle: Option<&PresetOptions>,
    cwd: &Path,
    brought: &[&str],
) -> Result<Setup, Failure> {
    let bundled = bundle.and_then(|bundle| bundle.model.as_deref());
    let model = params.options.model.as_deref().or(bundled);
    let effort = match (&params.options.effort, bundle) {
        (Some(effort), _) => Effort::Exactly(Some(effort)),
        // The preset says it, as soon as it is known which words the model has.
        (None, Some(_)) => Effort::Exactly(None),
        (None, None) => Effort::Configured,
    };
    let setup = services.assembly.create(cwd, model, effort, brought)?;
    check_home(params, &setup, &services.assembly.user_home(), cwd)?;
    Ok(setup)
}

/// Leaves the tools that the profile lets the session have; a sub-agent has no more than its parent.
pub(super) fn narrow(
    services: &SessionServices,
    setup: &mut Setup,
    profile: &ProfileChoice,
    parent: Option<&Parent>,
) -> Result<(), Failure> {
    let assembly = &*services.assembly;
    if let Some(own) = parent.and_then(|parent| parent.server_tools.clone()) {
        let tools = setup.profile.tools.iter();
        let others = tools.filter(|tool| !assembly.is_server_tool(tool.spec()));
        setup.profile.tools = ToolSet::new(others.cloned().chain(own).collect());
    }
    let narrowed = match parent {
        Some(parent) => parent.narrow(profile, &setup.profile.tools),
        None => profile
            .or_enabled(&setup.enabled_tools, &setup.profile.tools)
            .with_goal_tool(&setup.profile.tools),
    };
    narrowed.apply(&mut setup.profile, assembly)
}

/// Has the model think as hard as the preset says, where no option does.
pub(super) fn pace(
    services: &SessionServices,
    params: &CreateParams,
    setup: &mut Setup,
    bundle: Option<&PresetOptions>,
    cwd: &Path,
) -> Result<(), Failure> {
    let bundle = bundle.filter(|_| params.options.effort.is_none());
    let effort = bundle.map(|bundle| bundle.pace.of(&setup.profile.model.efforts));
    if let Some(effort) = effort.filter(|effort| !effort.is_empty()) {
        let model = setup.profile.model.full_name();
        let effort = Effort::Exactly(Some(&effort));
        setup.profile.model = services.assembly.switch(cwd, &model, effort)?;
    }
    Ok(())
}
