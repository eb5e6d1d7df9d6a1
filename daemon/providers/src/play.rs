//! Plays bytes as the answer of a vendor: what they come to, by the way that answers go. For tests and fuzzing.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use contract::provider::{ErrorKind, Part, ProviderError, Reported};
use futures::stream::{self, BoxStream, StreamExt};
use proto::item::{Finish, Thought, ToolCall};

use crate::failure::{Entry, Site};
use crate::fake::{self, Programs};
use crate::options::Timeouts;
use crate::read;

/// What an answer came to, whatever the pieces were.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Came {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: Option<Reported>,
    pub done: Option<Finish>,
    pub error: Option<ErrorKind>,
    pub message: String,
    pub thoughts: Vec<Thought>,
}

/// Puts parts together, and checks what holds for every stream of parts.
pub(crate) fn came(parts: Vec<Result<Part, ProviderError>>) -> Came {
    let mut came = Came::default();
    let mut shown = BTreeMap::<String, String>::new();
    for part in parts {
        assert!(
            came.done.is_none() && came.error.is_none(),
            "a part behind the end"
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
            "what was shown is what came"
        );
    }
    for thought in &came.thoughts {
        let data = serde_json::from_str::<serde_json::Value>(&thought.data);
        assert!(data.is_ok_and(|data| data.is_object()), "{thought:?}");
        assert!(!thought.data.contains('\n'));
    }
    came
}

fn site() -> Site {
    let entry = Entry {
        name: "acme".to_owned(),
        models: Vec::new(),
        key_env: None,
        header_values: Vec::new(),
    };
    Site {
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

/// What comes of a stream of this kind in these pieces, behind which the connection ends in good order.
pub(crate) fn play(kind: &str, pieces: &[&[u8]]) -> Came {
    let owned: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    // One for all plays of a test: there are a hundred thousand.
    RUNTIME.with(|runtime| came(runtime.block_on(async { parts(kind, owned).collect().await })))
}

fn parts(kind: &str, pieces: Vec<Vec<u8>>) -> BoxStream<'static, Result<Part, ProviderError>> {
    if kind == "command" {
        let mut options = fake::options(kind, "");
        options.api_key_env = None;
        let (means, _) = Programs::saying(pieces, 0);
        let (_, provider) = crate::open(options, &means).expect("a good entry");
        return provider.stream(fake::request());
    }
    let chunks = pieces.into_iter().map(|piece| Ok(Bytes::from(piece)));
    let body = stream::iter(chunks.collect::<Vec<_>>()).boxed();
    let (site, timeouts, model) = (site(), Timeouts::default(), "big".to_owned());
    match kind {
        "openai" => {
            let collect = crate::openai_chat::stream::Collector::new(site.clone(), model, 0);
            read::from_body(body, timeouts, site, collect)
        }
        "openai-responses" => {
            let collect = crate::openai_responses::stream::Collector::new(site.clone(), model, 0);
            read::from_body(body, timeouts, site, collect)
        }
        "anthropic" => {
            let collect = crate::anthropic::stream::Collector::new(site.clone(), model, 0);
            read::from_body(body, timeouts, site, collect)
        }
        other => panic!("no kind {other}"),
    }
}
