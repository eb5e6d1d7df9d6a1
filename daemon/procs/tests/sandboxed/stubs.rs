//! Directories on the host reserve paths that must not be created, and are removed again.

use super::*;

#[tokio::test]
async fn a_stub_exists_while_any_command_needs_it() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Own)
    {
        let procs = Procs::start(options()).unwrap();
        let asked = room.command("echo ready; exec sleep 1000");
        let mut first = procs.spawn(SESSION, asked.clone()).await.unwrap();
        let mut second = procs.spawn(SESSION, asked).await.unwrap();
        line(&mut first).await;
        line(&mut second).await;
        let stub = room.ws(".mcp.json");
        assert!(stub.is_dir());
        first.control.stop(0);
        finish(first).await;
        assert!(stub.is_dir(), "the second command needs it");
        let done = room.sh("touch .mcp.json || echo no").await;
        assert_eq!(done.out, "no\n");
        assert!(stub.is_dir(), "the second command needs it");
        second.control.stop(0);
        while second.events.next().await.is_some() {}
        assert_eq!(procs.count(), 0);
        assert!(!stub.exists() && !room.ws(".reasonix").exists());
    }
}

#[tokio::test]
async fn the_next_command_removes_a_stub_left_by_a_killed_daemon() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Own)
    {
        let mut daemon = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
            .args(["sandboxed", &format!("{WAY:?}")])
            .arg(serde_json::to_string(&room.sandbox).unwrap())
            .arg("touch started; exec sleep 1000")
            .spawn()
            .unwrap();
        until("it runs", || room.ws("started").exists()).await;
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        let stub = room.ws(".mcp.json");
        assert!(stub.is_dir());
        let done = room.sh("echo x > .mcp.json || echo no").await;
        assert_eq!(done.out, "no\n");
        assert!(!stub.exists() && !room.ws(".reasonix").exists());
    }
}

#[tokio::test]
async fn a_file_that_the_user_put_in_place_of_a_stub_stays() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Own)
    {
        let procs = Procs::start(options()).unwrap();
        let mut child = procs
            .spawn(SESSION, room.command("echo ready; exec sleep 1000"))
            .await
            .unwrap();
        line(&mut child).await;
        std::fs::write(room.ws(".reasonix/notes"), "mine").unwrap();
        child.control.stop(0);
        finish(child).await;
        assert_eq!(room.text("ws/.reasonix/notes"), "mine");
        // A user's own empty directory is not a stub.
        std::fs::create_dir(room.ws(".mcp.json")).unwrap();
        room.sh("true").await;
        assert!(room.ws(".mcp.json").is_dir());
    }
}

#[tokio::test]
async fn a_link_in_a_protected_place_and_its_target_cannot_be_changed() {
    for room in rooms().await {
        std::os::unix::fs::symlink("../outside", room.ws(".mcp.json")).unwrap();
        std::fs::rename(room.ws(".git"), room.ws("sub/store")).unwrap();
        std::os::unix::fs::symlink("sub/store", room.ws(".git")).unwrap();
        room.give();
        let attacks = "ln -sfn sub .mcp.json; rm -f .git; rm -rf .git; mv .git away; mv sub sub2; mv sub/store sub/gone
            mkdir .reasonix; echo x > reasonix.toml; echo x > .git/config; echo x > sub/store/hooks/pre-commit
            echo x > .mcp.json/file; mv file .git; rm -f file";
        let done = room
            .sh(&format!(
                "{{ {attacks}\n}} 2>/dev/null; readlink .git .mcp.json; echo new > file
            echo deep > sub/new; echo index > .git/index; cat file sub/new sub/store/index"
            ))
            .await;
        let expected = "sub/store\n../outside\nnew\ndeep\nindex\n";
        assert_eq!(done.out, expected, "{:?}: {done:?}", room.user);
        assert_eq!(room.text("ws/.git/config"), "config");
        assert_eq!(room.text("outside/file"), "outside");
        let hooks = std::fs::read_dir(room.ws("sub/store/hooks")).unwrap();
        assert_eq!(hooks.count(), 0);
        for name in [".reasonix", "reasonix.toml", "away", "sub2", "sub/gone"] {
            assert!(!room.ws(name).exists(), "{name} was made");
        }
    }
}

#[tokio::test]
async fn a_dangling_link_in_a_protected_place_is_refused_with_the_reason() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Own)
    {
        std::os::unix::fs::symlink("nowhere", room.ws(".reasonix")).unwrap();
        let procs = Procs::start(options()).unwrap();
        let Err(error) = procs.spawn(SESSION, room.command("true")).await else {
            panic!("it started")
        };
        let text = error.to_string();
        assert!(
            text.contains("is a link that cannot be protected"),
            "{text}"
        );
    }
}
