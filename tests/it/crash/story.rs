//! The scripted session that is killed, and what must be true of it afterwards.

use std::collections::BTreeMap;

use proto::item::{CallStatus, Finish};
use proto::outcome::{OutcomeKind, UsageTotals};
use proto::params::session::PromptOutput;
use proto::{Body, Event, RequestId};
use serde_json::json;
use testkit::model::{Answer, Model, Request, Usage, prefix};
use tests::House;
use tests::interactions::check_answers;
use tests::log::Log;

/// Turns of the session, and answers of each.
pub const TURNS: usize = 4;
pub const STEPS: usize = 5;

/// What the model says after it has said so much: reads side by side, a write, a command that a rule allows, one that
/// a person must allow, words.
pub fn step(said: usize) -> Answer {
    let answer = match said % STEPS {
        0 => {
            let mut answer = Answer::text(format!("Turn {}: I look first.", said / STEPS));
            for part in 0..4 {
                answer = if part % 2 == 0 {
                    answer.and_call_id(
                        &format!("r{said}.{part}"),
                        "read_file",
                        json!({"path": "notes.txt"}),
                    )
                } else {
                    answer.and_call_id(
                        &format!("r{said}.{part}"),
                        "bash",
                        json!({"command": "cat notes.txt"}),
                    )
                };
            }
            answer
        }
        1 => {
            let arguments =
                json!({"path": "written.txt", "content": format!("w{said}\n"), "append": true});
            Answer::text("I write.").and_call_id(&format!("w{said}"), "write_file", arguments)
        }
        2 => Answer::text("").and_call_id(
            &format!("b{said}"),
            "bash",
            json!({"command": format!("./append b {said}")}),
        ),
        3 => Answer::text("May I?")
            .reasoning("I should ask.")
            .and_call_id(
                &format!("a{said}"),
                "bash",
                json!({"command": format!("./append a {said}")}),
            ),
        _ => Answer::text(format!(
            "Turn {} is done: {}",
            said / STEPS,
            "many words. ".repeat(40)
        )),
    };
    // Slow enough to be killed in its middle.
    answer
        .usage(usage(said))
        .paced(24, std::time::Duration::from_millis(1))
}

/// How many answers of the script a request holds. What a crash left of one does not count.
pub fn said(request: &Request) -> usize {
    let mut said = 0;
    for message in request.messages() {
        let whole = step(said);
        let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
        let text = message["content"].as_str().unwrap_or_default();
        said += usize::from(
            message["role"] == "assistant" && text == whole.text && calls == whole.calls.len(),
        );
    }
    said
}

/// The usage reported with an answer: different for each.
fn usage(said: usize) -> Usage {
    let said = said as u64;
    Usage {
        prompt: 1000 + 7 * said,
        cached: (64 * said).min(1000 + 7 * said),
        output: 10 + said,
        reasoning: said % 3,
    }
}

/// Rules under which only the `a` commands ask.
pub fn rules() -> Vec<String> {
    vec![
        "Edit(written.txt)".to_owned(),
        "Bash(./append b:*)".to_owned(),
    ]
}

/// A file to read, and a command that leaves a mark when it begins and one when it ends.
pub fn project(house: &House) {
    house.files("//- notes.txt\nsome notes\n//- append\n#!/bin/sh\necho \"$1$2\" >> begun.txt\nsleep 0.03\necho \"$1$2\" >> ended.txt\n");
    let path = house.project().join("append");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("make the command executable");
}

/// Marks of commands that have begun.
pub fn begun(house: &House) -> Vec<String> {
    marks(house, "begun.txt")
}

