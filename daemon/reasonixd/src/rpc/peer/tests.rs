use std::process::{Command, Stdio};

use super::*;

fn quiet() -> Peer {
    let (outgoing, _) = mpsc::channel(1);
    Peer::new(1, Origin::Elsewhere, outgoing, SharedRoom::default())
}

fn never() -> BoxFuture<'static, ()> {
    Box::pin(std::future::pending())
}

#[tokio::test]
async fn a_subscription_is_ended_before_and_after_it_has_started() {
    let peer = quiet();
    assert_eq!(peer.subscribe("a", never()), Ok(()));
    assert_eq!(peer.subscribe("a", never()), Err(NoSubscription::Taken));
    assert!(peer.unsubscribe("a"), "it has not started");
    assert!(!peer.unsubscribe("a"));
    assert_eq!(peer.subscribe("a", never()), Ok(()));
    peer.start_subscriptions();
    assert!(peer.unsubscribe("a"), "it runs");
}

#[tokio::test]
async fn a_connection_has_so_many_subscriptions_and_no_more() {
    let peer = quiet();
    for number in 0..SUBSCRIPTIONS_MAX {
        assert_eq!(peer.subscribe(&number.to_string(), never()), Ok(()));
        if number % 2 == 0 {
            peer.start_subscriptions();
        }
    }
    assert_eq!(peer.subscribe("x", never()), Err(NoSubscription::TooMany));
    assert!(peer.unsubscribe("3"));
    assert_eq!(peer.subscribe("x", never()), Ok(()));
}

#[test]
fn a_child_descends_and_its_parent_does_not() {
    let own = std::process::id();
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .spawn()
        .expect("start a child");
    assert!(descends(child.id(), own));
    assert!(!descends(own, child.id()));
    assert!(!descends(own, own), "nobody descends from itself");
    drop(child.stdin.take());
    child.wait().expect("its end");
}

#[test]
fn where_a_process_comes_from_is_known_by_its_ancestors_and_its_filters() {
    let own = std::process::id();
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .spawn()
        .expect("start a child");
    assert_eq!(origin(Some(child.id()), own), Origin::Ours);
    assert_eq!(origin(Some(own), child.id()), Origin::Elsewhere);
    drop(child.stdin.take());
    child.wait().expect("its end");
    assert_eq!(
        origin(Some(child.id()), own),
        Origin::Sandboxed,
        "it is gone"
    );
}

#[test]
fn a_process_below_another_daemon_is_known_by_the_names_above_it() {
    let own = std::process::id();
    assert!(!is_below_a_daemon(own));
    let dir = tempfile::tempdir().expect("a directory");
    let daemon = dir.path().join("reasonix-child");
    std::fs::copy("/bin/sh", &daemon).expect("a program of that name");
    // It prints the number of its child, which lives until its input ends.
    let mut above = Command::new(&daemon)
        .args(["-c", "exec 3<&0; cat <&3 & echo $!; wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start it");
    let mut line = String::new();
    let mut out = std::io::BufReader::new(above.stdout.take().expect("its output"));
    std::io::BufRead::read_line(&mut out, &mut line).expect("a number");
    let below: u32 = line.trim().parse().expect("a number");
    assert!(is_below_a_daemon(below));
    assert!(
        is_below_a_daemon(above.id()),
        "a helper connects for its command"
    );
    drop(above.stdin.take());
    above.wait().expect("its end");
}

#[test]
fn a_process_that_is_gone_may_have_been_anybodys() {
    let mut child = Command::new("true").spawn().expect("start a child");
    let gone = child.id();
    child.wait().expect("its end");
    assert!(descends(gone, 1_u32));
}

#[test]
fn a_process_that_the_kernel_does_not_name_is_none_of_ours() {
    assert!(!descends(0, std::process::id()));
}

#[test]
fn a_name_is_a_short_line_of_what_can_be_seen() {
    assert_eq!(called("reasonix run"), "reasonix run");
    assert_eq!(called(" ann\n\u{1b}[31m\u{202e}x \t"), "ann[31mx");
    assert_eq!(called(&"a".repeat(1_000)).len(), NAME_MAX);
    assert_eq!(called("安"), "安");
}
