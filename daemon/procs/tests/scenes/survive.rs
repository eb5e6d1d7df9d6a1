//! Everything that a process may try, or experience, to outlive its command, session or daemon.
//!
//! Remaining processes are found by a mark in their environment, wherever they are in the process
//! tree.

use super::*;

/// Ways to leave a process behind.
const ESCAPES: [(&str, &str); 5] = [
    (
        "setsid, double fork",
        "sh -c 'setsid sh -c \"sleep 1000 &\" &'",
    ),
    ("nohup", "nohup sleep 1000 >/dev/null 2>&1 &"),
    (
        "disown",
        "bash -c 'sleep 1000 & disown -a; setsid -f sleep 1000'",
    ),
    ("stopped", "setsid sleep 1000 & kill -STOP $!"),
    (
        "deaf",
        "setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 0.1; done' &",
    ),
];

fn unique(what: &str) -> String {
    format!("{what}-{HOST}-{}", std::process::id())
}

#[tokio::test]
async fn no_detached_process_outlives_the_command() {
    let procs = procs();
    for (name, script) in ESCAPES {
        let mark = unique(name);
        let child = procs
            .spawn(SESSION, marked_sh(script, &mark))
            .await
            .unwrap();
        let exit = finish(child).await.exit.unwrap();
        assert_eq!(marked(&mark), [0_u32; 0], "{name}: {exit:?}");
    }
}

/// Starts a command that leaves a process and keeps running. Waits until all of it runs.
async fn lingering(procs: &Procs, escape: &str, mark: &str) -> Child {
    let script = format!("{escape}\necho ready; trap '' TERM; while :; do sleep 0.1; done");
    let mut child = procs
        .spawn(SESSION, marked_sh(&script, mark))
        .await
        .unwrap();
    line(&mut child).await;
    until("it lingers", || marked(mark).len() >= 2).await;
    child
}

#[tokio::test]
async fn nothing_outlives_a_stop_a_dropped_stream_a_stopped_session_or_a_shutdown() {
    let procs = procs();
    for (name, escape) in ESCAPES {
        let mark = unique(&format!("end {name}"));
        let child = lingering(&procs, escape, &mark).await;
        child.control.stop(500);
        gone(&mark).await;
        drop(finish(child).await);

        let child = lingering(&procs, escape, &mark).await;
        drop(child.events);
        gone(&mark).await;

        let child = lingering(&procs, escape, &mark).await;
        procs.stop_session(SESSION, 500);
        gone(&mark).await;
        drop(finish(child).await);
    }
    let marks: Vec<String> = ESCAPES
        .iter()
        .map(|(name, _)| unique(&format!("last {name}")))
        .collect();
    let mut children = Vec::new();
    for ((_, escape), mark) in ESCAPES.iter().zip(&marks) {
        children.push(lingering(&procs, escape, mark).await);
    }
    let ((), ()) = tokio::join!(procs.shutdown(500), async {
        for mark in &marks {
            gone(mark).await;
        }
    });
}

/// The `sleep` processes of this length, excluding processes that only mention it.
fn sleeping(length: &str) -> Vec<String> {
    let mut all = with_argument(length);
    all.retain(|line| line.contains(": sleep"));
    all
}

/// A stand-in for the daemon, or for its parent and the daemon, that writes its output to a file.
struct Host {
    process: std::process::Child,
    said: tempfile::NamedTempFile,
}

impl Host {
    fn start(arguments: &[&str], mark: &str) -> Self {
        let said = tempfile::NamedTempFile::new().unwrap();
        let process = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
            .args(arguments)
            .env("HOSTED", mark)
            .stdout(said.reopen().unwrap())
            .spawn()
            .unwrap();
        Self { process, said }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.said.path()).unwrap()
    }

    /// Its child process: the daemon, for a parent.
    fn child(&self) -> String {
        let id = self.process.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        children
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let daemon = self.child();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        if !daemon.is_empty() {
            kill("-KILL", &daemon);
        }
    }
}

