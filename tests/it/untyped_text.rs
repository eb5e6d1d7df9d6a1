//! Parts of a prompt that nobody typed: `@` in a piped file or another session's answer attaches nothing.

use testkit::model::{Answer, Model, Request};
use tests::House;

use crate::scripted::house;

const FILES: &str = "//- src/a.rs\nfn a() {}\n//- src/b.rs\nfn b() {}\n//- src/c.rs\nfn c() {}\n";

fn answering(answers: &[&str]) -> (Model, House) {
    let answers: Vec<_> = answers.iter().map(|text| Answer::text(*text)).collect();
    let model = Model::start(answers);
    let house = house(&model);
    house.files(FILES);
    (model, house)
}

/// Which of the files a request holds.
fn attached(request: &Request) -> Vec<char> {
    let body = String::from_utf8_lossy(&request.body);
    let is_in = |name: &char| body.contains(&format!("fn {name}() {{}}"));
    ['a', 'b', 'c'].into_iter().filter(is_in).collect()
}

#[test]
fn text_piped_beside_a_prompt_refers_to_nothing() {
    let (model, house) = answering(&["One.", "Two."]);
    let prompt = ["run", "--file", "src/c.rs", "Explain, with @src/a.rs:"];
    let ran = house
        .reasonix_reading(&prompt, "Look at @src/b.rs, @none.rs.")
        .expect_code(0);
    assert!(!ran.err.contains("none.rs"), "{ran:?}");
    let _ = house
        .reasonix_reading(&["run", "Explain:"], "@src/b.rs\n")
        .expect_code(0);
    let requests = model.requests();
    assert_eq!(attached(&requests[0]), ['a', 'c']);
    assert!(attached(&requests[1]).is_empty());
}

#[test]
fn prompt_from_standard_input_refers_to_what_is_in_the_workspace() {
    let (model, house) = answering(&["One."]);
    let outside = house.project().with_file_name("secret.txt");
    std::fs::write(&outside, "SECRET").expect("write");
    let prompt = format!("Explain @src/a.rs and @{}.", outside.display());
    let ran = house.reasonix_reading(&["run"], &prompt).expect_code(0);
    assert!(
        ran.err
            .contains("it is outside of the workspace, and the prompt came from standard input"),
        "{ran:?}"
    );
    let request = &model.requests()[0];
    assert_eq!(attached(request), ['a']);
    assert!(!String::from_utf8_lossy(&request.body).contains("SECRET"));
}

#[test]
fn answer_of_another_session_refers_to_nothing() {
    let (model, house) = answering(&["See @src/b.rs.", "Two."]);
    let first = house.reasonix(&["run", "--json", "Which file?"]);
    let first: serde_json::Value =
        serde_json::from_str(&first.expect_code(0).out).expect("a result");
    let pid = first["pid"].to_string();
    let prompt = ["run", "--from", &pid, "Is it like @src/a.rs?"];
    let _ = house.reasonix(&prompt).expect_code(0);
    let requests = model.requests();
    assert_eq!(attached(&requests[1]), ['a']);
    assert!(String::from_utf8_lossy(&requests[1].body).contains("See @src/b.rs."));
}

#[test]
fn arguments_that_were_piped_refer_to_nothing_in_a_command() {
    let (model, house) = answering(&["One."]);
    house.files("//- .reasonix/commands/fix.md\nFix it. $ARGUMENTS. Like @src/c.rs.\n");
    let _ = house
        .reasonix_reading(&["run", "/fix @src/a.rs"], "@src/b.rs")
        .expect_code(0);
    let request = &model.requests()[0];
    assert_eq!(attached(request), ['a', 'c']);
    assert!(String::from_utf8_lossy(&request.body).contains("Fix it. @src/a.rs"));
}

#[test]
fn references_in_piped_text_stay_inert_when_the_queued_prompt_is_edited() {
    let script = testkit::Script::new()
        .runs(&tests::Gate::command("gate"))
        .says("One.")
        .says("Two.");
    let house = House::playing(&script);
    house.daemon();
    house.files(FILES);
    let gate = tests::Gate::new(&house, "gate");
    let mut params = house.create("work");
    params.options.approval_mode = Some(proto::state::ApprovalMode::Yolo);
    let pid = house.block_on(async {
        let client = house.client("ann", proto::hello::Role::Drive).await;
        let created = client.call::<proto::methods::SessionCreate>(&params).await;
        created.expect("create a session").pid
    });
    gate.wait();
    let session = pid.to_string();
    let sent = house.reasonix_reading(&["send", &session, "And this?"], "@src/b.rs");
    let prompt = sent.expect_code(0).out.trim().to_owned();
    let edited = "And this, with @src/a.rs?\n\n@src/b.rs";
    let edit = ["queue", &session, "edit", &prompt, edited];
    let _ = house.reasonix(&edit).expect_code(0);
    gate.open();
    let bodies = tests::until("both turns", || {
        let log = house.log(pid);
        (log.count("turn.ended") == 2).then(|| log.bodies())
    });
    let message = bodies.into_iter().rev().find_map(|body| match body {
        proto::Body::User(message) => Some(message),
        _ => None,
    });
    let names: Vec<_> = message.expect("a message").attached;
    let names: Vec<_> = names.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["src/a.rs"]);
}
