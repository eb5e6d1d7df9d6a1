//! What earlier events said and later ones refer to.

use std::collections::{HashMap, HashSet};

use proto::item::ToolCall;
use proto::params::interaction::Interaction;
use proto::record::{InteractionResolved, Todo};
use proto::{CallId, InteractionId, Pid, PromptId, Seq};

use super::tail::Tail;
use super::words;
use crate::form::kinds::{self, Asked};
use crate::prompt::Prompt;
use crate::user_waits::UserWaits;

/// What earlier events said and later ones refer to.
#[derive(Debug, Default)]
pub(super) struct FoldState {
    /// The calls that run, by the entries that show them.
    pub(super) running: HashMap<CallId, (u64, Tail)>,
    /// Tool and subject of calls of this turn: as they were judged, or else as the model wrote them.
    pub(super) calls: HashMap<CallId, (String, String)>,
    /// Calls of this turn whose denial was shown with its author.
    pub(super) denied: HashSet<CallId>,
    /// Calls that were questions to the user, whose answers were shown.
    pub(super) answered: HashSet<CallId>,
    /// Why calls of this turn were denied, as far as it was shown.
    pub(super) reasons: HashMap<CallId, String>,
    /// Calls of this turn that the sandbox stopped: their sandboxed outcome was shown.
    pub(super) blocked: HashSet<CallId>,
    /// Prompts that wait.
    pub(super) prompts: HashMap<PromptId, Prompt>,
    /// Prompts whose next removal or move gets no entry: this client asked for it, and shows it elsewhere.
    pub(super) quiet: HashSet<PromptId>,
    /// Commands that run, and whether they are in the background.
    pub(super) children: HashMap<Pid, (String, bool)>,
    /// Commands that users run, by their numbers.
    pub(super) users: HashMap<Pid, CallId>,
    /// Open interactions.
    asked: HashMap<InteractionId, Asked>,
    /// What searches that have not ended look for, and the arguments of calls of MCP tools.
    pub(super) searches: HashMap<CallId, String>,
    /// The newest turn with a notice that its commands are not kept.
    pub(super) unkept: Option<u64>,
    /// The todo list, as it was reported last.
    pub(super) todos: Vec<Todo>,
    /// The list of a snapshot and the record up to which it holds, until a `sync`: what the replay says of it is not
    /// shown twice.
    pub(super) held: Option<(Seq, Vec<Todo>)>,
    /// The waits of the newest turn for the user.
    pub(super) waits: UserWaits,
}

impl FoldState {
    pub(super) fn calls(&mut self, calls: &[ToolCall]) {
        for call in calls {
            let search = call.search().or_else(|| call.server_arguments());
            let named = (call.name.clone(), call.subject());
            self.calls.insert(call.id.clone(), named);
            self.searches
                .extend(search.map(|search| (call.id.clone(), search)));
        }
    }

    pub(super) fn opened(&mut self, interaction: &Interaction) {
        if let Some(call) = kinds::judged_call(interaction) {
            self.calls.insert(interaction.call.clone(), call);
        }
        let asked = Asked::from(&interaction.request);
        self.asked.insert(interaction.interaction_id.clone(), asked);
    }

    /// The question of an answer. If its opening was not seen, the answer describes it; a call that was denied has none.
    pub(super) fn asked(&mut self, resolved: &InteractionResolved) -> Asked {
        let known = self.asked.remove(&resolved.interaction_id);
        let call = || self.calls.get(&resolved.call).cloned().unwrap_or_default();
        known.unwrap_or_else(|| Asked::by_answer(resolved.answer.as_ref(), call))
    }

    /// How a prompt that waits begins; empty if it is not known.
    pub(super) fn which(&self, id: PromptId) -> String {
        self.prompts
            .get(&id)
            .map_or_else(String::new, |prompt| words::first_words(&prompt.text))
    }
}
