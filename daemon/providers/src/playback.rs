//! Plays bytes as a vendor's response and collects the answer through the real code. For tests and
//! fuzzing.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use contract::provider::{ErrorKind, Part, ProviderError, Reported};
use futures::stream::{self, BoxStream, StreamExt};
use proto::item::{Finish, Thought, ToolCall};

use crate::failure::{EntryInfo, ErrorContext};
use crate::fake::{self, FakeProgram};
use crate::gathered::Gathered;
use crate::http::Body;
use crate::options::Timeouts;
use crate::read::{self, Collect};

/// The collected answer, independent of chunking.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CollectedAnswer {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: Option<Reported>,
    pub done: Option<Finish>,
    pub error: Option<ErrorKind>,
    pub message: String,
    pub thoughts: Vec<Thought>,
    /// How many messages it replaces, and the usage that was reported of them.
    pub restarts: usize,
    pub replaced: Vec<Reported>,
}

/// Joins parts, and checks properties of every stream of parts.
pub(crate) fn came(parts: Vec<Result<Part, ProviderError>>) -> CollectedAnswer {
    let mut came = CollectedAnswer::default();
    let mut shown = BTreeMap::<String, String>::new();
    for part in parts {
        assert!(
            came.done.is_none() && came.error.is_none(),
            "a part after the end"
        );
        match part {
            Ok(Part::Text(text)) => came.text.push_str(&text),
            Ok(Part::Reasoning(text)) => came.reasoning.push_str(&text),
            Ok(Part::Thought(thought)) => came.thoughts.push(thought),
            Ok(Part::CallDelta { id, arguments, .. }) => {
                shown.entry(id).or_default().push_str(&arguments);
            }
            Ok(Part::Call(call)) => came.calls.push(call),
            Ok(Part::Usage(usage)) => came.usage = Some(usage),
            Ok(Part::Restarted) => {
                came.replaced.extend(came.usage);
                came = CollectedAnswer {
                    restarts: came.restarts + 1,
                    replaced: came.replaced,
                    ..CollectedAnswer::default()
                };
                shown.clear();
            }
            Ok(Part::Done(finish)) => came.done = Some(finish),
            Ok(Part::Waiting { .. } | Part::Sent) => panic!("no wire says so"),
            Err(error) => (came.error, came.message) = (Some(error.kind), error.message),
        }
    }
    assert!(
        came.done.is_some() != came.error.is_some(),
        "one end: {came:?}"
    );
    for call in &came.calls {
        assert_eq!(
            shown.get(&call.id.0),
            Some(&call.arguments),
            "deltas equal the final answer"
        );
    }
    for thought in &came.thoughts {
        let data = serde_json::from_str::<serde_json::Value>(&thought.data);
        assert!(data.is_ok_and(|data| data.is_object()), "{thought:?}");
        assert!(!thought.data.contains('\n'));
    }
    came
}

pub(crate) fn site() -> ErrorContext {
    let entry = EntryInfo {
        answer_max: crate::options::ANSWER_MAX,
        name: "acme".to_owned(),
        models: Vec::new(),
        key_env: None,
        header_values: Vec::new(),
    };
    ErrorContext {
        entry: Arc::new(entry),
        key: None,
    }
}

thread_local! {
    static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
}

/// Collects the answer of a stream of this kind in these chunks. The connection then closes
/// normally.
pub(crate) fn play(kind: &str, pieces: &[&[u8]]) -> CollectedAnswer {
    let owned: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    // One runtime for all plays of a test: there are a hundred thousand.
    RUNTIME.with(|runtime| came(runtime.block_on(async { parts(kind, owned).collect().await })))
}

fn parts(kind: &str, pieces: Vec<Vec<u8>>) -> BoxStream<'static, Result<Part, ProviderError>> {
    if kind == "command" {
        let mut options = fake::options(kind, "");
        options.api_key_env = None;
        let (means, _) = FakeProgram::saying(pieces, 0);
        let (_, provider) = crate::open(options, &means).expect("a good entry");
        return provider.stream(fake::request());
    }
    let chunks = pieces.into_iter().map(|piece| Ok(Bytes::from(piece)));
    let body = stream::iter(chunks.collect::<Vec<_>>()).boxed();
    match kind {
        "openai" => collected(body, crate::openai_chat::stream::Collector::new),
        "openai-responses" => collected(body, crate::openai_responses::stream::Collector::new),
        "anthropic" => collected(body, crate::anthropic::stream::Collector::new),
        other => panic!("no kind {other}"),
    }
}

fn collected<C: Collect>(
    body: Body,
    collect: fn(Gathered) -> C,
) -> BoxStream<'static, Result<Part, ProviderError>> {
    let collect = collect(Gathered::new(site(), "big".to_owned(), 0));
    read::from_body(body, Timeouts::default(), site(), collect)
}
