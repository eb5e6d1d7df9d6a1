//! A real disk that is really full: a small file system of its own, in a namespace of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use proto::ErrorName;

use super::fixtures::prompt;
use super::world::World;
use crate::ResidencyLimits;

/// Where the small file system is, in the process that has it.
const INSIDE: &str = "REASONIX_TEST_TMPFS";

/// Runs a test of this binary with a small file system at `place`. `false`: namespaces are not to be had here.
fn within(place: &std::path::Path, options: &str, test: &str) -> bool {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .stdin(Stdio::null());
        command
    };
    let mount = format!("mount -t tmpfs -o {options} none \"$PLACE\"");
    let probe = unshare(&mount)
        .env("PLACE", place)
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        return false;
    }
    let run = format!("{mount} && exec \"$TEST\" --exact {test} --nocapture");
    let output = unshare(&run)
        .env("PLACE", place)
        .env("TEST", std::env::current_exe().unwrap())
        .env(INSIDE, place)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

fn skipped(what: &str) {
    let lack = format!("user and mount namespaces, for {what}");
    assert!(testkit::skip::unless(false, &lack));
}

#[test]
fn work_goes_on_when_a_full_disk_has_room_again() {
    let dir = tempfile::tempdir().unwrap();
    if !within(dir.path(), "size=4m", "tests::tmpfs::inside_a_full_disk") {
        skipped("a disk that is really full");
    }
}

/// Run by the test above, on its small file system.
#[tokio::test(flavor = "multi_thread")]
async fn inside_a_full_disk() {
    let Some(place) = std::env::var_os(INSIDE).map(PathBuf::from) else {
        return;
    };
    let world = World::at(
        tempfile::tempdir_in(&place).unwrap(),
        "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}",
        0,
        ResidencyLimits::default(),
    );
    let session = world.begin("first").await;
    let id = world.supervisor.find(&session).await.unwrap().id();
    let ballast = place.join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    let full = std::io::copy(&mut std::io::repeat(0), &mut file).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    drop(file);

    let long = "x".repeat(100_000);
    for _ in 0..3 {
        let handle = world.supervisor.find(&session).await.unwrap();
        let refused = handle
            .prompt(prompt(&long), "test".into())
            .await
            .unwrap_err();
        assert_eq!(refused.name, ErrorName::Storage, "{refused}");
        let first = proto::params::session::ReadParams {
            session: session.clone(),
            from_seq: proto::Seq(1),
            limit: 0,
        };
        assert!(
            world.supervisor.read(&first).await.unwrap().events.len() > 3,
            "reading works"
        );
    }
    std::fs::remove_file(&ballast).unwrap();
    let due = tokio::time::Instant::now() + Duration::from_secs(10);
    while let Err(refused) = world.prompt(&session, &long).await {
        assert_eq!(refused.name, ErrorName::Storage, "{refused}");
        assert!(tokio::time::Instant::now() < due, "{refused}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let handle = world.supervisor.find(&session).await.unwrap();
    assert_eq!(handle.summary().last_line, "Two.");
    let mut prompts = 0;
    let scan = store::log::read(&world.home.session_dir(id), &mut |raw| {
        prompts += usize::from(raw.kind == "prompt.queued");
    });
    assert_eq!(scan.unwrap().invalid, None);
    assert_eq!(prompts, 2, "the refused prompt did not happen");
}
