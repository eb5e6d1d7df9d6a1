//! What the vendor's cache can be expected to hold of the conversation, as a fold.
//!
//! The log alone tells it, so a daemon that starts again expects the same.

use proto::Stamp;
use proto::record::{Purpose, Usage};
use proto::reset::Wire;

/// What requests before have left in the cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cache {
    /// The newest answered request, where the next one extends it and it said how long it was.
    previous: Option<Previous>,
    /// Resets so far: a request is compared with no request from before one.
    pub resets: u64,
}

/// A request that was answered.
#[derive(Clone, Debug, PartialEq)]
struct Previous {
    provider: String,
    model: String,
    prompt_tokens: u64,
    /// When it was sent.
    sent: Stamp,
}

impl Cache {
    /// Earlier bytes change with the next request.
    pub(super) fn reset(&mut self) {
        self.previous = None;
        self.resets += 1;
    }

    /// A request was answered at `at`.
    pub(super) fn apply(&mut self, usage: &Usage, at: Stamp, wire: &Wire) {
        if usage.purpose != Purpose::Answer {
            return;
        }
        let or_sessions = |own: &String, sessions: &String| match own.is_empty() {
            true => sessions.clone(),
            false => own.clone(),
        };
        self.previous = says_its_length(usage).then(|| Previous {
            provider: or_sessions(&usage.provider, &wire.provider),
            model: or_sessions(&usage.model, &wire.model),
            prompt_tokens: usage.prompt_tokens,
            sent: sent(usage, at),
        });
    }

    /// What an ideal cache of prefixes would have served of this request: the prompt before it, in whole blocks of
    /// `block` tokens. `None`: that cannot be said.
    pub fn expected(&self, usage: &Usage, block: u64) -> Option<u64> {
        let previous = self.before(usage)?;
        // A vendor may count less than before: it leaves out old reasoning, for instance.
        let prompt = previous.prompt_tokens.min(usage.prompt_tokens);
        let block = block.max(1);
        Some(prompt / block * block)
    }

    /// The request that this one extends.
    fn before(&self, usage: &Usage) -> Option<&Previous> {
        self.previous.as_ref().filter(|previous| {
            usage.purpose == Purpose::Answer
                && says_its_length(usage)
                && previous.provider == usage.provider
                && previous.model == usage.model
        })
    }
}

fn says_its_length(usage: &Usage) -> bool {
    usage.reported && usage.prompt_tokens > 0
}

/// When a request was sent whose answer ended at `at`.
fn sent(usage: &Usage, at: Stamp) -> Stamp {
    let took = i64::try_from(usage.duration_ms).unwrap_or(i64::MAX);
    Stamp(at.0.saturating_sub(took))
}

#[cfg(test)]
mod tests;
