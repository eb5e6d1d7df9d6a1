//! The real session engine with a model, tools and a disk that pass through a [`World`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::provider::{Reported, Request};
use contract::{
    CallContext, Child, Codec, Command, Family, Outcome, Part, Preview, Provider, ProviderError,
    Spawn, SpawnError, Tool, ToolSet, ToolSpec,
};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use proto::item::{CallStatus, Display, Finish, ToolCall};
use proto::params::process::ChildProcess;
use proto::record::{Rules, SessionCreated};
use proto::{CallId, Failure, Pid, SessionOptions};
use serde_json::{Map, Value, json};
use session::{Assembly, Effort, ModelSetup, Profile, RuleLayer, Setup};
use store::log::Syncer;
use turn::RecoverPolicy;

use super::world::{Point, World};

/// Answers of a turn, if nothing cuts it off.
pub const STEPS: u64 = 5;

/// Assembles a session with fakes; only the engine, its files and the policy are real.
pub struct EngineSetup {
    pub world: Arc<World>,
    pub project: PathBuf,
    pub recover: RecoverPolicy,
}

impl EngineSetup {
    fn setup(&self) -> Setup {
        let (codec, _) = replay::open(replay::Cassette::default());
        let allow = vec!["Bash(mark b:*)".to_owned()];
        let model = ModelSetup {
            provider_name: "script".into(),
            provider_kind: "replay".into(),
            name: "m".into(),
            context_window: 0,
            codec: codec as Arc<dyn Codec>,
            provider: Arc::new(Speaker(Arc::clone(&self.world))),
            key_variable: None,
            own_key: None,
            limits: turn::Limits {
                retry_base_ms: 1,
                ..turn::Limits::default()
            },
            price: None,
            repair: false,
            efforts: Vec::new(),
            temperature: true,
            effort: None,
            fallback: None,
        };
        Setup {
            profile: Profile {
                system_prompt: "Work.".into(),
                append_system_prompt: None,
                examples: None,
                tools: ToolSet::new(vec![
                    Arc::new(Marker::new("look", Family::Read, true, &self.world)),
                    Arc::new(Marker::new("mark", Family::Bash, false, &self.world)),
                ]),
                pinned: Vec::new(),
                agents: String::new(),
                rules: vec![RuleLayer {
                    origin: String::new(),
                    layer: policy::Layer::User,
                    rules: Rules {
                        allow,
                        ..Rules::default()
                    },
                    trusted: true,
                }],
                model,
            },
            secret_variables: Vec::new(),
            pass: Vec::new(),
            options: SessionOptions::default(),
            enabled_tools: Vec::new(),
            allow_write: Vec::new(),
            deny_read: Vec::new(),
            confine: session::SandboxSettings {
                demand: session::SandboxDemand::Off,
                ..session::SandboxSettings::default()
            },
            skills: session::SkillSettings::default(),
            memory: session::MemorySettings::default(),
            recover: Some(self.recover),
            trusted: true,
            workspace_root: Some(self.project.clone()),
            notices: Vec::new(),
            unusable: None,
        }
    }
}

impl Assembly for EngineSetup {
    fn create(
        &self,
        _: &Path,
        _: Option<&str>,
        _: Effort<'_>,
        _: &[&str],
    ) -> Result<Setup, Failure> {
        Ok(self.setup())
    }

    fn resume(&self, _: &SessionCreated) -> Setup {
        self.setup()
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::new(NoProcesses)
    }

    fn syncer(&self) -> Arc<dyn Syncer> {
        Arc::clone(&self.world) as Arc<dyn Syncer>
    }

    fn tool_memory(&self, _: Arc<workspace::Workspace>) -> Arc<dyn contract::ToolMemory> {
        Arc::new(())
    }

    fn masked(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn user_home(&self) -> PathBuf {
        PathBuf::from("/nonexistent")
    }
}

struct NoProcesses;

impl Spawn for NoProcesses {
    fn spawn(&self, _: Pid, command: Command) -> BoxFuture<'static, Result<Child, SpawnError>> {
        let refused = SpawnError::Start {
            program: command.title,
            reason: "not here".into(),
        };
        std::future::ready(Err(refused)).boxed()
    }

