//! Commands that read, judged against real files: what no file tool may read is not shown by a command unasked.

use std::collections::BTreeMap;
use std::path::Path;

use contract::{CallAction, EffectivePermissions, Family, Preview, ToolSet, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use policy::RuleSet;
use proto::record::Rules;
use proto::state::ApprovalMode;
use workspace::WorkspaceOptions;

use super::*;
use crate::tests::fixtures::Stops;

/// A tool that is only judged, in a directory of its own if it has one, and with variables that were changed.
/// The description of a built-in tool.
pub(crate) fn built_in(name: &str) -> ToolSpec {
    let tools = tools::BuiltIn::default().set(tools::Options::default());
    tools.get(name).unwrap().spec().clone()
}

impl CallEnvironment {
    /// Adds a tool, in the place of one with the same name.
    pub(crate) fn add_tool(&mut self, tool: impl Tool + 'static) {
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let all = std::iter::once(tool).chain(self.tools.iter().cloned());
        self.tools = ToolSet::new(all.collect());
    }
}

pub(crate) struct Unrun(pub ToolSpec, pub Option<PathBuf>, pub Vec<String>);

impl Tool for Unrun {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        Ok(arguments.clone())
    }

    fn preview(&self, _: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        Ok(Preview {
            display: Display::Line {
                text: "a command".into(),
            },
        })
    }

    /// `tool_call` calls the tool that its arguments name.
    fn action(&self, arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        if &*self.0.name != "tool_call" {
            return Ok(CallAction::Run);
        }
        let named = arguments.get("arguments").and_then(Value::as_object);
        let tool = arguments.get("name").and_then(Value::as_str);
        Ok(CallAction::CallTool {
            tool: tool.unwrap_or_default().to_owned(),
            arguments: named.cloned().unwrap_or_default(),
        })
    }

    fn cwd(&self, _: &CallContext) -> Option<PathBuf> {
        self.1.clone()
    }

    fn altered(&self, _: &CallContext) -> BTreeMap<String, Option<String>> {
        let names = self.2.iter();
        names
            .map(|name| (name.clone(), Some("x".to_owned())))
            .collect()
    }

    fn run(&self, _: Map<String, Value>, _: CallContext) -> BoxFuture<'static, Outcome> {
        async { Outcome::failed("it is only judged here") }.boxed()
    }
}

struct NoShells;

impl contract::tool::Shells for NoShells {
    fn number(&self) -> BoxFuture<'static, Result<Pid, String>> {
        async { Err("not here".to_owned()) }.boxed()
    }

    fn spawned(&self, _: proto::record::ChildSpawned) {}

    fn exited(&self, _: proto::record::ChildExited) {}

    fn quarantined(&self, _: Vec<contract::Quarantined>) {}
}

/// Makes no sessions and knows of no changes.
#[derive(Default)]
pub(crate) struct NoSessions {
    pub terms: crate::DirectoryPolicy,
    pub masked: Vec<PathBuf>,
    pub temp: Option<PathBuf>,
    pub user_home: PathBuf,
}

impl crate::Assembly for NoSessions {
    fn create(
        &self,
        _: &Path,
        _: Option<&str>,
        _: crate::Effort<'_>,
        _: &[&str],
    ) -> Result<crate::Setup, proto::Failure> {
        panic!("no session is made here")
    }

    fn resume(&self, _: &proto::record::SessionCreated) -> crate::Setup {
        panic!("no session is made here")
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::new(Stops::default())
    }

    fn tool_memory(&self, _: Arc<Workspace>) -> Arc<dyn contract::ToolMemory> {
        Arc::new(())
    }

    fn masked(&self) -> Vec<PathBuf> {
        self.masked.clone()
    }

    fn temp(&self) -> Option<PathBuf> {
        self.temp.clone()
    }

    fn terms(&self, _: &Path) -> crate::DirectoryPolicy {
        self.terms.clone()
    }

    fn user_home(&self) -> PathBuf {
        self.user_home.clone()
    }
}

/// What no tool reads in it.
pub(crate) const DENY_READ: &str = "~/.ssh/**";

/// `top/home` with keys and the agent's own folder, `top/home/project` the workspace.
pub(crate) fn call_environment(top: &Path) -> CallEnvironment {
    call_environment_in(top, None)
}

