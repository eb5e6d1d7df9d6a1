//! A tool that exists nowhere but here: nothing else in the program has to know it.

use std::sync::Arc;

use contract::{ArgumentUse, CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Body;
use proto::item::{CallStatus, Display, ToolKind};
use proto::params::session::Until;
use proto::record::Rules;
use proto::state::Kind;
use serde_json::{Map, Value, json};

use super::world::World;

const FINDS_AND_CALLS: &str = r#"{"tool_calls":[{"name":"tool_search","arguments":{"query":"rockets"}}]}
{"tool_calls":[{"name":"tool_call","arguments":{"tool":"launch_rockets","arguments":{"pad":"pads/one"}}}]}
{"text":"done"}"#;

const CALLS_AGAIN: &str = r#"{"text":"hello"}
{"tool_calls":[{"name":"launch_rockets","arguments":{"pad":"pads/one"}}]}
{"text":"done"}"#;

pub struct Rockets(ToolSpec);

impl Rockets {
    pub fn tool() -> Arc<dyn Tool> {
        let schema = json!({"type": "object"});
        let spec = ToolSpec {
            kind: ToolKind::Delete,
            deferred: true,
            ..ToolSpec::new("launch_rockets", "Launch rockets.", schema, Family::Edit)
                .with_arguments(&[("pad", ArgumentUse::Edit)])
        };
        Arc::new(Self(spec))
    }
}

impl Tool for Rockets {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        Ok(arguments.clone())
    }

    fn preview(&self, _: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let text = "launch".to_owned();
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn run(&self, _: Map<String, Value>, _: CallContext) -> BoxFuture<'static, Outcome> {
        async { Outcome::with_status(CallStatus::Ok, "launched") }.boxed()
    }
}

fn with_rockets(cassette: &str) -> World {
    let world = World::new(cassette);
    world.outside.tools.lock().unwrap().push(Rockets::tool());
    world
}

fn records(world: &World, session: proto::SessionId) -> Vec<Body> {
    let mut bodies = Vec::new();
    let dir = world.home.session_dir(session);
    let read = store::log::read(&dir, &mut |raw| bodies.push(raw.record().unwrap().body));
    assert_eq!(read.unwrap().invalid, None);
    bodies
}

fn results(bodies: &[Body]) -> Vec<&str> {
    let results = bodies.iter().filter_map(|body| match body {
        Body::Tool(message) => Some(message.text.as_str()),
        _ => None,
    });
    results.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_tool_is_found_judged_and_run_by_its_spec_alone() {
    let world = with_rockets(FINDS_AND_CALLS);
    let handle = world
        .create(world.create_params("go", Kind::Interactive))
        .await;
    let handle = handle.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let bodies = records(&world, handle.id());
    let [found, launched] = results(&bodies)[..] else {
        panic!("{:?}", results(&bodies))
    };
    assert!(found.contains("\"Launch rockets.\""), "{found}");
    assert_eq!(launched, "launched");
    let mut decided = bodies.iter().filter_map(|body| match body {
        Body::PolicyDecided(decided) => Some((&*decided.tool, &*decided.subject)),
        _ => None,
    });
    assert_eq!(
        decided.next_back(),
        Some(("launch_rockets", "pads/one")),
        "policy knows its path"
    );
    let mut started = bodies.iter().filter_map(|body| match body {
        Body::ToolStarted(started) => Some((&*started.tool, started.kind)),
        _ => None,
    });
    assert_eq!(
        started.next_back(),
        Some(("launch_rockets", ToolKind::Delete))
    );
    let Some(Body::SessionCreated(created)) = bodies.first() else {
        panic!("no first record")
    };
    assert_eq!(
        created.tools,
        ["launch_rockets", "mark", "tool_call", "tool_search"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_name_a_new_tool_and_a_misspelt_one_is_refused_with_the_nearest() {
    let world = with_rockets(FINDS_AND_CALLS);
    let request = |rule: &str| {
        let mut request = world.create_params("go", Kind::Interactive);
        request.options.rules = Some(Rules {
            deny: vec![rule.to_owned()],
            ..Rules::default()
        });
        request
    };
    let handle = world.create(request("launch_rockets")).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let bodies = records(&world, handle.id());
    assert!(
        results(&bodies)[1].contains("launch_rockets"),
        "{:?}",
        results(&bodies)
    );
    assert!(!bodies.iter().any(
        |body| matches!(body, Body::ToolStarted(started) if started.tool == "launch_rockets")
    ));
    let Err(failure) = world.create(request("launch_rocket")).await else {
        panic!("the rule names no tool")
    };
    assert!(
        failure.message.contains("did you mean `launch_rockets`?"),
        "{}",
        failure.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_keeps_its_tools_when_the_build_has_others() {
    let mut world = with_rockets(CALLS_AGAIN);
    let session = world.begin("hello").await;
    world.outside.tools.lock().unwrap().clear();
    world.restart().await;
    world.prompt(&session, "launch").await.unwrap();
    let handle = world.supervisor.find(&session).await.unwrap();
    let bodies = records(&world, handle.id());
    let result = results(&bodies)[0];
    assert!(
        result.contains("no longer has the tool `launch_rockets`"),
        "{result}"
    );
}