#[tokio::test]
async fn nothing_outlives_a_killed_daemon() {
    for (name, escape) in ESCAPES {
        let mark = unique(&format!("daemon {name}"));
        let script = format!("{escape}\ntrap '' TERM; while :; do sleep 0.1; done");
        let mut host = Host::start(&[HOST, "sh", "-c", &script], &mark);
        until("it lingers", || marked(&mark).len() >= 3).await;
        host.process.kill().unwrap();
        gone(&mark).await;
    }
}

#[tokio::test]
async fn the_parent_kills_only_the_processes_of_a_killed_helper() {
    let inside = in_a_namespace(&procs()).await;
    let (mark, bystander) = (unique("helper"), mark(30));
    // Twice: from inside through `$PPID`, and with deeper descendants left behind.
    let script = "setsid sleep 1000 & setsid sh -c 'setsid sleep 1000 & setsid sleep 1000' & sleep 0.2; kill -9 $PPID; sleep 1000";
    let commands = [
        "sh", "-c", script, "--", "env", "-u", "MARK", "sleep", &bystander,
    ];
    let host = Host::start(&[&["parent", HOST], &commands[..]].concat(), &mark);
    until("it says whom it started", || host.said().contains(' ')).await;
    let first = host.said().split_whitespace().next().unwrap().to_owned();
    if inside {
        // Inside, the helper cannot be killed. From outside it can.
        until("it lingers", || marked(&mark).len() >= 5).await;
        tokio::time::timeout(Duration::from_millis(500), gone(&mark))
            .await
            .unwrap_err();
        assert!(kill("-KILL", &holder(first.parse().unwrap())));
    }
    until("the exit is reported", || {
        host.said().contains("exited, swept")
    })
    .await;
    assert_eq!(marked(&mark), [0_u32; 0]);
    assert_eq!(sleeping(&bystander).len(), 1, "the other command lives");
    assert!(
        !host.said().contains("life 1 ended"),
        "and so does the daemon"
    );
    if !inside {
        assert!(!host.said().contains("swept 0"), "{}", host.said());
    }
}

#[tokio::test]
async fn a_parent_leaves_nothing_of_a_daemon_that_was_killed_with_its_helper() {
    let mark = unique("both");
    let script = "[ $LIFE = 1 ] || exit 0; setsid sleep 1000 & setsid setsid sleep 1000 & echo; trap '' TERM; sleep 1000";
    let host = Host::start(&["parent", HOST, "sh", "-c", script], &mark);
    until("it lingers", || marked(&mark).len() >= 4).await;
    let daemon = host.child();
    until("it says whom it started", || {
        host.said().contains(char::is_whitespace)
    })
    .await;
    let first = host.said().split_whitespace().next().unwrap().to_owned();
    // A stopped daemon cannot help when its helper dies.
    assert!(kill("-STOP", &daemon));
    assert!(kill("-KILL", &holder(first.parse().unwrap())));
    assert!(kill("-KILL", &daemon));
    gone(&mark).await;
    until("the next life begins", || {
        host.said().contains("all clear: true")
    })
    .await;
    until("and its command ends", || host.said().contains("swept 0")).await;
}

#[tokio::test]
async fn a_parent_that_had_children_before_leaves_them_alone() {
    let (mark, before) = (unique("before"), mark(31));
    let script = format!(
        "sleep {before} & exec '{}' parent {HOST} sh -c 'setsid sleep 1000 & sleep 1000'",
        env!("CARGO_BIN_EXE_procs-probe")
    );
    let said = tempfile::NamedTempFile::new().unwrap();
    let mut parent = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("HOSTED", &mark)
        .env("LIVES", "1")
        .stdout(said.reopen().unwrap())
        .spawn()
        .unwrap();
    until("it lingers", || marked(&mark).len() >= 3).await;
    let id = parent.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    for child in children.split_whitespace() {
        if std::fs::read_to_string(format!("/proc/{child}/cmdline"))
            .unwrap()
            .contains("host")
        {
            assert!(kill("-KILL", child));
        }
    }
    let text = || std::fs::read_to_string(said.path()).unwrap();
    until("the daemon's end is seen", || {
        text().contains("life 1 ended")
    })
    .await;
    parent.wait().unwrap();
    gone(&mark).await;
    let left = sleeping(&before);
    assert_eq!(left.len(), 1);
    for line in &left {
        assert!(kill("-KILL", line.split(['/', ':']).nth(2).unwrap()));
    }
}

