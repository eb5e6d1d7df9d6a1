//! All commands together, and their output.

use contract::SpawnError;

use super::*;

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
            (Pid(1), Some(first.os_pid), "sh -c echo ready; sleep 1000"),
            (Pid(2), Some(second.os_pid), "sh -c sleep 1000")
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
async fn a_start_is_undone_when_its_caller_is_dropped() {
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
async fn many_concurrent_starts_all_complete() {
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
    // Nothing reads: the written amount stays below pipe and queue size, and stops growing.
    let written = || {
        let io = std::fs::read_to_string(format!("/proc/{}/io", child.os_pid)).unwrap();
        io.lines()
            .find_map(|line| line.strip_prefix("wchar: "))
            .unwrap()
            .parse::<usize>()
            .unwrap()
    };
    let (mut last, mut same) = (0, 0);
    until("the flood stops", || {
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
            ChildEvent::Stderr(_) | ChildEvent::Quarantined(_) => {}
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

#[tokio::test]
async fn joined_to_standard_output_errors_arrive_in_the_order_in_which_they_were_written() {
    let script = "i=0; while [ $i -lt 500 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let command = Command {
        merge_stderr: true,
        ..sh(script)
    };
    let done = run(command).await;
    let wanted: String = (0..500)
        .map(|number| format!("out {number}\nerr {number}\n"))
        .collect();
    assert_eq!((done.out, done.err), (wanted, String::new()));
}
