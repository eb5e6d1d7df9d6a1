//! Commands as the daemon runs them, from start to nothing left.
//!
//! Each scene starts real processes and waits for what must become true. A process is followed by a
//! number that nothing else uses: the argument of a `sleep`.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Child, ChildEvent, ChildExit, Command, Spawn, SpawnError};
use futures::StreamExt;
use procs::{Helper, Limits, Options, Procs};
use proto::Pid;

const SESSION: Pid = Pid(7);
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn options() -> Options {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_procs-probe"));
    let helper = Helper {
        program,
        arguments: vec!["child".into()],
    };
    Options {
        helper,
        limits: Limits::default(),
        umask: None,
    }
}

fn procs() -> Arc<Procs> {
    Procs::start(options()).unwrap()
}

fn command(argv: &[&str]) -> Command {
    Command {
        argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
        cwd: PathBuf::from("/"),
        env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
        title: argv.join(" "),
    }
}

fn sh(script: &str) -> Command {
    command(&["sh", "-c", script])
}

/// What a command came to.
#[derive(Debug, Default, PartialEq)]
struct Done {
    out: String,
    err: String,
    exit: Option<ChildExit>,
}

async fn finish(mut child: Child) -> Done {
    let mut done = Done::default();
    let all = async {
        while let Some(event) = child.events.next().await {
            assert!(
                done.exit.is_none(),
                "something came after the exit: {event:?}"
            );
            match event {
                ChildEvent::Stdout(bytes) => done.out.push_str(&String::from_utf8_lossy(&bytes)),
                ChildEvent::Stderr(bytes) => done.err.push_str(&String::from_utf8_lossy(&bytes)),
                ChildEvent::Exited(exit) => done.exit = Some(exit),
            }
        }
    };
    tokio::time::timeout(PATIENCE, all)
        .await
        .expect("the child ends");
    done
}

async fn run(command: Command) -> Done {
    let procs = procs();
    let done = finish(procs.spawn(SESSION, command).await.unwrap()).await;
    assert_eq!(procs.count(), 0);
    done
}

async fn refused(command: Command) -> String {
    let procs = procs();
    let Err(error) = procs.spawn(SESSION, command).await else {
        panic!("it started")
    };
    assert_eq!(procs.count(), 0);
    error.to_string()
}

fn code(done: &Done) -> Option<i32> {
    done.exit.and_then(|exit| exit.code)
}

/// Waits until a line is printed.
async fn line(child: &mut Child) -> String {
    let mut text = String::new();
    let read = async {
        while !text.contains('\n') {
            match child.events.next().await {
                Some(ChildEvent::Stdout(bytes)) => text.push_str(&String::from_utf8_lossy(&bytes)),
                other => panic!("no line, but {other:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, read)
        .await
        .expect("a line is printed");
    text
}

/// Processes (no zombies) with this text among their arguments, in the test's process or anywhere else.
fn with_argument(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let arguments = std::fs::read(path.join("cmdline")).unwrap_or_default();
        if arguments
            .split(|byte| *byte == 0)
            .any(|argument| argument == text.as_bytes())
        {
            found.push(format!(
                "{}: {}",
                path.display(),
                String::from_utf8_lossy(&arguments)
            ));
        }
    }
    found
}

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds that only one scene sleeps for.
fn mark(scene: u32) -> String {
    format!(
        "{}",
        1_000_000_000_u64 + u64::from(std::process::id()) * 100 + u64::from(scene)
    )
}

// ---- what a command is given and gives back

#[tokio::test]
async fn the_exit_code_and_both_streams_come_back() {
    let done = run(sh("echo out; echo err >&2; exit 3")).await;
    assert_eq!((done.out.as_str(), done.err.as_str()), ("out\n", "err\n"));
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: Some(3),
            signal: None,
            swept: 0
        })
    );
}

#[tokio::test]
async fn a_signal_is_told_as_a_signal() {
    let done = run(sh("kill -SEGV $$")).await;
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: None,
            signal: Some(11),
            swept: 0
        })
    );
}

