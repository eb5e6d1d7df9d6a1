//! Goals with the real programs: turns that follow each other, false claims, ends, and a daemon that is killed in the
//! middle.

use proto::hello::Role;
use proto::record::{ContinueReason, GoalChanged, GoalContinued, GoalEnded, GoalOutcome};
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::Script;
use testkit::model::{Answer, Fault, Model, Usage};
use tests::gate::Gate;
use tests::{House, follow, until};

use crate::scripted;

fn report(status: &str, summary: &str) -> Value {
    json!({"status": status, "summary": summary})
}

fn complete(summary: &str, evidence: &str) -> Value {
    json!({"status": "complete", "summary": summary, "evidence": evidence})
}

/// Why each turn of the goal started.
fn reasons(house: &House) -> Vec<ContinueReason> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::GoalContinued(GoalContinued { why, .. }) => Some(why),
            _ => None,
        })
        .collect()
}

/// How the goal ended.
fn ended(house: &House) -> GoalEnded {
    until("the end of the goal", || {
        let mut bodies = house.log(Pid(1)).bodies().into_iter();
        bodies.find_map(|body| match body {
            Body::GoalEnded(ended) => Some(ended),
            _ => None,
        })
    })
}

/// The texts that the calls of the log gave the model.
fn results(house: &House) -> Vec<String> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::Tool(message) => Some(message.text),
            _ => None,
        })
        .collect()
}

#[test]
fn goal_runs_turn_after_turn_and_a_false_claim_goes_back() {
    let todo = |status: &str| json!({"todos": [{"content": "Write it", "active_form": "Writing it", "status": status}]});
    let house = House::playing(
        &Script::new()
            .calls("todo_write", &todo("in_progress"))
            .says("I have begun.")
            .calls("update_goal", &complete("all done", "I looked"))
            .says("I thought it was done.")
            .calls("bash", &json!({"command": "touch made"}))
            .calls("todo_write", &todo("completed"))
            .calls("update_goal", &report("complete", "all done"))
            .calls("update_goal", &complete("all done", "the file is there"))
            .says("It is made."),
    );
    let arguments = ["goal", "Make the file", "--check", "test -e made", "--json"];
    let done = house.reasonix(&arguments).expect_code(0);
    let result = done.json();
    assert_eq!(result["outcome"], "completed", "{result}");
    assert_eq!(result["text"], "It is made.");
    assert_eq!(result["goal"]["outcome"], "complete");
    assert_eq!(result["goal"]["turns"], 3);
    use ContinueReason as Why;
    assert_eq!(reasons(&house), [Why::Started, Why::NoReport, Why::Refused]);
    let decided = house.log(Pid(1)).bodies().into_iter();
    let subjects: Vec<_> = decided
        .filter_map(|body| match body {
            Body::PolicyDecided(decided) if decided.tool == "update_goal" => Some(decided.subject),
            _ => None,
        })
        .collect();
    assert_eq!(subjects, ["complete: all done"; 3]);
    let results = results(&house).join("\n");
    assert!(
        results.contains("Missing: the todo list has open items."),
        "{results}"
    );
    assert!(
        results.contains("Missing: `evidence` that shows"),
        "{results}"
    );
    assert!(
        results.contains("The checks passed: the goal is complete."),
        "{results}"
    );
    // What it is after is in the messages of each turn, and never in the prefix.
    let log = house.log(Pid(1));
    let contexts = log.bodies().into_iter().filter_map(|body| match body {
        Body::User(message) => message.context,
        _ => None,
    });
    let goals = contexts
        .filter(|context| context.contains("<goal turn="))
        .count();
    assert_eq!(goals, 3);
}

