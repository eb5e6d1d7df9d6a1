//! A session in short, from its facts.

use contract::first_line;
use proto::Pid;
use proto::budget::Spent;
use proto::params::session::SessionSummary;
use turn::Facts;
use turn::facts::CallStage;

/// What lists call a session. A terminal obeys nothing in it.
fn title(name: Option<&str>, first_line: &str) -> String {
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    let visible = |c: &char| !c.is_control();
    name.unwrap_or(first_line).chars().filter(visible).collect()
}

/// Tool and subject of the newest call that runs.
fn activity(facts: &Facts) -> String {
    let calls = facts.open.iter().flat_map(|open| &open.calls);
    let mut running = calls.filter(|open| matches!(open.stage, CallStage::Started { .. }));
    let Some(open) = running.next_back() else {
        return String::new();
    };
    let words = format!("{} {}", open.tool, open.subject);
    first_line(words.trim())
}

/// What it used with its sub-agents that have ended. `None`: there were none.
fn tree_usage(facts: &Facts) -> Option<Spent> {
    let own = Spent {
        ms: facts.ran_ms,
        ..Spent::from(&facts.usage)
    };
    // They run beside each other: their time is no sum.
    let mut agents = facts.agents.values().map(|spent| Spent { ms: 0, ..*spent });
    let first = agents.next()?;
    Some(agents.fold(own.plus(&first), |sum, more| sum.plus(&more)))
}

/// The summary that lists show. `None` before the first record. Running work and waiting calls are not in it: only the
/// actor knows.
pub fn of(facts: &Facts, attached: u64, read_only: Option<String>) -> Option<SessionSummary> {
    let created = facts.created.as_ref()?;
    let options = facts.options.clone();
    let agent = created.agent.as_ref();
    let description = agent.map_or("", |agent| agent.description.as_str());
    let beginning = match description {
        "" => facts.first_line.as_str(),
        description => description,
    };
    Some(SessionSummary {
        session: created.session,
        pid: created.pid,
        ppid: Pid(created.ppid.0),
        agent: agent.map(|agent| agent.name.clone()),
        description: description.to_owned(),
        title: title(options.name.as_deref(), beginning),
        name: options.name,
        labels: options.labels.unwrap_or_default(),
        cwd: created.cwd.clone(),
        model: options.model.unwrap_or_default(),
        effort: options.effort,
        kind: options.kind.unwrap_or_default(),
        state: facts.state.state,
        waiting_for: facts.state.waiting_for,
        cause: facts.state.cause.clone(),
        approval_mode: options.approval_mode.unwrap_or_default(),
        mode: options.mode.unwrap_or_default(),
        only_reads: options.read_only.unwrap_or_default(),
        turns: facts.turns,
        steps: facts.steps,
        activity: activity(facts),
        origin: created.origin.clone(),
        usage: facts.usage,
        tree_usage: tree_usage(facts),
        context_tokens: facts.context_tokens,
        context_window: facts.wire.context_window,
        created_at: facts.created_at,
        active_at: facts.active_at,
        last_line: match facts.queue.front() {
            Some(first) if facts.last_line.is_empty() => first_line(&first.text),
            Some(_) | None => facts.last_line.clone(),
        },
        queued: facts.queue.len() as u64,
        goal: facts.goal_line().map(Box::new),
        pending_interactions: facts.interactions.len() as u64,
        attached,
        seq: facts.seq,
        children: 0,
        silent_since: None,
        compacting: false,
        planning: facts.is_planning(),
        exit_code: facts.exited.map(|exited| exited.exit_code),
        cut_off: facts.cut_off.filter(|_| facts.open.is_none()),
        at_limit: facts.at_limit,
        read_only,
        extract_reasoning: options.extract_reasoning.unwrap_or_default(),
        samples: options.samples.unwrap_or(1).max(1),
        instead_of: facts.instead_of(),
        cold: None,
        cache_ttl_ms: None,
        cache_used: facts.cache.sent(),
    })
}

#[cfg(test)]
mod tests {
    use proto::record::{AgentOf, SessionCreated};
    use proto::{Body, CallId, Record, Seq, SessionId, Stamp};

    use super::*;

    #[test]
    fn a_sub_agent_is_titled_by_the_description_of_its_call() {
        let mut facts = Facts::default();
        let mut created: SessionCreated =
            crate::tests::house::created(SessionId::new(), std::path::Path::new("/proj"));
        created.agent = Some(AgentOf {
            parent: SessionId::new(),
            call: CallId("c".to_owned()),
            name: "general".to_owned(),
            description: "Find the slow tests".to_owned(),
            depth: 1,
            mcp_servers: Vec::new(),
        });
        facts.apply(&Record {
            seq: Seq(1),
            at: Stamp(0),
            turn: None,
            body: Body::SessionCreated(created),
        });
        facts.first_line = "You are to look through every test".to_owned();
        let summary = of(&facts, 0, None).unwrap();
        assert_eq!(summary.title, "Find the slow tests");
        assert_eq!(summary.description, "Find the slow tests");
    }
}