#[tokio::test]
async fn the_environment_is_what_the_command_says_and_no_more() {
    let mut asked = command(&["/usr/bin/env"]);
    asked.env = vec![
        ("B".to_owned(), "two\nlines".to_owned()),
        ("A".to_owned(), "ä".to_owned()),
    ];
    assert_eq!(run(asked).await.out, "A=ä\nB=two\nlines\n");
    let mut nothing = command(&["/usr/bin/env"]);
    nothing.env.clear();
    assert_eq!(run(nothing).await.out, "");
}

#[tokio::test]
async fn a_very_large_environment_passes() {
    let mut asked = command(&["/bin/sh", "-c", "echo ${#BIG0} ${#BIG9}"]);
    asked.env = (0..10)
        .map(|index| (format!("BIG{index}"), "x".repeat(100_000)))
        .collect();
    assert_eq!(run(asked).await.out, "100000 100000\n");
}

#[tokio::test]
async fn standard_input_is_empty_and_nothing_else_is_open() {
    let done = run(sh("readlink /proc/self/fd/0; cat; ls /proc/self/fd")).await;
    // 3 is `ls` itself, reading the directory.
    assert_eq!(done.out, "/dev/null\n0\n1\n2\n3\n");
}

#[tokio::test]
async fn a_command_leads_a_session_of_its_own() {
    let procs = procs();
    let child = procs
        .spawn(SESSION, sh("cut -d' ' -f5,6 /proc/$$/stat"))
        .await
        .unwrap();
    let os_pid = child.os_pid;
    assert_eq!(finish(child).await.out, format!("{os_pid} {os_pid}\n"));
}

#[tokio::test]
async fn no_signal_is_ignored_or_blocked_in_a_command_whatever_the_daemon_was_given() {
    let host = format!(
        "trap '' HUP INT QUIT TERM PIPE USR1 USR2 TSTP TTIN TTOU ALRM XCPU; exec '{}' host sh -c \
         'grep -E \"SigIgn|SigBlk\" /proc/self/status >$0; sleep 1000' \"$1\"",
        env!("CARGO_BIN_EXE_procs-probe")
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signals");
    let mut host = std::process::Command::new("sh")
        .arg("-c")
        .arg(host)
        .arg("sh")
        .arg(&file)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the command has written", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() == 2)
    })
    .await;
    let text = std::fs::read_to_string(&file).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    for line in text.lines() {
        let set = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        // Signals 32 and 33 are the C library's own: its `posix_spawn` always leaves them ignored.
        assert_eq!(set & !(0b11 << 31), 0, "{text}");
    }
}

#[tokio::test]
async fn limits_and_the_mode_mask_reach_the_command() {
    let mut options = options();
    options.limits = Limits {
        processes: Some(5000),
        open_files: Some(64),
        address_space: None,
        file_size: Some(1 << 20),
    };
    options.umask = Some(0o027);
    let procs = Procs::start(options).unwrap();
    let script = "ulimit -c; ulimit -n; ulimit -f; umask; grep processes /proc/self/limits";
    let done = finish(procs.spawn(SESSION, sh(script)).await.unwrap()).await;
    let words: Vec<&str> = done.out.split_whitespace().collect();
    assert_eq!(
        words,
        [
            "0",
            "64",
            "2048",
            "0027",
            "Max",
            "processes",
            "5000",
            "5000",
            "processes"
        ]
    );
}

// ---- what cannot be started