#[test]
fn failed_check_refuses_completion_and_says_why() {
    let house = House::playing(
        &Script::new()
            .calls("update_goal", &complete("done", "it looks right"))
            .calls("bash", &json!({"command": "touch made"}))
            .calls("update_goal", &complete("done", "the file is there"))
            .says("Now it is."),
    );
    let check = "test -e made || { echo no file; exit 3; }";
    let _ = house
        .reasonix(&["goal", "Make it", "--check", check])
        .expect_code(0);
    let results = results(&house);
    let refused = results.first().expect("a result");
    assert!(
        refused.contains("the check commands did not succeed"),
        "{refused}"
    );
    assert!(
        refused.contains("no file") && refused.contains('3'),
        "{refused}"
    );
    assert_eq!(ended(&house).outcome, GoalOutcome::Complete);
}

#[test]
fn empty_check_command_is_refused_before_a_session_is_made() {
    let house = House::playing(&Script::new().says("Never."));
    let refused = house.reasonix(&["goal", "Make it", "--check", " "]);
    let refused = refused.expect_code(64);
    assert!(
        refused.err.contains("check command is empty"),
        "{refused:?}"
    );
    assert_eq!(house.logs().len(), 0);
}

#[test]
fn same_block_in_other_words_ends_the_goal_with_exit_code_3() {
    let house = House::playing(
        &Script::new()
            .calls("update_goal", &report("blocked", "No API key: FOO"))
            .says("I am blocked.")
            .calls("update_goal", &report("blocked", "no api-key, foo!"))
            .says("Still.")
            .calls("update_goal", &report("blocked", "ＮＯ  api key FOO"))
            .says("For good."),
    );
    let done = house.reasonix(&["goal", "Call the service"]).expect_code(3);
    assert_eq!(done.out, "For good.\n");
    use ContinueReason as Why;
    assert_eq!(reasons(&house), [Why::Started, Why::Blocked, Why::Blocked]);
    let ended = ended(&house);
    assert_eq!((ended.outcome, ended.turns), (GoalOutcome::Blocked, 3));
    let status = house
        .reasonix(&["goal", "status", "1", "--json"])
        .expect_code(0);
    assert_eq!(status.json()["ended"]["outcome"], "blocked");
}

#[test]
fn goal_ends_after_its_turns_with_exit_code_2() {
    let house = House::playing(&Script::new().says("One.").says("Two.").says("Three."));
    let arguments = [
        "goal",
        "Go on",
        "--max-turns",
        "2",
        "--output-format",
        "jsonl",
    ];
    let done = house.reasonix(&arguments).expect_code(2);
    let lines = done.lines();
    let result = lines.last().expect("a result");
    assert_eq!(result["goal"]["outcome"], "out_of_turns", "{result}");
    let started = lines.iter().filter(|line| line["kind"] == "turn.started");
    assert_eq!(started.count(), 2);
    let code = house.reasonix(&["wait", "1"]);
    assert_eq!(code.code(), Some(2), "`wait` says the same");
    let status = house.reasonix(&["goal", "status", "1"]).expect_code(0).out;
    assert!(status.contains("out of turns after 2 turns:"), "{status}");
    let _ = house
        .reasonix(&["goal", "Again", "--max-turns", "1"])
        .expect_code(2);
    for (language, words) in [
        ("en", "out of turns after 1 turn: its 1 turn is used up"),
        ("zh", "回合用尽，共 1 个回合：1 个回合已用完"),
    ] {
        let mut command = house.command(&["goal", "status", "2"]);
        let status = tests::program::run(command.env("REASONIX_LANG", language)).expect_code(0);
        assert!(status.out.contains(words), "{}", status.out);
    }
}