/// The same, with a shell that is in a directory of the project.
fn call_environment_in(top: &Path, shell: Option<&str>) -> CallEnvironment {
    let home = top.join("home");
    let project = home.join("project");
    for dir in [".ssh", ".reasonix/sessions/1", "project/src"] {
        std::fs::create_dir_all(home.join(dir)).unwrap();
    }
    std::fs::write(home.join(".ssh/id_rsa"), "key").unwrap();
    std::fs::write(home.join(".reasonix/sessions/1/log.jsonl"), "{}").unwrap();
    std::fs::write(project.join("src/main.rs"), "fn main() {}").unwrap();
    std::os::unix::fs::symlink(home.join(".ssh/id_rsa"), project.join("notes")).unwrap();
    let workspace = Workspace::open(WorkspaceOptions {
        root: project.clone(),
        cwd: project,
        masked: vec![home.join(".reasonix")],
        deny_read: match shell {
            Some(_) => vec!["src/closed".into()],
            None => vec![DENY_READ.into()],
        },
        user_home: home.clone(),
        ..WorkspaceOptions::default()
    })
    .unwrap();
    let bash: Arc<dyn Tool> = Arc::new(Unrun(
        built_in("bash"),
        shell.map(|dir| top.join("home/project").join(dir)),
        Vec::new(),
    ));
    let workspace = Arc::new(workspace);
    let spawn: Arc<dyn Spawn> = Arc::new(Stops::default());
    let keeper = Keeper::new(Pid(1), top, Arc::clone(&workspace), Arc::clone(&spawn));
    CallEnvironment {
        server_content: Arc::new(crate::assembly::server_content::NoServers),
        flat: BTreeMap::default(),
        keeper: Arc::new(keeper),
        session: Pid(1),
        session_id: proto::SessionId::new(),
        tools: ToolSet::new(vec![bash]),
        workspace: Arc::clone(&workspace),
        memory: Arc::new(()),
        env: Arc::default(),
        spill_dir: top.to_path_buf(),
        blobs: BlobStore::new(top),
        spawn,
        shells: Arc::new(NoShells),
        history: Arc::new(()),
        instructions: Arc::new(InstructionWatch {
            workspace: Arc::clone(&workspace),
            user_file: home.join("REASONIX.md"),
            memory: Arc::new(()),
            trusted: true,
            brought: std::sync::Mutex::default(),
            reports: std::sync::Mutex::default(),
        }),
        user_commands: home.join("commands"),
        skills: Arc::new(crate::calls::skills::SessionSkills {
            asked_for: std::sync::Mutex::default(),
            workspace,
            places: knowledge::SkillPlaces::default(),
        }),
        user_agents: PathBuf::new(),
        agents: Arc::new(()),
        user_home: home,
        trusted: true,
        masked: Vec::new(),
        confine: SandboxSettings {
            demand: crate::SandboxDemand::Off,
            ..SandboxSettings::default()
        },
        notes: Notes::new(Arc::new(())),
        recall: None,
        prefetch_bounds: Arc::new(|| ()),
    }
}

fn verdict(call_environment: &CallEnvironment, command: &str) -> (Verdict, String) {
    let call = ToolCall {
        id: CallId("c".into()),
        name: "bash".into(),
        arguments: serde_json::json!({ "command": command }).to_string(),
        cut: false,
        found: false,
    };
    let standpoint = Standpoint {
        outside: None,
        quarantined: Vec::new(),
        skills: Vec::new(),
        on_ask: proto::state::OnAsk::Wait,
        in_home: false,
        checks: Vec::new(),
        rules: Arc::new(RuleSet::parse(&[(policy::Layer::User, &Rules::default(), true)], &[]).0),
        approval_mode: ApprovalMode::Ask,
        effective_permissions: EffectivePermissions::default(),
    };
    match call_environment
        .judge(&call, &standpoint, &KeptPaths::default())
        .0
    {
        Judgement::Decided(decided) => (decided.decision.verdict, decided.decision.rule),
        Judgement::Refused(outcome) => panic!("`{command}` was refused: {}", outcome.text),
    }
}

#[test]
fn command_that_reads_paths_closed_to_tools_needs_approval() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let call_environment = call_environment(&top);
    let key = top.join("home/.ssh/id_rsa").display().to_string();
    for command in [
        "cat ~/.ssh/id_rsa",
        "cat ../.ssh/id_rsa",
        "cat notes",
        "grep -fnotes src/main.rs",
        "cat src/../notes",
        &format!("cat {key}"),
        &format!("git diff --no-index /dev/null {key}"),
        "cat ~/.reasonix/sessions/1/log.jsonl",
        "cat ~/.reasonix/sessions/*/log.jsonl",
        "ls ~/.ssh",
        "grep -r key ~",
        "grep -r key ..",
        "find / -name id_rsa",
        "cat ~/*/id_rsa",
    ] {
        let (verdict, rule) = verdict(&call_environment, command);
        assert_eq!(verdict, Verdict::Ask, "`{command}`: {rule}");
    }
    for command in [
        "cat src/main.rs",
        "cat src/*.rs",
        "ls ~",
        "grep -rn key .",
        "rg key",
        "find . -name '*.rs'",
        "git log -p",
        "cat /etc/hosts",
        "cat missing",
    ] {
        let (verdict, rule) = verdict(&call_environment, command);
        assert_eq!(verdict, Verdict::Allow, "`{command}`: {rule}");
    }
}