#[tokio::test]
async fn a_missing_directory_is_named() {
    let mut asked = sh("true");
    asked.cwd = PathBuf::from("/no/such/place");
    let expected = "start `sh`: working directory `/no/such/place`: no such directory";
    assert_eq!(refused(asked).await, expected);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    assert_eq!(
        refused(command(&["no-such-program"])).await,
        "start `no-such-program`: no such program on `PATH`"
    );
    assert_eq!(
        refused(command(&["/no/such"])).await,
        "start `/no/such`: no such file"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_run_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    let plain = plain.to_str().unwrap();
    assert_eq!(
        refused(command(&[plain])).await,
        format!("start `{plain}`: permission denied")
    );
    let lost = script(dir.path(), "lost", "#!/no/such/shell\n");
    let reason = "the interpreter or loader that the file names does not exist";
    assert_eq!(
        refused(command(&[&lost])).await,
        format!("start `{lost}`: {reason}")
    );
}

#[tokio::test]
async fn an_empty_command_and_a_nul_are_refused() {
    assert_eq!(
        refused(command(&[])).await,
        "start ``: the command is empty"
    );
    assert!(
        refused(command(&["echo", "a\0b"]))
            .await
            .contains("nul byte")
    );
}

#[tokio::test]
async fn a_missing_helper_is_told() {
    let mut options = options();
    options.helper.program = PathBuf::from("/no/helper");
    let procs = Procs::start(options).unwrap();
    let Err(error) = procs.spawn(SESSION, sh("true")).await else {
        panic!("it started")
    };
    assert!(
        error
            .to_string()
            .starts_with("start `sh`: its helper did not start: "),
        "{error}"
    );
    assert_eq!(procs.count(), 0);
}

fn script(dir: &Path, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

// ---- nothing is left behind

async fn leaves_nothing(script: &str, mark: &str) {
    let done = run(sh(script)).await;
    assert_eq!(code(&done), Some(0));
    assert_eq!(with_argument(mark), Vec::<String>::new());
    assert!(done.exit.unwrap().swept >= 1, "{done:?}");
}

#[tokio::test]
async fn a_background_job_ends_with_its_command() {
    let mark = mark(1);
    leaves_nothing(&format!("sleep {mark} &"), &mark).await;
}

#[tokio::test]
async fn a_session_of_its_own_does_not_save_a_process() {
    let mark = mark(2);
    leaves_nothing(&format!("setsid sh -c 'sleep {mark} &' & wait"), &mark).await;
}

#[tokio::test]
async fn a_double_fork_does_not_save_a_process() {
    let mark = mark(3);
    leaves_nothing(
        &format!("(setsid sh -c '(setsid sleep {mark} >/dev/null 2>&1 &) &' &)"),
        &mark,
    )
    .await;
}

#[tokio::test]
async fn a_stopped_process_is_swept_too() {
    let mark = mark(4);
    leaves_nothing(&format!("sleep {mark} & kill -STOP $!"), &mark).await;
}

#[tokio::test]
async fn several_left_behind_are_counted() {
    let mark = mark(5);
    let done = run(sh(&format!("for i in 1 2 3 4 5; do sleep {mark} & done"))).await;
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: Some(0),
            signal: None,
            swept: 5
        })
    );
}

#[tokio::test]
async fn a_killed_daemon_leaves_nothing() {
    let mark = mark(6);
    let script = format!(
        "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; sleep {mark} & wait' & sleep {mark} & wait"
    );
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
        .args(["host", "sh", "-c", &script])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("both sleep", || with_argument(&mark).len() == 2).await;
    host.kill().unwrap();
    host.wait().unwrap();
    until("nothing is left", || with_argument(&mark).is_empty()).await;
    until("no shell is left", || with_argument(&script).is_empty()).await;
}

#[tokio::test]
async fn a_killed_helper_takes_its_command_along() {
    let mark = mark(7);
    let procs = procs();
    let script = format!("echo $PPID; sleep {mark} & wait");
    let mut child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    let helper = line(&mut child).await;
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    assert!(kill("-KILL", helper.trim()));
    let exit = finish(child).await.exit.unwrap();
    assert_eq!((exit.code, exit.signal), (None, Some(9)));
    until("nothing is left", || with_argument(&mark).is_empty()).await;
    assert_eq!(procs.count(), 0);
}