#[test]
fn status_says_what_a_goal_waits_for() {
    let house = House::playing(&Script::new().runs(&Gate::command("one")).says("One."));
    let status = |words: &str| {
        until(words, || {
            let done = house.reasonix(&["goal", "status", "1"]).expect_code(0);
            done.out.contains(words).then_some(())
        });
    };
    let detached = ["goal", "--detach", "--on-ask", "allow", "Go on"];
    let _ = house.reasonix(&detached).expect_code(0);
    Gate::new(&house, "one").wait();
    status("turn 1 of 50\n");
    let later = ["run", "--detach", "-s", "1", "Look at this first."];
    let _ = house.reasonix(&later).expect_code(0);
    status("prompts queued before its next turn: 1");
    let _ = house.reasonix(&["pause", "1"]).expect_code(0);
    status("turn 1 of 50, paused: `reasonix resume 1` continues it");
    let _ = house.reasonix(&["resume", "1"]).expect_code(0);
    let other = ["goal", "--detach", "-s", "1", "Something else"];
    let _ = house.reasonix(&other).expect_code(0);
    status("no turn yet: it starts after the running turn");
    let _ = house.reasonix(&["kill", "1"]).expect_code(0);

    let house = House::new();
    house.provider_config("http://127.0.0.1:9/v1");
    let _ = house
        .reasonix(&["goal", "--detach", "Go on"])
        .expect_code(0);
    until("the retry", || {
        let done = house.reasonix(&["goal", "status", "1"]).expect_code(0);
        let retries = done.out.contains("turn 1 of 50, waiting to retry: ");
        assert!(!done.out.contains("inbox"), "{}", done.out);
        retries.then_some(())
    });
    let _ = house.reasonix(&["kill", "1"]).expect_code(0);
}

#[test]
fn another_client_stops_a_goal_and_its_turn() {
    let house = House::playing(&Script::new().runs(&Gate::command("stop")));
    let gate = Gate::new(&house, "stop");
    let run = house.start(&["goal", "Wait for ever", "--max-turns", "0"]);
    gate.wait();
    let status = house.reasonix(&["goal", "status", "1"]).expect_code(0);
    assert!(
        status.out.contains("goal: Wait for ever\nturn 1\n"),
        "{}",
        status.out
    );
    let stopped = house.reasonix(&["goal", "stop", "1"]).expect_code(0);
    assert_eq!(stopped.out, "the goal is stopped\n");
    let _ = run.done().expect_code(130);
    let ended = ended(&house);
    assert_eq!((ended.outcome, ended.turns), (GoalOutcome::Stopped, 1));
    assert!(ended.by.is_some());
    let again = house.reasonix(&["goal", "stop", "1"]).expect_code(0);
    assert_eq!(again.out, "this session has no goal\n");
}

#[test]
fn killed_daemon_loses_no_goal_and_runs_nothing_twice() {
    let command = format!("echo once >> ran; {}", Gate::command("middle"));
    let house = House::playing(
        &Script::new()
            .says("Begun.")
            .runs(&command)
            .calls("bash", &json!({"command": "echo after >> ran"}))
            .calls("update_goal", &complete("done", "ran has two lines"))
            .says("Done."),
    );
    let gate = Gate::new(&house, "middle");
    let pid = house
        .reasonix(&["goal", "Run it", "--detach"])
        .expect_code(0);
    assert_eq!(pid.out, "1\n");
    gate.wait();
    house.kill_daemon_and_parent();
    // The next daemon goes on by itself.
    house.daemon();
    let ended = ended(&house);
    assert_eq!((ended.outcome, ended.turns), (GoalOutcome::Complete, 2));
    let ran = std::fs::read_to_string(house.project().join("ran")).expect("read");
    assert_eq!(ran, "once\nafter\n");
    use ContinueReason as Why;
    assert_eq!(reasons(&house), [Why::Started, Why::NoReport]);
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
}

#[test]
fn interactive_session_goes_on_with_its_goal_after_a_kill_too() {
    let house = House::playing(
        &Script::new()
            .says("Hello.")
            .runs(&Gate::command("kept"))
            .calls("update_goal", &complete("done", "seen"))
            .says("Done."),
    );
    let gate = Gate::new(&house, "kept");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("hello");
    params.options.kind = Some(proto::state::Kind::Interactive);
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    raw.call(
        "session.create",
        &serde_json::to_value(params).expect("JSON"),
    )
    .expect("create");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let started = raw.call("goal.start", &json!({"session": "1", "text": "It works"}));
    started.expect("goal");
    gate.wait();
    house.kill_daemon_and_parent();
    gate.open();
    house.daemon();
    assert_eq!(ended(&house).outcome, GoalOutcome::Complete);
}

