//! Ways out of the workspace as calls of a model, each in a session of its own: the cases that the file tools are
//! tested with by themselves, and those that need the whole (`cases.json`).
//!
//! Words are as there; `${SOCK}` is the daemon's socket, `${DAEMON_PID}` its process. Everything is allowed that no
//! person must say: the test measures the effect, not the questions.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proto::hello::Role;
use proto::item::CallStatus;
use proto::state::{ApprovalMode, OnAsk};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::{RaiseOnDrop, Script};
use tests::{Raw, skip};

use super::SandboxHouse;

/// The cases of the file tools.
const OF_TOOLS: &str = include_str!("../../../daemon/tools/src/path_cases.json");
const OF_THE_WHOLE: &str = include_str!("cases.json");
/// How often a call is repeated while another process swaps its target.
const SWAPS: usize = 150;

#[derive(Deserialize)]
struct Case {
    id: String,
    setup: Vec<Vec<String>>,
    tool: String,
    args: Value,
    /// Outcomes that pass: `allow`, `deny`.
    accept: Vec<String>,
    post: Vec<Vec<String>>,
    why: String,
    /// Rules.
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    race: Option<Race>,
    /// `unprivileged`: not as root.
    #[serde(default)]
    requires: Vec<String>,
}

/// Somebody keeps swapping a path between two states.
#[derive(Deserialize)]
struct Race {
    swap: String,
    between: Vec<String>,
}

/// One case's own directories, in a house of many.
struct Scene<'a> {
    place: &'a SandboxHouse,
    raw: Raw,
    top: PathBuf,
}

impl<'a> Scene<'a> {
    fn new(place: &'a SandboxHouse, name: &str) -> Self {
        let top = place.house.root().join(name);
        for directory in ["ws", "out/d", "home"] {
            fs::create_dir_all(top.join(directory)).expect("a directory");
        }
        fs::write(top.join("out/canary"), "CANARY\n").expect("a canary");
        let raw = place.house.raw_as(Role::Drive);
        Self { place, raw, top }
    }

    fn filled(&self, text: &str) -> String {
        let top = self.top.to_string_lossy();
        let pid = || self.place.house.daemon_pid().unwrap_or_default();
        let mut text = text
            .replace("${WS}", &format!("{top}/ws"))
            .replace("${OUTREL}", format!("{top}/out").trim_start_matches('/'))
            .replace("${OUT}", &format!("{top}/out"))
            .replace("${HOME}", &self.place.house.user_home().to_string_lossy())
            .replace("${SOCK}", &self.place.house.socket().to_string_lossy())
            .replace("${T}", &top);
        if text.contains("${DAEMON_PID}") {
            text = text.replace("${DAEMON_PID}", &pid().to_string());
        }
        text
    }

    fn all_filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.filled(text)),
            Value::Array(items) => items.iter().map(|item| self.all_filled(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), self.all_filled(value)))
                .collect(),
            other => other.clone(),
        }
    }

    fn set_up(&self, step: &[String]) {
        let step: Vec<String> = step.iter().map(|part| self.filled(part)).collect();
        let step: Vec<&str> = step.iter().map(String::as_str).collect();
        match step.as_slice() {
            ["mkdir", path] => fs::create_dir_all(path).expect("a directory"),
            ["file", path, content] => fs::write(path, content).expect("a file"),
            ["symlink", path, target] => {
                std::os::unix::fs::symlink(target, path).expect("a link");
            }
            ["hardlink", path, existing] => fs::hard_link(existing, path).expect("a link"),
            ["fifo", path] => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mkfifoat(CWD, *path, mode).expect("a pipe");
            }
            ["chmod", path, mode] => {
                let mode = u32::from_str_radix(mode, 8).expect("a mode");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
                fs::set_permissions(path, mode).expect("a mode");
            }
            other => panic!("no such step: {other:?}"),
        }
    }

    /// Whether a condition holds after the call; `said`: the result for the model.
    fn holds(&self, condition: &[String], said: &str) -> Result<(), String> {
        let parts: Vec<String> = condition.iter().map(|part| self.filled(part)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let house = &self.place.house;
        let holds = match parts.as_slice() {
            ["content", path, text] => {
                fs::read_to_string(path).is_ok_and(|content| content == *text)
            }
            ["absent", path] => fs::symlink_metadata(path).is_err(),
            ["mode", path, mode] => fs::metadata(path).is_ok_and(|found| {
                let mode = u32::from_str_radix(mode, 8).expect("a mode");
                std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o7777 == mode
            }),
            ["output_has", text] => said.contains(text),
            ["alive", pid] => house.daemon_pid().map(|pid| pid.to_string()) == Some((*pid).into()),
            ["no_approval_recorded", ..] => {
                let logs = house.logs();
                logs.last().is_some_and(|log| log.resolved().is_empty())
            }
            other => panic!("no such condition: {other:?}"),
        };
        if holds {
            return Ok(());
        }
        Err(format!("{parts:?} does not hold"))
    }

    /// Plays calls in a session of their own, each in an answer of its own. How the last one ended, and its words.
    fn play(&mut self, calls: &[(&str, Value)], deny: &[String]) -> (CallStatus, String) {
        let script = calls
            .iter()
            .fold(Script::new(), |script, (tool, arguments)| {
                script.calls(tool, arguments)
            });
        self.place.house.cassette(&script.says("Done.").jsonl());
        let mut params = self.place.house.create("go");
        params.cwd = self.top.join("ws").to_string_lossy().into_owned();
        params.options.approval_mode = Some(ApprovalMode::Yolo);
        params.options.on_ask = Some(OnAsk::Allow);
        params.options.rules.get_or_insert_default().deny = deny.to_vec();
        let params = serde_json::to_value(params).expect("JSON");
        let created = self.raw.call("session.create", &params).expect("create");
        let pid = proto::Pid(created["pid"].as_u64().expect("a pid"));
        let waited = json!({"session": pid.to_string()});
        self.raw.call("session.wait", &waited).expect("wait");
        let mut results = self.place.house.log(pid).results();
        assert_eq!(results.len(), calls.len(), "each has its result");
        let last = results.pop().expect("a result");
        (last.status, last.text)
    }

    fn judge(&self, case: &Case, (status, said): &(CallStatus, String)) -> Result<(), String> {
        let verdict = match status {
            CallStatus::Ok => "allow",
            _ => "deny",
        };
        if !case.accept.iter().any(|accepted| accepted == verdict) {
            return Err(format!("{verdict}: {said}"));
        }
        case.post
            .iter()
            .try_for_each(|condition| self.holds(condition, said))
    }
}

