//! The environment of a command, and its results.

use super::*;

#[tokio::test]
async fn the_exit_code_and_both_streams_come_back() {
    let done = run(sh("echo out; echo err >&2; exit 3")).await;
    assert_eq!((done.out.as_str(), done.err.as_str()), ("out\n", "err\n"));
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: Some(3),
            signal: None,
            swept: 0,
            over_memory: None,
        })
    );
}

#[tokio::test]
async fn a_signal_is_reported_as_a_signal() {
    let done = run(sh("kill -SEGV $$")).await;
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: None,
            signal: Some(11),
            swept: 0,
            over_memory: None,
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
async fn a_command_leads_its_own_unix_session() {
    let done = run(sh("echo $$; cut -d' ' -f5,6 /proc/$$/stat")).await;
    let (own, led) = done.out.trim().split_once('\n').unwrap();
    assert_eq!(led, format!("{own} {own}"));
}

#[tokio::test]
async fn the_reported_pid_is_valid_outside_the_namespace() {
    let procs = procs();
    let mark = mark(20);
    let script = format!("echo ready; read line; sleep {mark}");
    let mut child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    line(&mut child).await;
    let arguments = std::fs::read(format!("/proc/{}/cmdline", child.os_pid)).unwrap();
    assert_eq!(arguments, format!("sh\0-c\0{script}\0").into_bytes());
    assert_eq!(procs.table().first().unwrap().os_pid, Some(child.os_pid));
}

#[tokio::test]
async fn the_user_directory_and_shared_paths_are_unchanged_inside() {
    let dir = tempfile::tempdir().unwrap();
    let mut asked =
        sh("id -u; id -g; pwd; stat -c %d:%i /tmp /dev/shm /dev/pts .; ls /dev | wc -l");
    asked.cwd = dir.path().to_path_buf();
    let here = std::process::Command::new("sh")
        .arg("-c")
        .arg(&asked.argv[2])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(
        run(asked).await.out,
        String::from_utf8(here.stdout).unwrap()
    );
}

#[tokio::test]
async fn no_signal_is_ignored_or_blocked_in_a_command_whatever_the_daemon_was_given() {
    let host = format!(
        "trap '' HUP INT QUIT TERM PIPE USR1 USR2 TSTP TTIN TTOU ALRM XCPU; exec '{}' {HOST} sh -c \
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
        // Signals 32 and 33 belong to the C library: its `posix_spawn` always leaves them ignored.
        assert_eq!(set & !(0b11 << 31), 0, "{text}");
    }
}

#[tokio::test]
async fn limits_and_the_mode_mask_reach_the_command() {
    let mut options = options();
    options.limits = ResourceLimits {
        processes: Some(3000),
        tasks: Some(3500),
        ..ResourceLimits::default()
    };
    options.umask = Some(0o027);
    let procs = Procs::start(options).unwrap();
    let script = "ulimit -c; umask; grep processes /proc/self/limits";
    let done = finish(procs.spawn(SESSION, sh(script)).await.unwrap()).await;
    let words: Vec<&str> = done.out.split_whitespace().collect();
    assert_eq!(
        words,
        ["0", "0027", "Max", "processes", "3000", "3000", "processes"]
    );
}

#[tokio::test]
async fn a_text_on_standard_input_is_read_to_its_end() {
    let text = "ä \"quoted\"\n".repeat(120_000);
    let mut asked = sh("cat");
    asked.stdin = contract::Stdin::Text(text.clone());
    assert!(run(asked).await.out == text, "what came back is other");
    // A command that reads only a part, or nothing, ends normally.
    for (script, out) in [
        ("exit 0", ""),
        ("head -c 2", "ä"),
        ("read a; echo $a", "ä \"quoted\"\n"),
    ] {
        let mut asked = sh(script);
        asked.stdin = contract::Stdin::Text(text.clone());
        let done = run(asked).await;
        assert_eq!((code(&done), done.out.as_str()), (Some(0), out), "{script}");
    }
}

#[tokio::test]
async fn an_oversized_standard_input_is_refused() {
    let mut asked = sh("cat");
    asked.stdin = contract::Stdin::Text("x".repeat(contract::STDIN_MAX + 1));
    let why = refused(asked).await;
    assert!(why.contains("standard input is longer than"), "{why}");
}

#[tokio::test]
async fn a_named_pipe_is_standard_input_until_its_writer_closes_it() {
    use std::io::Write as _;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    let mut options = std::fs::OpenOptions::new();
    let mut pipe = options.read(true).write(true).open(&path).unwrap();
    let mut asked = sh("read a; echo got $a; cat");
    asked.stdin = contract::Stdin::Pipe(path);
    let procs = procs();
    let child = procs.spawn(SESSION, asked).await.unwrap();
    pipe.write_all(b"first\nrest").unwrap();
    drop(pipe);
    let done = finish(child).await;
    assert_eq!(
        (code(&done), done.out.as_str()),
        (Some(0), "got first\nrest")
    );
}