fn kill(signal: &str, os_pid: &str) -> bool {
    std::process::Command::new("kill")
        .args([signal, os_pid])
        .status()
        .unwrap()
        .success()
}

#[tokio::test]
async fn a_helper_that_is_asked_to_end_sweeps_first() {
    let mark = mark(8);
    let procs = procs();
    let script = format!("echo $PPID; setsid sleep {mark} & trap '' TERM; wait; sleep {mark}");
    let mut child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    let helper = line(&mut child).await;
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    assert!(kill("-TERM", helper.trim()));
    let exit = finish(child).await.exit.unwrap();
    assert_eq!((exit.signal, exit.swept), (Some(9), 1));
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_helper_that_its_command_has_stopped_still_obeys() {
    let procs = procs();
    let mut child = procs
        .spawn(SESSION, sh("kill -STOP $PPID; echo stopped; sleep 1000"))
        .await
        .unwrap();
    line(&mut child).await;
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    assert_eq!(procs.count(), 0);
}

#[tokio::test]
async fn a_helper_that_is_stopped_again_and_again_does_not_save_its_command() {
    let procs = procs();
    let script = "helper=$PPID; (setsid sh -c \"while kill -STOP $helper; do :; done\" &) ; echo ready; sleep 1000";
    let mut child = procs.spawn(SESSION, sh(script)).await.unwrap();
    line(&mut child).await;
    let begun = Instant::now();
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(procs.count(), 0);
}

#[tokio::test]
async fn a_killed_daemon_leaves_no_stopped_helper() {
    let mark = mark(9);
    let script = format!("kill -STOP $PPID; setsid sleep {mark} & sleep {mark}");
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
        .args(["host", "sh", "-c", &script])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("both sleep", || with_argument(&mark).len() == 2).await;
    host.kill().unwrap();
    host.wait().unwrap();
    until("nothing is left", || with_argument(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_process_elsewhere_that_holds_the_pipe_does_not_hold_the_exit() {
    // A pipe opened by its name in `/proc` stands for a server that was handed the descriptor.
    let procs = procs();
    let child = procs.spawn(SESSION, sh("sleep 1000")).await.unwrap();
    let pipe = std::fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/{}/fd/1", child.os_pid))
        .unwrap();
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    drop(pipe);
}

// ---- stops

#[tokio::test]
async fn a_stop_is_heard_by_the_whole_tree_at_once() {
    let procs = procs();
    let script = "trap 'wait; echo outer; exit 4' TERM; setsid sh -c \"trap 'echo inner; exit' TERM; echo ready; while :; do sleep 0.01; done\" & wait";
    let mut child = procs.spawn(SESSION, sh(script)).await.unwrap();
    line(&mut child).await;
    child.control.stop(20_000);
    let done = finish(child).await;
    assert_eq!(done.out, "inner\nouter\n");
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: Some(4),
            signal: None,
            swept: 0
        })
    );
}

#[tokio::test]
async fn who_does_not_hear_the_stop_is_killed_after_the_grace() {
    let mark = mark(10);
    let procs = procs();
    let script =
        format!("trap '' TERM; setsid sleep {mark} & echo ready; while :; do sleep 0.05; done");
    let mut child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    line(&mut child).await;
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    let begun = Instant::now();
    child.control.stop(2000);
    let exit = finish(child).await.exit.unwrap();
    let took = begun.elapsed();
    assert_eq!(exit.signal, Some(9));
    assert!(exit.swept >= 1);
    assert!(
        (Duration::from_millis(2000)..Duration::from_millis(3000)).contains(&took),
        "{took:?}"
    );
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_second_stop_may_only_be_sooner() {
    let procs = procs();
    let mut child = procs
        .spawn(
            SESSION,
            sh("trap '' TERM; echo ready; while :; do sleep 0.05; done"),
        )
        .await
        .unwrap();
    line(&mut child).await;
    let begun = Instant::now();
    child.control.stop(60_000);
    child.control.stop(u64::MAX);
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_stopped_command_hears_the_term() {
    let procs = procs();
    let mut child = procs
        .spawn(
            SESSION,
            sh("trap 'exit 5' TERM; echo ready; kill -STOP $$; sleep 1000"),
        )
        .await
        .unwrap();
    line(&mut child).await;
    let stat = format!("/proc/{}/stat", child.os_pid);
    until("it has stopped", || {
        std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "))
    })
    .await;
    child.control.stop(20_000);
    assert_eq!(code(&finish(child).await), Some(5));
}

#[tokio::test]
async fn a_storm_of_forks_does_not_outrun_the_kill() {
    let mark = mark(11);
    // Four loops of 400, and none starts another: should the kill fail, the machine hardly notices.
    let storm = format!(
        "trap '' TERM; storm() {{ i=0; while [ $i -lt 400 ]; do i=$((i+1)); (sleep {mark} &) ; done; }}; \
         setsid sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); (setsid sleep {mark} &); done' & \
         (storm &) ; (storm &) ; echo ready; storm; sleep {mark}"
    );
    let procs = procs();
    let mut child = procs.spawn(SESSION, sh(&storm)).await.unwrap();
    line(&mut child).await;
    until("the storm has grown", || with_argument(&mark).len() > 150).await;
    let begun = Instant::now();
    child.control.stop(0);
    let done = finish(child).await;
    let took = begun.elapsed();
    assert_eq!(with_argument(&mark), Vec::<String>::new());
    assert!(done.exit.unwrap().swept > 100, "{done:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn a_child_that_nobody_listens_to_is_killed() {
    let mark = mark(12);
    let procs = procs();
    let child = procs
        .spawn(
            SESSION,
            sh(&format!(
                "trap '' TERM; setsid sleep {mark} & wait; sleep {mark}"
            )),
        )
        .await
        .unwrap();
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    drop(child);
    tokio::time::timeout(PATIENCE, procs.session_gone(SESSION))
        .await
        .expect("it goes");
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_flooding_child_that_nobody_listens_to_is_killed() {
    let procs = procs();
    let mut child = procs
        .spawn(SESSION, command(&["cat", "/dev/zero"]))
        .await
        .unwrap();
    assert!(matches!(
        child.events.next().await,
        Some(ChildEvent::Stdout(_))
    ));
    drop(child.events);
    tokio::time::timeout(PATIENCE, procs.session_gone(SESSION))
        .await
        .expect("it goes");
}

#[tokio::test]
async fn the_control_alone_may_go() {
    let procs = procs();
    let Child {
        os_pid,
        events,
        control,
    } = procs.spawn(SESSION, sh("echo on; exit 6")).await.unwrap();
    drop(control);
    let nothing = Box::new(Deaf);
    let done = finish(Child {
        os_pid,
        events,
        control: nothing,
    })
    .await;
    assert_eq!((done.out.as_str(), code(&done)), ("on\n", Some(6)));
}

struct Deaf;

impl contract::spawn::ChildControl for Deaf {
    fn stop(&self, _grace_ms: u64) {}
}

// ---- the whole

#[tokio::test]
async fn the_table_names_what_runs_and_a_session_is_stopped_alone() {
    let procs = procs();
    let mut first = procs
        .spawn(Pid(1), sh("echo ready; sleep 1000"))
        .await
        .unwrap();
    let second = procs.spawn(Pid(2), sh("sleep 1000")).await.unwrap();
    line(&mut first).await;
    let table = procs.table();
    let rows: Vec<_> = table
        .iter()
        .map(|row| (row.session, row.os_pid, row.command.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            (Pid(1), first.os_pid, "sh -c echo ready; sleep 1000"),
            (Pid(2), second.os_pid, "sh -c sleep 1000")
        ]
    );
    procs.stop_session(Pid(1), 2000);
    tokio::time::timeout(PATIENCE, procs.session_gone(Pid(1)))
        .await
        .expect("it goes");
    assert_eq!(finish(first).await.exit.unwrap().signal, Some(15));
    assert_eq!((procs.count(), procs.table().len()), (1, 1));
    procs.stop_session(Pid(2), 0);
    assert_eq!(finish(second).await.exit.unwrap().signal, Some(9));
}

#[tokio::test]
async fn a_shutdown_takes_everything_and_admits_nothing() {
    let mark = mark(13);
    let procs = procs();
    let mut children = Vec::new();
    for session in 1..5 {
        let script = format!("trap '' TERM; setsid sleep {mark} & sleep {mark}");
        children.push(procs.spawn(Pid(session), sh(&script)).await.unwrap());
    }
    until("all sleep", || with_argument(&mark).len() == 8).await;
    let starting = procs.spawn(Pid(9), sh(&format!("sleep {mark}")));
    tokio::time::timeout(PATIENCE, procs.shutdown(200))
        .await
        .expect("it ends");
    assert_eq!(with_argument(&mark), Vec::<String>::new());
    assert!(matches!(starting.await, Err(SpawnError::Stopping)));
    assert!(matches!(
        procs.spawn(Pid(1), sh("true")).await,
        Err(SpawnError::Stopping)
    ));
    assert_eq!(procs.count(), 0);
    procs.shutdown(0).await;
    for child in children {
        assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    }
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_is_undone() {
    let mark = mark(14);
    let procs = procs();
    for polls in 0..20_u32 {
        let mut starting = procs.spawn(SESSION, sh(&format!("sleep {mark}")));
        for _ in 0..polls {
            if futures::poll!(&mut starting).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(starting);
    }
    tokio::time::timeout(PATIENCE, procs.session_gone(SESSION))
        .await
        .expect("they go");
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn many_at_once_all_come_back() {
    let procs = procs();
    let mut all = Vec::new();
    for number in 0..40 {
        let procs = Arc::clone(&procs);
        all.push(tokio::spawn(async move {
            finish(
                procs
                    .spawn(Pid(number), sh(&format!("echo {number}")))
                    .await
                    .unwrap(),
            )
            .await
            .out
        }));
    }
    for (number, one) in all.into_iter().enumerate() {
        assert_eq!(one.await.unwrap(), format!("{number}\n"));
    }
    assert_eq!(procs.count(), 0);
}

#[tokio::test]
async fn all_output_is_read_before_the_exit() {
    let done = run(sh("head -c 3000000 /dev/zero | tr '\\0' x")).await;
    assert_eq!(done.out.len(), 3_000_000);
}

#[tokio::test]
async fn a_flood_waits_for_a_slow_reader_and_costs_no_memory() {
    const ALL: usize = 200_000_000;
    let procs = procs();
    let mut child = procs
        .spawn(
            SESSION,
            command(&["head", "-c", &ALL.to_string(), "/dev/zero"]),
        )
        .await
        .unwrap();
    let before = resident();
    // Nobody reads: what was written stays below pipe and queue, and stops growing.
    let written = || {
        let io = std::fs::read_to_string(format!("/proc/{}/io", child.os_pid)).unwrap();
        io.lines()
            .find_map(|line| line.strip_prefix("wchar: "))
            .unwrap()
            .parse::<usize>()
            .unwrap()
    };
    let (mut last, mut same) = (0, 0);
    until("the flood stands", || {
        let now = written();
        same = if now == last && now > 0 { same + 1 } else { 0 };
        last = now;
        same > 20
    })
    .await;
    assert!(last < 2_000_000, "{last} written while nobody reads");
    let (mut read, mut most) = (0, 0);
    while let Some(event) = child.events.next().await {
        match event {
            ChildEvent::Stdout(bytes) => read += bytes.len(),
            ChildEvent::Stderr(_) => {}
            ChildEvent::Exited(exit) => assert_eq!(exit.code, Some(0)),
        }
        most = most.max(resident());
    }
    assert_eq!(read, ALL);
    let grown = most.saturating_sub(before);
    assert!(grown < 16_000_000, "{grown} bytes more");
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        * 4096
}