#[test]
fn relative_paths_start_where_the_shell_stands() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let call_environment = call_environment_in(&top, Some("src"));
    std::fs::write(top.join("home/project/src/closed"), "key").unwrap();
    for command in ["cat closed", "cat ./closed", "cat ../src/closed"] {
        let (verdict, rule) = verdict(&call_environment, command);
        assert_eq!(verdict, Verdict::Ask, "`{command}`: {rule}");
    }
    for command in ["cat main.rs", "cat ../src/main.rs", "cat src/closed"] {
        let (verdict, rule) = verdict(&call_environment, command);
        assert_eq!(verdict, Verdict::Allow, "`{command}`: {rule}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_shows_no_process_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let call_environment = call_environment(&dir.path().canonicalize().unwrap());
    for command in [
        "cat /proc/self/environ",
        "cat /proc/1/environ",
        "cat /proc/*/environ",
        "strings /proc/thread-self/environ",
        "cat /proc/self/cwd/../.ssh/id_rsa",
        "grep -r key /proc",
    ] {
        let (verdict, rule) = verdict(&call_environment, command);
        assert_eq!(verdict, Verdict::Ask, "`{command}`: {rule}");
    }
    assert_eq!(
        verdict(&call_environment, "cat /proc/meminfo").0,
        Verdict::Allow
    );
}

#[test]
fn a_command_under_changed_variables_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let mut call_environment = call_environment(&top);
    let spec = built_in("bash");
    for (name, expected) in [("PATH", Verdict::Ask), ("LANG", Verdict::Allow)] {
        let bash = Unrun(spec.clone(), None, vec![name.to_owned()]);
        call_environment.add_tool(bash);
        for command in ["git status", "ls", "cat src/main.rs"] {
            let (verdict, rule) = verdict(&call_environment, command);
            assert_eq!(verdict, expected, "{name}: `{command}`: {rule}");
        }
    }
}

#[test]
fn copying_a_folder_with_denied_files_needs_approval() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let mut call_environment = call_environment(&top);
    let project = top.join("home/project");
    std::fs::create_dir(project.join("config")).unwrap();
    std::fs::write(project.join("config/secret.key"), "key").unwrap();
    std::os::unix::fs::symlink("config", project.join("other")).unwrap();
    call_environment.add_tool(Unrun(built_in("copy_file"), None, Vec::new()));
    let rules = Rules {
        allow: vec!["Edit".to_owned()],
        deny: vec!["Read(config/secret.key)".to_owned()],
        ..Rules::default()
    };
    let standpoint = Standpoint {
        outside: None,
        quarantined: Vec::new(),
        skills: Vec::new(),
        on_ask: proto::state::OnAsk::Wait,
        in_home: false,
        checks: Vec::new(),
        rules: Arc::new(RuleSet::parse(&[(policy::Layer::User, &rules, true)], &[]).0),
        approval_mode: ApprovalMode::Auto,
        effective_permissions: EffectivePermissions::default(),
    };
    for (source, expected) in [
        ("config", Verdict::Ask),
        ("other", Verdict::Ask),
        ("src", Verdict::Allow),
        ("src/main.rs", Verdict::Allow),
        ("config/secret.key", Verdict::Deny),
    ] {
        let call = ToolCall {
            id: CallId("c".into()),
            name: "copy_file".into(),
            arguments: serde_json::json!({"source": source, "destination": "c2"}).to_string(),
            cut: false,
            found: false,
        };
        match call_environment
            .judge(&call, &standpoint, &KeptPaths::default())
            .0
        {
            Judgement::Decided(Decided { decision, .. }) => {
                assert_eq!(decision.verdict, expected, "{source}: {}", decision.rule);
            }
            Judgement::Refused(outcome) => panic!("{source} was refused: {}", outcome.text),
        }
    }
}

/// Deep parameters are flat in the prefix, and the tool gets them nested: also where a model nests them by itself.
#[test]
fn deep_parameters_are_shown_flat_and_come_nested() {
    let text = serde_json::json!({"type": "string"});
    let inner = |name: &str, below: Value| serde_json::json!({"type": "object", "properties": {name: below}});
    let user = inner("profile", inner("name", text.clone()));
    let schema = serde_json::json!({
            "type": "object",
            "properties": {"user": user, "mail": text},
    });
    let spec = ToolSpec::new("invite", "Invites.", schema, Family::Edit);
    let shown = crate::assembly::tool_repair::flattened(&spec.declaration()).schema;
    let names: Vec<_> = shown["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["user.profile.name", "mail"]);

    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let mut call_environment = call_environment(&top);
    call_environment.add_tool(Unrun(spec, None, Vec::new()));
    call_environment.flat = crate::assembly::tool_repair::flat(&call_environment.tools);
    let nested = serde_json::json!({"mail": "m", "user": {"profile": {"name": "ann"}}});
    for arguments in [
        serde_json::json!({"mail": "m", "user.profile.name": "ann"}),
        nested.clone(),
    ] {
        let call = ToolCall {
            id: CallId("c".into()),
            name: "invite".into(),
            arguments: arguments.to_string(),
            cut: false,
            found: false,
        };
        let found = call_environment.found(&call).ok().unwrap();
        assert_eq!(Value::Object(found.arguments), nested);
    }
}