#[test]
fn two_watchers_see_the_same_events_of_a_goal() {
    let house = House::playing(
        &Script::new()
            .calls("bash", &json!({"command": Gate::command("middle")}))
            .says("One.")
            .calls("update_goal", &complete("done", "seen"))
            .says("Two."),
    );
    let _ = house
        .reasonix(&["goal", "Go on", "--detach", "--approval-mode", "yolo"])
        .expect_code(0);
    let gate = Gate::new(&house, "middle");
    gate.wait();
    let seen = house.block_on(async {
        let mut follows = Vec::new();
        for name in ["one", "two"] {
            let client = house.client(name, Role::Watch).await;
            follows.push(follow::from_the_start(&client, 1).await);
        }
        // Both watch while it goes on.
        gate.open();
        let mut seen = Vec::new();
        for mut follow in follows {
            let events = follow::to(&mut follow, "the exit", |event| {
                event.kind == "session.exited"
            });
            seen.push(follow::durable(&events.await));
        }
        seen
    });
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].len(), house.log(Pid(1)).lines.len());
}

#[test]
fn ends_that_are_no_success_have_their_exit_codes() {
    let large = Usage {
        prompt: 1000,
        ..Usage::default()
    };
    let refused = Fault::refusal(400, "no such thing", "bad_request");
    for (answer, code, outcome) in [
        (Answer::text("One.").usage(large), 2, "out_of_budget"),
        (Answer::text("").fault(refused), 1, "failed"),
    ] {
        let model = Model::start([answer, Answer::text("Never.")]);
        let house = scripted::house(&model);
        let done = house.reasonix(&["goal", "Go on", "--budget-tokens", "500", "--json"]);
        let result = done.expect_code(code).json();
        assert_eq!(result["goal"]["outcome"], outcome, "{result}");
        assert_eq!(model.count(), 1, "{result}");
    }
}

#[test]
fn project_names_checks_only_if_it_is_trusted() {
    let house = House::playing(
        &Script::new()
            .calls("update_goal", &complete("done", "seen"))
            .says("Done."),
    );
    let config = house.project().join("reasonix.toml");
    std::fs::write(config, "[goal]\ncheck = [\"false\"]\n").expect("write");
    let _ = house.reasonix(&["goal", "Go on"]).expect_code(0);
    assert!(!results(&house).join("\n").contains("check"));
}

/// The changes of the goal, as the log has them.
fn changes(house: &House) -> Vec<GoalChanged> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    let changes = bodies.filter_map(|body| match body {
        Body::GoalChanged(changed) => Some(changed),
        _ => None,
    });
    changes.collect()
}

#[test]
fn limits_of_a_goal_change_while_a_turn_runs() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("first"))
            .says("One.")
            .says("Two."),
    );
    let gate = Gate::new(&house, "first");
    let run = house.start(&["goal", "Go on", "--max-turns", "1"]);
    gate.wait();
    let changed = house.reasonix(&["goal", "change", "1", "--turns", "2"]);
    assert_eq!(changed.expect_code(0).out, "limits: turns: 2\n");
    let wrong = house.reasonix(&["goal", "change", "1"]).expect_code(64);
    assert!(wrong.err.contains("--max-turns"), "{}", wrong.err);
    gate.open();
    let _ = run.done().expect_code(2);
    let ended = ended(&house);
    assert_eq!((ended.outcome, ended.turns), (GoalOutcome::OutOfTurns, 2));
    assert_eq!(changes(&house).len(), 1);
}

#[test]
fn lowered_limit_ends_the_goal_after_the_running_turn() {
    let house = House::playing(
        &Script::new()
            .says("One.")
            .runs(&Gate::command("second"))
            .says("Two."),
    );
    let gate = Gate::new(&house, "second");
    let run = house.start(&["goal", "Go on"]);
    gate.wait();
    let changed = house.reasonix(&["goal", "change", "1", "--max-turns", "1", "--json"]);
    let changed = changed.expect_code(0).json();
    assert_eq!(
        (&changed["effect"], &changed["turn"], &changed["max_turns"]),
        (&json!("last_turn"), &json!(2), &json!(1))
    );
    gate.open();
    let ran = run.done().expect_code(2);
    assert_eq!(ran.out, "Two.\n", "the running turn came to its end");
    assert_eq!(ended(&house).turns, 2);
}