/// Plays a case, and returns the first problem.
fn play(place: &SandboxHouse, case: &Case, number: usize) -> Result<(), String> {
    let mut scene = Scene::new(place, &format!("c{number}"));
    case.setup.iter().for_each(|step| scene.set_up(step));
    let arguments = scene.all_filled(&case.args);
    // What may be read is read before, so that no guard but that of the place holds.
    let read = ["path", "destination", "source"]
        .into_iter()
        .filter_map(|key| {
            let path = arguments.get(key)?.as_str()?;
            Some(("read_file", json!({ "path": path })))
        });
    let mut calls: Vec<_> = read.collect();
    if let Some(race) = &case.race {
        // Each differs from the others: a turn that repeats itself would be ended.
        for number in 1..=SWAPS {
            let mut arguments = arguments.clone();
            arguments["content"] = json!(format!("NEW {number}\n"));
            calls.push((case.tool.as_str(), arguments.clone()));
            let limit = 1_000 + number;
            calls.push((
                "read_file",
                json!({"path": arguments["path"], "limit": limit}),
            ));
        }
        let over = AtomicBool::new(false);
        let ended = std::thread::scope(|threads| {
            let swaps = threads.spawn(|| swap(&scene.filled(&race.swap), race, &scene.top, &over));
            let end = RaiseOnDrop(&over);
            let mut player = Scene::new(place, &format!("c{number}"));
            let ended = player.play(&calls, &case.deny);
            drop(end);
            let swaps = swaps.join().expect("the swaps");
            assert!(swaps > SWAPS, "{}: {swaps} swaps", case.id);
            ended
        });
        return case
            .post
            .iter()
            .try_for_each(|condition| scene.holds(condition, &ended.1));
    }
    calls.push((case.tool.as_str(), arguments.clone()));
    let ended = scene.play(&calls, &case.deny);
    scene.judge(case, &ended)?;
    // Once more with a command that no rule reads: only the sandbox limits it.
    if let Some(command) = arguments.get("command").and_then(Value::as_str) {
        let command = place.script(&format!("{number}.sh"), command);
        let ended = scene.play(&[("bash", json!({"command": command}))], &case.deny);
        scene.judge(case, &ended)?;
    }
    Ok(())
}

/// Swaps until it is over; how often.
fn swap(path: &str, race: &Race, top: &Path, over: &AtomicBool) -> usize {
    let beside = top.join("ws/.beside");
    let target = race
        .between
        .iter()
        .find_map(|state| state.strip_prefix("symlink:"))
        .expect("a link to swap with");
    let target = target.replace("${OUT}", &top.join("out").to_string_lossy());
    std::os::unix::fs::symlink(target, &beside).expect("a link");
    let mut swaps = 0;
    while !over.load(Ordering::SeqCst) {
        // While a write puts its own file into the place there may be nothing to swap with.
        let done = renameat_with(CWD, path, CWD, &beside, RenameFlags::EXCHANGE);
        swaps += usize::from(done.is_ok());
        std::thread::yield_now();
    }
    swaps
}

fn read(text: &str) -> Vec<Case> {
    let cases: Vec<Case> = serde_json::from_str(text).expect("cases");
    let plays = |case: &Case| {
        let ordinary = case.requires.iter().any(|what| what == "unprivileged");
        !(ordinary && skip::unless_ordinary_user(&case.id))
    };
    cases.into_iter().filter(plays).collect()
}

fn none_leads_out(cases: &[Case]) {
    let mut layers = SandboxHouse::all();
    let Some(place) = layers.pop() else { return };
    for case in cases.iter().filter(|case| case.id == "path-pos-14") {
        // The settings of the one case that has some.
        assert!(case.setup[0][1].contains("extra"), "{}", case.id);
    }
    let extra = place.house.root();
    let allowed: Vec<_> = (0..cases.len())
        .map(|number| format!("\"{}/c{number}/extra\"", extra.display()))
        .collect();
    place
        .house
        .settings(&format!("allow_write = [{}]", allowed.join(", ")));
    let wrong: Vec<_> = cases
        .iter()
        .enumerate()
        .filter_map(|(number, case)| {
            let what = play(&place, case, number).err()?;
            Some(format!("{} ({}): {what}", case.id, case.why))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_tool_call_of_the_attack_cases_escapes_the_workspace() {
    let cases = read(OF_TOOLS);
    assert!(cases.len() > 90, "{} cases", cases.len());
    none_leads_out(&cases);
}

#[test]
fn no_command_or_race_of_the_attack_cases_escapes_the_workspace() {
    none_leads_out(&read(OF_THE_WHOLE));
}
