//! A command that takes too much memory is ended, and nothing else is.

use super::*;

/// Takes memory until somebody stops it, and says so first.
const EATER: &str = "python3 -c 'import time
taken = []
print(\"begins\", flush=True)
while True:
    taken.append(bytearray(b\"x\") * (4 << 20))
    time.sleep(0.001)'";
const LIMIT: u64 = 150 << 20;

fn limited(memory_groups: bool) -> Arc<Procs> {
    let mut options = options();
    options.limits.memory = Some(LIMIT);
    options.memory_groups = memory_groups;
    Procs::start(options).unwrap()
}

/// An eater beside a command that waits for its end.
async fn eat(procs: &Arc<Procs>, script: &str) -> CommandResult {
    let beside = sh("sleep 0.2; echo lives");
    let beside = procs.spawn(Pid(2), beside).await.unwrap();
    let done = finish(procs.spawn(SESSION, sh(script)).await.unwrap()).await;
    assert_eq!(finish(beside).await.out, "lives\n");
    let after = finish(procs.spawn(SESSION, sh("echo after")).await.unwrap()).await;
    assert_eq!(after.out, "after\n");
    assert_eq!(after.exit.unwrap().over_memory, None);
    procs.shutdown(0).await;
    done
}

#[tokio::test]
async fn a_watchdog_ends_a_command_that_takes_too_much_memory() {
    let procs = limited(false);
    procs.settled().await;
    assert!(procs.memory().why.is_some(), "{}", procs.memory());
    let done = eat(&procs, EATER).await;
    let exit = done.exit.unwrap();
    assert_eq!((exit.code, exit.signal), (None, Some(9)), "{done:?}");
    assert_eq!(exit.over_memory, Some(LIMIT));
}

#[tokio::test]
async fn the_memory_of_all_processes_of_a_command_counts() {
    let procs = limited(false);
    // Each takes less than the limit.
    let script = "for n in 1 2 3; do python3 -c 'import time
x = bytearray(b\"x\") * (70 << 20)
time.sleep(1000)' & done; wait";
    let done = eat(&procs, script).await;
    assert_eq!(done.exit.unwrap().over_memory, Some(LIMIT), "{done:?}");
}

/// What processes share is counted once.
#[tokio::test]
async fn children_that_share_their_memory_stay() {
    let procs = limited(false);
    let script = "python3 -c 'import os, time
x = bytearray(b\"x\") * (60 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.5); os._exit(0)
for _ in range(4): os.wait()
print(\"done\")'";
    let done = eat(&procs, script).await;
    assert_eq!(done.out, "done\n", "{done:?}");
    assert_eq!(done.exit.unwrap().over_memory, None);
}

#[tokio::test]
async fn the_kernel_ends_a_command_that_takes_too_much_memory() {
    let procs = limited(true);
    procs.settled().await;
    let memory = procs.memory();
    if let Some(why) = memory.why {
        // Where no group can be made it says why, and the watchdog holds.
        assert!(!why.is_empty());
        let done = eat(&procs, EATER).await;
        assert_eq!(done.exit.unwrap().over_memory, Some(LIMIT));
        return;
    }
    // Memory that no process shows: only the kernel counts it.
    let file = "python3 -c 'import os, sys
f = os.memfd_create(\"x\")
for _ in range(400): os.write(f, b\"x\" * (1 << 20))
print(\"took it\")'";
    let done = eat(&procs, file).await;
    assert_eq!(done.out, "", "{done:?}");
    assert_eq!(done.exit.unwrap().over_memory, Some(LIMIT), "{done:?}");
}