#[tokio::test]
async fn a_namespace_hides_and_protects_processes_outside() {
    let procs = procs();
    if !in_a_namespace(&procs).await {
        return;
    }
    let outside = mark(32);
    let mut bystander = std::process::Command::new("sleep")
        .arg(&outside)
        .spawn()
        .unwrap();
    let script = format!(
        "ps -e -o pid= | wc -l; kill -0 {} 2>/dev/null && echo seen; kill -9 $PPID; kill -STOP 1; kill -9 -1; echo alive",
        bystander.id()
    );
    let done = finish(procs.spawn(SESSION, sh(&script)).await.unwrap()).await;
    let lines: Vec<&str> = done.out.lines().map(str::trim).collect();
    // The first process, the shell, and the two programs of the pipe.
    assert_eq!(lines, ["4", "alive"], "{done:?}");
    assert_eq!(code(&done), Some(0));
    assert_eq!(with_argument(&outside).len(), 1);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn the_thread_that_starts_a_command_may_end() {
    let procs = procs();
    let starting = Arc::clone(&procs);
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let child = runtime.block_on(async {
            starting
                .spawn(SESSION, sh("sleep 0.3; echo lived"))
                .await
                .unwrap()
        });
        // The runtime drives the channels, so it is kept. The calling thread is not.
        done.send((runtime, child)).unwrap();
    })
    .join()
    .unwrap();
    let (runtime, child) = ended.recv().unwrap();
    let done = std::thread::spawn(move || runtime.block_on(finish(child)))
        .join()
        .unwrap();
    assert_eq!((done.out.as_str(), code(&done)), ("lived\n", Some(0)));
}

#[tokio::test]
async fn a_pipe_kept_open_does_not_delay_the_completion() {
    let begun = Instant::now();
    let done = run(sh("sleep 1000 & setsid sleep 1000 & echo done")).await;
    assert_eq!((done.out.as_str(), code(&done)), ("done\n", Some(0)));
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn there_is_no_terminal_to_ask_on() {
    let script = "read line || echo end; (echo secret >/dev/tty) 2>/dev/null || echo none; tty";
    assert_eq!(run(sh(script)).await.out, "end\nnone\nnot a tty\n");
}

#[tokio::test]
async fn a_directory_that_was_deleted_is_named_and_the_next_command_runs() {
    let dir = tempfile::tempdir().unwrap();
    let procs = procs();
    let mut asked = sh("rmdir \"$PWD\"; echo still");
    asked.cwd = dir.path().to_path_buf();
    let done = finish(procs.spawn(SESSION, asked.clone()).await.unwrap()).await;
    assert_eq!(done.out, "still\n");
    let Err(error) = procs.spawn(SESSION, asked).await else {
        panic!("it started")
    };
    assert!(error.to_string().ends_with("no such directory"), "{error}");
    assert_eq!(
        finish(procs.spawn(SESSION, sh("echo on")).await.unwrap())
            .await
            .out,
        "on\n"
    );
}

#[tokio::test]
async fn too_many_arguments_or_processes_are_reported() {
    let mut huge = vec!["echo".to_owned()];
    huge.extend(std::iter::repeat_n("x".repeat(100_000), 100));
    let mut asked = command(&["echo"]);
    asked.argv = huge;
    let error = refused(asked).await;
    assert!(error.contains("Argument list too long"), "{error}");
    // Root has no such limit.
    let script = "ulimit -u 0 2>/dev/null || prlimit --nproc=0:0 --pid $$; sleep 0 & wait; echo on";
    let done = run(command(&["bash", "-c", script])).await;
    assert!(
        done.out == "on\n" || done.err.contains("Resource temporarily unavailable"),
        "{done:?}"
    );
}