    fn running(&self, _: Pid) -> Vec<ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

/// A tool that leaves a mark in the world when it begins and when it ends.
struct Marker {
    spec: ToolSpec,
    world: Arc<World>,
}

impl Marker {
    fn new(name: &'static str, family: Family, read_only: bool, world: &Arc<World>) -> Self {
        let spec = ToolSpec {
            read_only,
            ..ToolSpec::new(name, "Leaves a mark.", json!({"type": "object"}), family)
        };
        Self {
            spec,
            world: Arc::clone(world),
        }
    }
}

impl Tool for Marker {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        Ok(arguments.clone())
    }

    fn preview(&self, _: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        Ok(Preview {
            display: Display::Line {
                text: "a mark".into(),
            },
        })
    }

    fn run(&self, _: Map<String, Value>, context: CallContext) -> BoxFuture<'static, Outcome> {
        let (world, counts) = (Arc::clone(&self.world), !self.spec.read_only);
        async move {
            let call = context.call.0;
            world
                .pass_or_wait(Point::ToolStarts, |state| {
                    if counts {
                        state.runs.entry(call.clone()).or_default().0 += 1;
                    }
                })
                .await;
            // Others get their turn while it runs.
            tokio::task::yield_now().await;
            world
                .pass_or_wait(Point::ToolEnds, |state| {
                    if counts {
                        state.runs.entry(call.clone()).or_default().1 += 1;
                    }
                })
                .await;
            Outcome::with_status(CallStatus::Ok, format!("marked {call}"))
        }
        .boxed()
    }
}

/// The model: its answer depends on the length of the conversation.
struct Speaker(Arc<World>);

impl Provider for Speaker {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let world = Arc::clone(&self.0);
        let (asked, messages) = (request.answered, messages(&request.body));
        let start = async move {
            world
                .pass_or_wait(Point::Asked, |state| state.requests.push(messages))
                .await;
            futures::stream::iter(parts(asked)).then(move |part| {
                let world = Arc::clone(&world);
                async move {
                    world.pass_or_wait(Point::Part, |_| ()).await;
                    Ok(part)
                }
            })
        };
        start.into_stream().flatten().boxed()
    }
}

/// The messages of a request's body, joined by commas.
fn messages(body: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(body).expect("a body in UTF-8");
    let (_, rest) = text.split_once(r#"],"messages":["#).expect("messages");
    let (messages, _) = rest
        .rsplit_once(r#"],"tool_choice":"#)
        .expect("a tool choice");
    messages.as_bytes().to_vec()
}

/// The usage reported with an answer.
pub fn usage(said: u64) -> Reported {
    Reported {
        prompt_tokens: 100 + 7 * said,
        cached_tokens: 64 * said,
        cache_write_tokens: 0,
        output_tokens: 10 + said,
        reasoning_tokens: said % 3,
    }
}

/// The words and calls of an answer, in the order they come.
fn parts(said: u64) -> Vec<Part> {
    let (words, calls) = answer(said);
    let mut parts = vec![Part::Reasoning("Let me see.".into())];
    parts.extend(
        words
            .split_inclusive(' ')
            .map(|word| Part::Text(word.to_owned())),
    );
    let finish = if calls.is_empty() {
        Finish::Stop
    } else {
        Finish::ToolCalls
    };
    for (index, call) in (0..).zip(calls) {
        parts.push(Part::CallDelta {
            index,
            id: call.id.0.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        parts.push(Part::Call(call));
    }
    parts.extend([Part::Usage(usage(said)), Part::Done(finish)]);
    parts
}

/// Reads side by side; what a rule allows; what a person must allow; both in one answer; words.
fn answer(said: u64) -> (String, Vec<ToolCall>) {
    let look = |part: u64| call(said, part, "look", &json!({"path": "notes.txt"}));
    let mark = |part: u64, kind: &str| {
        let command = format!("mark {kind} {said}.{part}");
        call(said, part, "mark", &json!({"command": command}))
    };
    match said % STEPS {
        0 => ("I look first.".into(), vec![look(0), look(1), look(2)]),
        1 => (String::new(), vec![mark(0, "b")]),
        2 => ("May I?".into(), vec![mark(0, "a")]),
        3 => (String::new(), vec![mark(0, "b"), look(1), mark(2, "b")]),
        _ => (format!("Answer {said} ends the turn."), Vec::new()),
    }
}

fn call(said: u64, part: u64, tool: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        id: CallId(format!("c{said}.{part}")),
        name: tool.into(),
        arguments: arguments.to_string(),
        cut: false,
        found: false,
    }
}