#[test]
fn raised_limit_lets_a_goal_go_on_that_is_out_of_turns_also_after_a_kill() {
    let house = House::playing(
        &Script::new()
            .says("One.")
            .calls("update_goal", &complete("done", "seen"))
            .says("Two."),
    );
    let run = house.reasonix(&["goal", "Go on", "--max-turns", "1"]);
    let run = run.expect_code(2);
    let how = "reasonix goal change 1 --max-turns N";
    assert!(run.err.contains(how), "{}", run.err);
    house.kill_daemon_and_parent();
    house.daemon();
    let status = house.reasonix(&["goal", "status", "1"]).expect_code(0);
    assert!(status.out.contains(how), "{}", status.out);
    let refused = house.reasonix(&["goal", "change", "1", "--max-turns", "1"]);
    let refused = refused.expect_code(64);
    assert!(refused.err.contains("has had its turns (1)"), "{refused:?}");
    let changed = house.reasonix(&["goal", "change", "1", "--max-turns", "5"]);
    let changed = changed.expect_code(0);
    assert!(changed.out.contains("the goal goes on"), "{}", changed.out);
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    use ContinueReason as Why;
    assert_eq!(reasons(&house), [Why::Started, Why::LimitRaised]);
    let bodies = house.log(Pid(1)).bodies();
    let ends = bodies.iter().filter_map(|body| match body {
        Body::GoalEnded(ended) => Some((ended.outcome, ended.turns)),
        _ => None,
    });
    let ends: Vec<_> = ends.collect();
    let wanted = [(GoalOutcome::OutOfTurns, 1), (GoalOutcome::Complete, 2)];
    assert_eq!(ends, wanted);
    let again = house.reasonix(&["goal", "change", "1", "--max-turns", "9"]);
    let again = again.expect_code(64);
    assert!(again.err.contains("reasonix goal -s 1"), "{}", again.err);
}

#[test]
fn rules_match_the_check_commands_as_they_are_written() {
    let script = || {
        let complete = complete("done", "seen");
        let script = Script::new().calls("update_goal", &complete);
        script.says("Done.")
    };
    let goal = |rules: &[&str]| {
        let house = House::playing(&script());
        let options = ["--on-ask", "deny", "--approval-mode", "ask"];
        let checks = ["--check", "touch one", "--check", "cp one two && rm one"];
        let allow = rules.iter().flat_map(|rule| ["--allow", *rule]);
        let goal = ["goal", "Make it"].into_iter().chain(options);
        let arguments: Vec<_> = goal.chain(checks).chain(allow).collect();
        (house.reasonix(&arguments).code(), house)
    };
    let exact = "Bash(cp one two && rm one)";
    let (code, house) = goal(&["Bash(touch:*)", exact]);
    assert_eq!(code, Some(0), "{:?}", results(&house));
    assert!(house.project().join("two").exists());
    // Each of them has to be allowed.
    let (code, house) = goal(&["Bash(touch:*)"]);
    assert_eq!(code, Some(3), "{:?}", results(&house));
    assert!(!house.project().join("one").exists());
    // A rule that denies one of them holds.
    let house = House::playing(&script());
    let denied = house.reasonix(&[
        "goal",
        "Make it",
        "--max-turns",
        "1",
        "--approval-mode",
        "ask",
        "--allow",
        "Bash(touch one)",
        "--deny",
        "Bash(touch:*)",
        "--check",
        "touch one",
    ]);
    assert_ne!(denied.code(), Some(0), "{denied:?}");
    assert!(!house.project().join("one").exists());
}

