//! What goes into the prefix of a session from files: instruction files, skills, facts, agents. For a new session, and for
//! one whose files are read again.

use proto::{Failure, Stamp};

use crate::assembly::setup::Setup;
use crate::calls::instructions::untrusted_notice;
use crate::context::prefix::{self, FrozenPrefix, PrefixFiles};
use crate::supervisor::load::SessionServices;
use crate::supervisor::workspaces::{self, SessionPlace};
use crate::supervisor::{agents, memory};

/// The prefix of a new session in this place, and problems of the files that go into it. Blocks.
pub fn frozen_prefix(
    services: &SessionServices,
    setup: &mut Setup,
    place: SessionPlace<'_>,
) -> Result<(FrozenPrefix, Vec<String>), Failure> {
    let found = prefix_files(services, setup, place)?;
    setup.profile.agents = agents::listed(services, setup, place)?;
    let skills = prefix::offer_skills(&mut setup.profile, found.skills, found.agents_of_the_user);
    let prefix = FrozenPrefix::of(&setup.profile, found.instructions, skills, found.memory);
    Ok((prefix, found.problems))
}

/// The instruction files, skills and facts of a session in this place. Blocks.
pub fn prefix_files(
    services: &SessionServices,
    setup: &Setup,
    place: SessionPlace<'_>,
) -> Result<PrefixFiles, Failure> {
    let workspace = workspaces::bare(services, setup, place)?;
    let user_file = services.home.instructions();
    let found = knowledge::find_instructions(&workspace, &user_file);
    let places = setup.skills.places(services.home.skills());
    let skills = knowledge::find_skills(&workspace, &places);
    let (index, left_out) = knowledge::skill_index(&skills);
    let mut problems = found.problems;
    if !setup.trusted {
        problems.extend(untrusted_notice(&found.files));
    }
    problems.extend(skill_problems(skills.problems.clone(), left_out));
    let mut memory = Vec::new();
    if setup.memory.enabled {
        let facts = memory::facts(services, place.root).load();
        memory = facts.index_lines(Stamp::now());
        problems.extend(facts.problems);
    }
    Ok(PrefixFiles {
        instructions: found.files,
        agents_of_the_user: skills.have_agents_of_the_user(),
        skills: index,
        memory,
        problems,
    })
}

/// The problems of skills, in a sentence or two: all of it is listed elsewhere.
fn skill_problems(problems: Vec<String>, left_out: usize) -> Vec<String> {
    let count = problems.len();
    let mut notices: Vec<String> = problems.into_iter().take(1).collect();
    if count > 1 {
        let more = count - 1;
        notices.push(format!(
            "{more} more problems with skills: see `reasonix skills`."
        ));
    }
    if left_out > 0 {
        notices.push(format!(
            "The list of skills is full: {left_out} are not offered to the model. Run them with `/NAME`, or disable others with `skills.disabled`."
        ));
    }
    notices
}
