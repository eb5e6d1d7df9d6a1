//! The cost of commands for the daemon: no leaks, and little time.

use super::*;

/// Number of descriptors, threads, and children of this process.
fn held() -> (usize, usize, usize) {
    let count = |of: &str| std::fs::read_dir(of).unwrap().count();
    let own = std::process::id().to_string();
    let children = std::fs::read_dir("/proc").unwrap().filter(|entry| {
        let stat = std::fs::read_to_string(entry.as_ref().unwrap().path().join("stat"));
        stat.is_ok_and(|stat| {
            stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1) == Some(own.as_str())
        })
    });
    (
        count("/proc/self/fd"),
        count("/proc/self/task"),
        children.count(),
    )
}

/// Names of control groups for memory.
fn groups() -> Vec<String> {
    let around = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];
    let entries = around.iter().filter_map(|dir| std::fs::read_dir(dir).ok());
    let names = entries.flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// Runs in a separate process, because other tests would be counted too.
#[test]
fn a_thousand_commands_leave_no_descriptor_thread_or_zombie() {
    const ALONE: &str = "COUNTED_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let alone = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "scenes::cost::a_thousand_commands_leave_no_descriptor_thread_or_zombie",
            ])
            .args(["--nocapture", "--test-threads=1"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&alone.stdout);
        assert!(
            alone.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&alone.stderr)
        );
        assert!(said.contains("held at the end"), "{said}");
        say(said.trim());
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let procs = procs();
        let mut before = (0, 0, 0);
        for round in 0..250 {
            let four = (0..4).map(|_| async {
                let asked = sh("sleep 1000 & exit 7");
                finish(procs.spawn(SESSION, asked).await.unwrap()).await
            });
            for done in futures::future::join_all(four).await {
                assert_eq!(code(&done), Some(7));
            }
            if round == 20 {
                before = held();
            }
        }
        // The last blocking thread of the runtime may come or go.
        let after = held();
        say(&format!("held at the end: {after:?}, after 80: {before:?}"));
        assert_eq!((after.0, after.2), (before.0, before.2));
        assert!(after.1 <= before.1 + 1, "{after:?}, before: {before:?}");
        assert_eq!(procs.count(), 0);
        procs.shutdown(0).await;
        let own = format!("reasonix-{}-", std::process::id());
        let left: Vec<_> = groups()
            .into_iter()
            .filter(|name| name.starts_with(&own))
            .collect();
        // What was killed last may still be in its group; the next daemon removes that one.
        assert!(left.len() <= 1, "{left:?}");
    });
}

#[tokio::test]
async fn a_command_starts_and_ends_quickly() {
    let procs = procs();
    finish(procs.spawn(SESSION, command(&["true"])).await.unwrap()).await;
    let mut took = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        finish(procs.spawn(SESSION, command(&["true"])).await.unwrap()).await;
        took.push(begun.elapsed());
    }
    took.sort();
    say(&format!(
        "{}: true, 200 times: p50 {:?}, p95 {:?}",
        procs.mechanism(),
        took[100],
        took[190]
    ));
    // Other tests run at the same time: the bound only detects an unintended wait.
    assert!(took[100] < Duration::from_millis(150), "{:?}", took[100]);
}
