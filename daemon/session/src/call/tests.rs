//! Commands that read, judged against real files: what no file tool may read is not shown by a command unasked.

use std::path::Path;

use contract::{Family, Preview, SpawnError, ToolSpec};
use proto::record::Rules;
use workspace::Options;

use super::*;

/// A `bash` that is only judged.
struct Bash(ToolSpec);

impl Tool for Bash {
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

    fn run(&self, _: Map<String, Value>, _: CallContext) -> BoxFuture<'static, Outcome> {
        async { Outcome::failed("it is only judged here") }.boxed()
    }
}

struct NoProcesses;

impl Spawn for NoProcesses {
    fn spawn(
        &self,
        _: Pid,
        command: contract::Command,
    ) -> BoxFuture<'static, Result<contract::Child, SpawnError>> {
        async move {
            Err(SpawnError::Start {
                program: command.title,
                reason: "not here".into(),
            })
        }
        .boxed()
    }

    fn running(&self, _: Pid) -> Vec<proto::params::process::ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

struct NoShells;

impl contract::tool::Shells for NoShells {
    fn number(&self) -> BoxFuture<'static, Result<Pid, String>> {
        async { Err("not here".to_owned()) }.boxed()
    }

    fn spawned(&self, _: proto::record::ChildSpawned) {}

    fn exited(&self, _: proto::record::ChildExited) {}
}

/// `top/home` with keys and the agent's own folder, `top/home/project` the workspace.
fn bench(top: &Path) -> Bench {
    let home = top.join("home");
    let project = home.join("project");
    for dir in [".ssh", ".reasonix/sessions/1", "project/src"] {
        std::fs::create_dir_all(home.join(dir)).unwrap();
    }
    std::fs::write(home.join(".ssh/id_rsa"), "key").unwrap();
    std::fs::write(home.join(".reasonix/sessions/1/log.jsonl"), "{}").unwrap();
    std::fs::write(project.join("src/main.rs"), "fn main() {}").unwrap();
    std::os::unix::fs::symlink(home.join(".ssh/id_rsa"), project.join("notes")).unwrap();
    let workspace = Workspace::open(Options {
        root: project.clone(),
        cwd: project,
        masked: vec![home.join(".reasonix")],
        deny_read: vec!["~/.ssh/**".into()],
        user_home: home.clone(),
        ..Options::default()
    })
    .unwrap();
    let bash: Arc<dyn Tool> = Arc::new(Bash(ToolSpec {
        name: "bash",
        description: "Runs.",
        schema: serde_json::json!({"type": "object"}),
        family: Family::Bash,
        read_only: false,
    }));
    Bench {
        session: Pid(1),
        tools: BTreeMap::from([("bash", bash)]),
        workspace: Arc::new(workspace),
        memory: Arc::new(()),
        env: Arc::default(),
        spill_dir: top.to_path_buf(),
        spawn: Arc::new(NoProcesses),
        shells: Arc::new(NoShells),
        user_home: home,
        trusted: true,
        masked: Vec::new(),
    }
}

fn verdict(bench: &Bench, command: &str) -> (Verdict, String) {
    let call = ToolCall {
        id: CallId("c".into()),
        name: "bash".into(),
        arguments: serde_json::json!({ "command": command }).to_string(),
        cut: false,
    };
    let standpoint = Standpoint {
        rules: Arc::new(RuleSet::parse(&[(policy::Layer::User, &Rules::default(), true)]).0),
        posture: Posture::Ask,
    };
    match bench.judge(&call, &standpoint).0 {
        Judgement::Decided { decision, .. } => (decision.verdict, decision.rule),
        Judgement::Refused(outcome) => panic!("`{command}` was refused: {}", outcome.text),
    }
}

#[test]
fn a_command_shows_nothing_unasked_that_tools_may_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let bench = bench(&top);
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
        let (verdict, rule) = verdict(&bench, command);
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
        let (verdict, rule) = verdict(&bench, command);
        assert_eq!(verdict, Verdict::Allow, "`{command}`: {rule}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_shows_no_process_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let bench = bench(&dir.path().canonicalize().unwrap());
    for command in [
        "cat /proc/self/environ",
        "cat /proc/1/environ",
        "cat /proc/*/environ",
        "strings /proc/thread-self/environ",
        "cat /proc/self/cwd/../.ssh/id_rsa",
        "grep -r key /proc",
    ] {
        let (verdict, rule) = verdict(&bench, command);
        assert_eq!(verdict, Verdict::Ask, "`{command}`: {rule}");
    }
    assert_eq!(verdict(&bench, "cat /proc/meminfo").0, Verdict::Allow);
}
