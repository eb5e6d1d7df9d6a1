//! Quick file readers are done while they are judged, several at once: that makes no difference to their results.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{ArgumentUse, CallContext, Family, FileWorker, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Body;
use proto::item::{CallStatus, Display};
use proto::params::interaction::{Interaction, InteractionRequest};
use proto::params::session::Until;
use proto::record::Rules;
use proto::state::{ApprovalMode, Kind, OnAsk};
use serde_json::{Map, Value, json};

use super::world::World;

/// Returns the text of a file, and whether it was done by a thread of its own; or replaces that text.
struct FileTool {
    spec: ToolSpec,
    quick: bool,
}

impl FileTool {
    fn reader(name: &str, quick: bool) -> Arc<dyn Tool> {
        let spec = ToolSpec::new(name, "Peek.", json!({"type": "object"}), Family::Read)
            .with_arguments(&[("path", ArgumentUse::Read)]);
        Arc::new(Self { spec, quick })
    }

    fn writer() -> Arc<dyn Tool> {
        let spec = ToolSpec::new("poke", "Poke.", json!({"type": "object"}), Family::Edit)
            .with_arguments(&[("path", ArgumentUse::Edit)]);
        Arc::new(Self { spec, quick: false })
    }
}

impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        Ok(arguments.clone())
    }

    fn preview(&self, _: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let text = "a file".to_owned();
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let outcome = self.run_blocking(arguments, &context);
        async { outcome }.boxed()
    }

    fn as_file_worker(&self) -> Option<&dyn FileWorker> {
        Some(self)
    }
}

impl FileWorker for FileTool {
    fn run_blocking(&self, arguments: Map<String, Value>, context: &CallContext) -> Outcome {
        let path = context.cwd.join(arguments["path"].as_str().unwrap());
        if self.spec.family == Family::Read {
            return Outcome::with_status(CallStatus::Ok, std::fs::read_to_string(path).unwrap());
        }
        std::fs::write(path, arguments["text"].as_str().unwrap()).unwrap();
        Outcome::with_status(CallStatus::Ok, "written")
    }

    fn is_quick(&self, places: &[PathBuf]) -> bool {
        assert_eq!(places.len(), 1, "it was bound to where its path leads");
        self.quick
    }
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// The names of forty files.
fn numbers() -> impl Iterator<Item = String> {
    (0..40).map(|number| number.to_string())
}

/// A session that makes these calls in one answer, in a project with the files `a`, `b` and numbers; the results.
async fn results(calls: &[Value], prepare: impl Fn(&World)) -> Vec<String> {
    let answer = json!({"tool_calls": calls});
    let world = World::new(&format!("{answer}\n{{\"text\":\"done\"}}"));
    for name in ["a".to_owned(), "b".to_owned()]
        .into_iter()
        .chain(numbers())
    {
        std::fs::write(world.project.join(&name), format!("old {name}")).unwrap();
    }
    world.outside.tools.lock().unwrap().extend([
        FileTool::reader("peek", true),
        FileTool::reader("look", false),
        FileTool::writer(),
    ]);
    prepare(&world);
    let handle = world
        .create(world.create_params("look", Kind::Interactive))
        .await
        .unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let mut results = Vec::new();
    let dir = world.home.session_dir(handle.id());
    store::log::read(&dir, &mut |raw| {
        if let Body::Tool(message) = raw.record().unwrap().body {
            results.push(message.text);
        }
    })
    .unwrap();
    results
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_after_a_write_return_the_written_text() {
    let peek = call("peek", &json!({"path": "a"}));
    let calls = [
        peek.clone(),
        call("peek", &json!({"path": "b"})),
        call("poke", &json!({"path": "a", "text": "new a"})),
        peek.clone(),
        call("look", &json!({"path": "a"})),
        call("poke", &json!({"path": "b", "text": "new b"})),
        call("look", &json!({"path": "b"})),
        peek,
    ];
    let results = results(&calls, |_| {}).await;
    assert_eq!(
        results,
        [
            "old a", "old b", "written", "new a", "new a", "written", "new b", "new a"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn more_readers_than_one_trip_takes_return_in_their_order() {
    let calls: Vec<_> = numbers()
        .enumerate()
        .map(|(at, path)| {
            let tool = if at % 7 == 5 { "look" } else { "peek" };
            call(tool, &json!({"path": path}))
        })
        .collect();
    let results = results(&calls, |_| {}).await;
    let expected: Vec<_> = numbers().map(|path| format!("old {path}")).collect();
    assert_eq!(results, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_by_others_come_with_the_first_reader() {
    let peek = call("peek", &json!({"path": "a"}));
    let changed = |world: &World| {
        *world.outside.memory.changed.lock().unwrap() = Some("`b` changed".to_owned());
    };
    let results = results(&[peek.clone(), peek], changed).await;
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].starts_with("old a"), "{results:?}");
    let told = results.iter().filter(|text| text.contains("`b` changed"));
    assert_eq!(told.count(), 1, "{results:?}");
}

/// What the first question about a call of this answer says of the others.
async fn following_of(calls: &[Value]) -> u32 {
    let answer = json!({"tool_calls": calls});
    let world = World::new(&format!("{answer}\n{{\"text\":\"done\"}}"));
    std::fs::write(world.project.join("a"), "a").unwrap();
    let tools = [FileTool::reader("look", false), FileTool::writer()];
    world.outside.tools.lock().unwrap().extend(tools);
    let mut params = world.create_params("look", Kind::Interactive);
    params.options.on_ask = Some(OnAsk::Wait);
    params.options.approval_mode = Some(ApprovalMode::Ask);
    params.options.rules = Some(Rules {
        ask: vec!["poke".to_owned()],
        ..Rules::default()
    });
    let handle = world.create(params).await.unwrap();
    handle.wait(Until::Attention).await.unwrap();
    let records = super::fixtures::records(&world.home.session_dir(handle.id()));
    let mut asked = records.into_iter().filter_map(|record| match record.body {
        Body::InteractionOpened(Interaction {
            request: InteractionRequest::Approval(approval),
            ..
        }) => Some(approval.following),
        _ => None,
    });
    asked.next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_counts_only_calls_that_may_be_asked_about_too() {
    let poke = call("poke", &json!({"path": "a", "text": "new"}));
    let look = call("look", &json!({"path": "a"}));
    assert_eq!(following_of(&[poke.clone(), look.clone()]).await, 0);
    assert_eq!(following_of(&[poke.clone(), look, poke]).await, 1);
}