#[test]
fn hook_hears_how_a_goal_ended() {
    let script = Script::new()
        .calls("update_goal", &complete("all of it", "seen"))
        .says("Done.");
    let house = House::playing(&script);
    let hooks = json!({"hooks": {"Notification": [{"command": "cat > heard"}]}});
    std::fs::write(house.home_file("settings.json"), hooks.to_string()).expect("write");
    let _ = house.reasonix(&["goal", "Make it"]).expect_code(0);
    let heard = until("the hook", || {
        let heard = std::fs::read_to_string(house.project().join("heard")).ok()?;
        serde_json::from_str::<Value>(&heard).ok()
    });
    assert_eq!(heard["notificationType"], "goal_ended", "{heard}");
    assert_eq!(heard["outcome"], "complete");
    let message = heard["message"].as_str().expect("a text");
    assert!(message.contains("all of it"), "{message}");
}

#[test]
fn tool_for_reports_is_there_whatever_tools_are_chosen() {
    let script = Script::new()
        .calls("update_goal", &complete("done", "seen"))
        .says("Done.");
    let house = House::playing(&script);
    let goal = ["goal", "Look", "--tools", "read_file"];
    let _ = house.reasonix(&goal).expect_code(0);
    assert_eq!(ended(&house).outcome, GoalOutcome::Complete);
}

#[test]
fn goal_that_is_paused_at_a_time_limit_is_in_the_inbox() {
    let script = Script::new()
        .runs(&Gate::command("slow"))
        .runs(&Gate::command("second"))
        .says("Two.");
    let house = House::playing(&script);
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("hello");
    params.prompt = None;
    params.options.kind = Some(proto::state::Kind::Interactive);
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    params.options.timeout_ms = Some(1_500);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    let goal = json!({"session": "1", "text": "Make it work"});
    raw.call("goal.start", &goal).expect("goal");
    let inbox = until("the pause in the inbox", || {
        let done = house.reasonix(&["inbox"]).expect_code(0);
        done.out.contains("time limit").then_some(done.out)
    });
    assert!(inbox.contains("goal: Make it work"), "{inbox}");
    assert!(
        inbox.contains("reasonix resume 1 --add-minutes N"),
        "{inbox}"
    );
    let line = house.reasonix(&["inbox", "--line"]).expect_code(0).out;
    assert!(line.contains("1 time limit"), "{line}");
    let status = |words: &str| {
        until(words, || {
            let done = house.reasonix(&["goal", "status", "1"]).expect_code(0);
            done.out.contains(words).then_some(())
        });
    };
    status("turn 1 of 50, stopped by its time limit");
    let more = ["resume", "1", "--add-minutes", "60"];
    let _ = house.reasonix(&more).expect_code(0);
    Gate::new(&house, "second").wait();
    status("turn 2 of 50\n");
    let _ = house.reasonix(&["kill", "1"]).expect_code(0);
}

#[test]
fn goal_of_a_run_ends_the_run_whoever_prompts_it_on_the_way() {
    let script = Script::new()
        .runs(&Gate::command("first"))
        .says("One.")
        .says("Seen.")
        .calls("update_goal", &complete("done", "seen"))
        .says("Done.");
    let house = House::playing(&script);
    let gate = Gate::new(&house, "first");
    let goal = ["goal", "--on-ask", "allow", "Go on"];
    let run = house.start(&goal);
    gate.wait();
    let mut attached = house.start(&["attach", "--plain", "1"]);
    attached.line("the goal", |line| line.contains("Go on"));
    attached.say("/goal --unknown x\n");
    attached.line("the options", |line| {
        line.contains("`--research`, `--simple`")
    });
    attached.say("/goal\n");
    attached.line("its status", |line| line.contains("turn 1 of 50"));
    attached.say("Look at this first.\n");
    until("the prompt in the log", || {
        let queued = house.log(Pid(1)).count("prompt.queued");
        (queued > 0).then_some(())
    });
    gate.open();
    let _ = run.done().expect_code(0);
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    assert_eq!(house.log(Pid(1)).count("session.exited"), 1);
}
