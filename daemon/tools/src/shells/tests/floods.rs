//! Output that is hostile, and looks that come at once.

use super::*;

/// Bytes between head and tail that the note says were left out.
fn left_out(output: &str) -> (usize, String) {
    let note = output.lines().find(|line| line.starts_with("[…"));
    let note = note.unwrap_or_else(|| panic!("no note: {output:.200}"));
    let bytes = note.split(" bytes left out").next().unwrap();
    let bytes = bytes.rsplit(' ').next().unwrap().parse().unwrap();
    (bytes, note.to_owned())
}

#[tokio::test]
async fn very_long_line_is_shown_in_part_and_all_its_bytes_are_counted() {
    let scene = Scene::new();
    let id = start(
        &scene,
        &format!("head -c 10000000 /dev/zero | tr '\\0' x; touch said; {UNTIL_GO}; echo end"),
    )
    .await;
    until("all was printed", || scene.top.join("ws/said").exists()).await;
    let mut bytes = 0;
    let deadline = Instant::now() + PATIENCE;
    let mut spill = None;
    // Output in the pipe may still arrive after the first look.
    while bytes < 10_000_000 {
        let outcome = scene.call("bash_output", json!({ "id": id })).await;
        assert!(tokens(&outcome.text) <= 16_000);
        let output = outcome.text.split_once('\n').unwrap().1;
        let shown = output.chars().filter(|char| *char == 'x').count();
        bytes += shown;
        // A look may show all that came since the one before: then nothing is left out.
        if outcome.spill.is_some() && output.contains("[…") {
            let (left_out, note) = left_out(output);
            // The note has an `x` of its own, in the file's name.
            bytes += left_out;
            bytes -= note.matches('x').count();
        }
        spill = outcome.spill.or(spill);
        assert!(Instant::now() < deadline, "{bytes} came");
    }
    assert_eq!(bytes, 10_000_000);
    scene.put("go", "");
    ended(&scene, id).await;
    let (_, all) = look_until(&scene, id, "end\n").await;
    assert_eq!(all, "end\n");
    let all = std::fs::read(spill.unwrap()).unwrap();
    assert_eq!(all.len(), 10_000_004);
}

#[tokio::test]
async fn bytes_that_are_no_text_do_no_harm() {
    let scene = Scene::new();
    let id = start(
        &scene,
        r"head -c 300000 /dev/urandom; printf '\033c\033\134\030'; echo; echo end",
    )
    .await;
    ended(&scene, id).await;
    let outcome = scene.call("bash_output", json!({ "id": id })).await;
    assert_eq!(outcome.status, CallStatus::Ok);
    assert!(outcome.text.ends_with("\nend\n"));
    assert!(tokens(&outcome.text) <= 16_000);
    let bare = outcome.text.replace(['\n', '\t'], "");
    assert!(!bare.chars().any(char::is_control));
    assert!(matches!(
        outcome.display,
        Display::Command {
            output_bytes: 300_010,
            ..
        }
    ));
}

#[tokio::test]
async fn progress_lines_ending_in_carriage_returns_are_folded_to_the_last() {
    let scene = Scene::new();
    let id = start(
        &scene,
        &format!(r#"awk 'BEGIN {{ for (i = 0; i <= 300000; i++) printf "%d%%\r", i }}'; touch said; {UNTIL_GO}; echo done"#),
    )
    .await;
    until("all was printed", || scene.top.join("ws/said").exists()).await;
    let (_, all) = look_until(&scene, id, "300000%").await;
    assert!(all.len() < 100, "{all:.300}");
    scene.put("go", "");
    ended(&scene, id).await;
    assert_eq!(look_until(&scene, id, "done\n").await.1, "done\n");
}

#[tokio::test]
async fn concurrent_reads_return_each_line_once() {
    let scene = Scene::new();
    let id = start(&scene, "for i in $(seq 2000); do echo \"<$i>\"; done").await;
    let mut all = String::new();
    let mut over = false;
    while !over {
        over = scene
            .memory
            .shells()
            .get(Pid(id))
            .unwrap()
            .ended_at()
            .is_some();
        let look = || scene.ok("bash_output", json!({ "id": id }));
        let (one, two, three) = tokio::join!(look(), look(), look());
        for text in [one, two, three] {
            all.push_str(text.split_once('\n').unwrap().1);
        }
    }
    for number in 1..=2000 {
        let line = format!("<{number}>");
        assert_eq!(all.matches(&line).count(), 1, "{line}");
    }
}

#[tokio::test]
async fn bash_output_is_answered_while_kill_shell_waits() {
    let scene = Scene::new();
    let id = start(&scene, "trap '' TERM; echo up; while :; do sleep 0.1; done").await;
    look_until(&scene, id, "up\n").await;
    let looks = async {
        let text = scene.ok("bash_output", json!({ "id": id })).await;
        assert!(text.starts_with("running, "), "{text}");
    };
    let stop = || scene.ok("kill_shell", json!({ "id": id }));
    let (one, two, ()) = tokio::join!(stop(), stop(), looks);
    for text in [one, two] {
        assert!(text.starts_with("stopped by `kill_shell`; "), "{text}");
    }
    assert_eq!(scene.numbers.exited.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn starts_at_once_respect_the_limit() {
    let scene = Scene::new();
    let arguments = json!({"command": "sleep 999", "run_in_background": true});
    let calls = (0..2 * RUNNING_MAX).map(|_| scene.call("bash", arguments.clone()));
    let outcomes = futures::future::join_all(calls).await;
    let ok = outcomes
        .iter()
        .filter(|outcome| outcome.status == CallStatus::Ok);
    assert_eq!(ok.count(), RUNNING_MAX);
    assert_eq!(scene.numbers.spawned.lock().unwrap().len(), RUNNING_MAX);
}