fn marks(house: &House, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(house.project().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A prompt of a ride, and the acknowledged changes to it.
#[derive(Debug)]
pub struct SentPrompt {
    pub output: PromptOutput,
    pub edited: Option<String>,
    pub taken_back: bool,
}

/// I3: an acknowledged prompt is where the acknowledgement said, and became one message, with the words it
/// was given last, or was taken back.
pub fn prompts_are_there(log: &Log, prompts: &[SentPrompt]) {
    let bodies = log.bodies();
    for given in prompts {
        let (id, seq) = (given.output.prompt_id, given.output.seq);
        let index = usize::try_from(seq.0 - 1).expect("a number");
        match &bodies[index] {
            Body::PromptQueued(queued) => assert_eq!(queued.prompt_id, id, "record {seq}"),
            other => panic!(
                "record {seq} is `{}`, and was acknowledged as a prompt",
                other.kind()
            ),
        }
        let said: Vec<_> = bodies
            .iter()
            .filter_map(|body| match body {
                Body::User(user) if user.prompt_id == Some(id) => Some(user.text.as_str()),
                _ => None,
            })
            .collect();
        let back = bodies
            .iter()
            .any(|body| matches!(body, Body::PromptUnqueued(taken) if taken.prompt_id == id));
        assert_eq!(
            said.len(),
            usize::from(!back),
            "prompt {id} becomes one message, or was taken back: {said:?}"
        );
        assert!(!given.taken_back || back, "prompt {id} was taken back");
        if let Some(text) = &given.edited {
            assert!(
                back || said == [text.as_str()],
                "prompt {id} got other words: {said:?}"
            );
        }
    }
    assert_eq!(
        log.count("prompt.queued"),
        prompts.len(),
        "a prompt that was given again is one prompt"
    );
}

/// I3, I6: an answer that was acknowledged is in the log; each interaction has one.
pub fn answers_are_there(log: &Log, answered: &[RequestId]) {
    check_answers(log, answered);
    assert_eq!(
        log.count("interaction.opened"),
        log.count("interaction.resolved"),
        "no interaction is open at the end"
    );
}

/// I5: a client that reconnects sees every durable event once, in order, with the bytes that the log has.
pub fn all_was_seen_once(log: &Log, seen: &[Event]) {
    for (index, event) in seen.iter().enumerate() {
        let line = &log.lines[index];
        assert_eq!(
            event.seq,
            Some(line.seq),
            "events come without gap and repetition"
        );
        assert_eq!(
            (event.kind.as_str(), event.data.get()),
            (line.kind.as_str(), line.data.as_str()),
            "record {}",
            line.seq
        );
    }
    assert!(
        seen.len() + 4 >= log.lines.len(),
        "{} of {} events were seen",
        seen.len(),
        log.lines.len()
    );
}

/// Every turn came to its own end, with every answer once and every call with one result, in order.
pub fn turns_completed(log: &Log) {
    let mut open: Vec<proto::CallId> = Vec::new();
    let (mut turns, mut answers) = (0, 0);
    for line in &log.lines {
        match line.body() {
            Body::TurnEnded(ended) => {
                assert_eq!(ended.outcome, OutcomeKind::Completed, "{ended:?}");
                assert!(ended.steps >= STEPS as u64, "{ended:?}");
                turns += 1;
            }
            // What a crash left of an answer that had been seen: its beginning, and nothing to run.
            Body::Assistant(answer) if answer.finish == Finish::Interrupted => {
                let whole = step(answers).text;
                assert!(whole.starts_with(&answer.text), "{answer:?}: {whole}");
                assert!(answer.calls.is_empty(), "{answer:?}");
            }
            Body::Assistant(answer) => {
                assert!(
                    open.is_empty(),
                    "record {}: an answer before the results of {open:?}",
                    line.seq
                );
                assert_eq!(answer.text, step(answers).text, "answer {answers}");
                answers += 1;
                open = answer.calls.into_iter().map(|call| call.id).collect();
            }
            Body::Tool(result) => assert_eq!(open.remove(0), result.call, "record {}", line.seq),
            _ => {}
        }
    }
    assert!(turns >= TURNS, "{turns} turns");
    assert_eq!(answers, turns * STEPS);
}

/// I4: a call with side effects started once and left at most one mark; a result that says so is true.
pub fn effects_once(log: &Log, house: &House) {
    let mut started: BTreeMap<String, usize> = BTreeMap::new();
    for body in log.bodies() {
        if let Body::ToolStarted(call) = body
            && !call.read_only
        {
            *started.entry(call.call.0).or_default() += 1;
        }
    }
    let (begun, ended, written) = (
        begun(house),
        marks(house, "ended.txt"),
        marks(house, "written.txt"),
    );
    let count = |marks: &[String], mark: &str| marks.iter().filter(|known| *known == mark).count();
    let mut seen = 0;
    for result in log.results() {
        let id = &result.call.0;
        if id.starts_with('r') {
            assert_eq!(
                result.status,
                CallStatus::Ok,
                "a reader runs again: {result:?}"
            );
            continue;
        }
        let starts = started.get(id).copied().unwrap_or(0);
        let (first, last) = if id.starts_with('w') {
            (count(&written, id), count(&written, id))
        } else {
            (count(&begun, id), count(&ended, id))
        };
        assert!(first <= 1, "`{id}` took effect {first} times: {result:?}");
        match result.status {
            CallStatus::Ok => assert_eq!((starts, first, last), (1, 1, 1), "`{id}`: {result:?}"),
            CallStatus::Unknown => assert_eq!(
                starts, 1,
                "`{id}` is unknown, and was started {starts} times"
            ),
            other => panic!("`{id}` ended {other:?}: {}", result.text),
        }
        seen += first;
    }
    assert!(
        begun.iter().chain(&written).count() == seen,
        "a mark of no call: {begun:?} {written:?}"
    );
}

/// I15: the log's sums equal the usage reported with its answers, each once.
pub fn usage_adds_up(log: &Log, summary: &UsageTotals) {
    let mut wanted = UsageTotals::default();
    for said in 0..log.count("turn.ended") * STEPS {
        let usage = usage(said);
        wanted.add(&UsageTotals {
            requests: 1,
            prompt_tokens: usage.prompt,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            cost_micros: 0,
            unknown_cost_calls: 1,
            cache_write_tokens: 0,
        });
    }
    let mut turns = UsageTotals::default();
    for body in log.bodies() {
        if let Body::TurnEnded(ended) = body {
            turns.add(&ended.usage);
        }
    }
    // An answer whose usage reached the disk and whose words did not was paid for: it is in the sums, and is asked for
    // again. All others are there once.
    let again = turns.requests - wanted.requests.min(turns.requests);
    assert!(turns.requests >= wanted.requests, "{turns:?}");
    if again == 0 {
        assert_eq!(turns, wanted);
    }
    assert_eq!(*summary, turns, "the session's sums are those of its turns");
    let lines = log
        .bodies()
        .into_iter()
        .filter(|body| matches!(body, Body::Usage(_)))
        .count();
    assert_eq!(lines as u64, turns.requests);
}

/// How often a request was not an extension of the one before. Only a kill may do that: a record that was sent on before it was
/// on disk is lost, and the conversation goes on from an earlier request, which it extends.
pub fn rollbacks(model: &Model) -> u64 {
    let requests = model.requests();
    let extends = |before: &Request, now: &Request| prefix::check([&before.body[..], &now.body]);
    let mut count = 0;
    for (index, now) in requests.iter().enumerate().skip(1) {
        if let Err(why) = extends(&requests[index - 1], now) {
            count += 1;
            let earlier = requests[..index]
                .iter()
                .any(|before| extends(before, now).is_ok());
            assert!(
                earlier || extends(now, &requests[0]).is_ok(),
                "request {}: {why}",
                now.number
            );
        }
    }
    count
}
