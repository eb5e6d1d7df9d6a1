//! A rewind of a session whose sub-agents have changed files: their changes are theirs to take back, and are named.

use std::collections::BTreeSet;

use proto::params::history::{RewindOutput, RewindParams, What};
use proto::params::process::ListParams;
use proto::{Failure, Pid, Stamp};

use crate::actor::handle::SessionHandle;
use crate::supervisor::Supervisor;

/// Files that a note names. More are counted.
const NAMED_MAX: usize = 5;

impl Supervisor {
    /// Goes back, as [`SessionHandle::rewind`], and notes what sub-agents have changed in the turns that it takes back.
    ///
    /// # Errors
    /// As there.
    pub async fn rewind(
        &self,
        handle: &SessionHandle,
        params: RewindParams,
        by: String,
    ) -> Result<RewindOutput, Failure> {
        let files = params.what != What::Conversation && !params.undo;
        let since = match params.to_turn.filter(|_| files) {
            // Before the rewind: it hides the turns.
            Some(turn) => handle.read(move |actor| actor.began_after(turn)).await?,
            None => None,
        };
        let mut output = handle.rewind(params, by).await?;
        if let Some(since) = since {
            output.notes.extend(self.agent_changes(handle, since).await);
        }
        Ok(output)
    }

    /// A note for each sub-agent below a session that has changed files since then.
    async fn agent_changes(&self, top: &SessionHandle, since: Stamp) -> Vec<String> {
        let below = ListParams {
            all: true,
            below: Some(top.pid()),
            ..ListParams::default()
        };
        let agents = match self.processes(below).await {
            Ok(agents) => agents,
            Err(failure) => return vec![unknown(&failure)],
        };
        let root = top.read(|actor| actor.root()).await.ok().flatten();
        let mut notes = Vec::new();
        for agent in agents {
            let is_later = agent.session != top.id() && agent.active_at >= since;
            if !is_later {
                continue;
            }
            let name = agent.agent.unwrap_or_default();
            match self.changed_by(agent.session, since, root.as_deref()).await {
                Ok(files) if files.is_empty() => {}
                Ok(files) => notes.push(note(agent.pid, &name, &files)),
                Err(failure) => notes.push(unknown(&failure)),
            }
        }
        notes
    }

    /// Files that a session has changed since then; none if it works elsewhere, in a worktree of its own.
    async fn changed_by(
        &self,
        session: proto::SessionId,
        since: Stamp,
        root: Option<&str>,
    ) -> Result<Vec<String>, Failure> {
        let handle = self.load(session).await?;
        let own = handle.read(|actor| actor.root()).await?;
        if own.as_deref() != root {
            return Ok(Vec::new());
        }
        let turns = handle.checkpoints().await?.turns.into_iter();
        let later = turns.filter(|turn| turn.at >= since);
        let files: BTreeSet<String> = later.flat_map(|turn| turn.files).collect();
        Ok(files.into_iter().collect())
    }
}

fn note(pid: Pid, name: &str, files: &[String]) -> String {
    let named: Vec<_> = files
        .iter()
        .take(NAMED_MAX)
        .map(|file| format!("`{file}`"))
        .collect();
    let more = match files.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "The sub-agent `{name}` (session {pid}) changed {}{more}, and that stays. To take it back: `reasonix rewind {pid} 0 --code`.",
        named.join(", ")
    )
}

fn unknown(failure: &Failure) -> String {
    format!(
        "What sub-agents have changed is not known, and stays: {}",
        failure.message
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_names_some_files_and_the_command() {
        let files: Vec<_> = (0..7).map(|number| format!("{number}.txt")).collect();
        let said = note(Pid(3), "general", &files);
        assert!(
            said.contains("`4.txt` and 2 more, and that stays"),
            "{said}"
        );
        assert!(said.ends_with("`reasonix rewind 3 0 --code`."), "{said}");
        let one = note(Pid(3), "general", &files[..1]);
        assert!(one.contains("changed `0.txt`, and that stays"), "{one}");
    }
}
