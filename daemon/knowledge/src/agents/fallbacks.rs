//! Fallbacks of agents: the agent that a definition names must exist, and no agent may lead back to itself.

use super::{AgentDefinition, hide};

/// Leaves out agents whose fallbacks lead back to themselves, and takes away a fallback that does not exist. Returns what
/// is to be said of them, with file and line.
pub(super) fn settle(agents: &mut Vec<AgentDefinition>) -> Vec<String> {
    let mut problems = Vec::new();
    while let Some(cycle) = cycle(agents) {
        let mut way: Vec<String> = cycle.iter().map(|name| format!("`{name}`")).collect();
        way.extend(way.first().cloned());
        let way = way.join(" → ");
        agents.retain(|agent| {
            let leaves = agent.hidden_by.is_none() && cycle.contains(&agent.name);
            if leaves {
                problems.push(format!(
                    "`{}` is left out: its fallbacks lead back to it: {way}.",
                    place(agent)
                ));
            }
            !leaves
        });
        // What they have hidden counts now.
        hide(agents);
    }
    let names: Vec<String> = agents.iter().map(|agent| agent.name.clone()).collect();
    for agent in agents.iter_mut().filter(|agent| agent.hidden_by.is_none()) {
        let unknown = agent.fallback.take_if(|name| !names.contains(name));
        problems.extend(unknown.map(|name| {
            format!(
                "`{}`: there is no agent `{name}`, so the agent has no fallback.",
                place(agent)
            )
        }));
    }
    problems
}

/// The names of agents that count and whose fallbacks form a cycle.
fn cycle(agents: &[AgentDefinition]) -> Option<Vec<String>> {
    let counting = |name: &str| {
        let mut counting = agents.iter().filter(|agent| agent.hidden_by.is_none());
        counting.find(|agent| agent.name == name)
    };
    agents.iter().find_map(|agent| {
        let mut way = vec![agent.name.clone()];
        let mut next = counting(&agent.name)?.fallback.clone();
        while let Some(name) = next {
            if name == agent.name {
                return Some(way);
            }
            // A cycle further on is found from one of its own agents.
            if way.contains(&name) {
                return None;
            }
            next = counting(&name).and_then(|agent| agent.fallback.clone());
            way.push(name);
        }
        None
    })
}

fn place(agent: &AgentDefinition) -> String {
    let file = agent.file.as_deref().unwrap_or_default();
    format!("{file}:{}", agent.fallback_line)
}
