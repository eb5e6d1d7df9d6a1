//! Programs that answer, fail, hang and flood.

use std::path::PathBuf;
use std::time::Duration;

use contract::ChildEvent;
use contract::provider::ErrorKind;
use contract::{RequestEnvironment, STDIN_MAX};
use proto::Pid;
use proto::item::Finish;

use super::*;
use crate::fake::{self, FakeProgram, exited, nothing};

type Parts = Vec<Result<Part, ProviderError>>;

fn out(text: &str) -> ChildEvent {
    ChildEvent::Stdout(text.as_bytes().to_vec())
}

const WORDS: &str = "{\"type\":\"text\",\"text\":\"ab\"}\n";
const DONE: &str = "{\"type\":\"done\"}\n";

async fn ask(means: &ProviderContext) -> Parts {
    let (_, provider) = open(fake::options(KIND, ""), means).expect("a good entry");
    provider.stream(fake::request()).collect().await
}

fn error(parts: &Parts) -> &ProviderError {
    match parts.last() {
        Some(Err(error)) => error,
        other => panic!("no error at the end: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_program_runs_in_the_session_with_its_key_and_ends_with_its_answer() {
    let (means, programs, gone) = FakeProgram::staying(vec![out(WORDS), out(DONE)]);
    let (_, provider) = open(fake::options(KIND, ""), &means).expect("a good entry");
    let mut request = fake::request();
    request.ground = RequestEnvironment {
        session: Pid(7),
        cwd: PathBuf::from("/proj"),
        env: Arc::new(vec![
            ("PATH".to_owned(), "/bin".to_owned()),
            ("ACME_KEY".to_owned(), "old".to_owned()),
        ]),
    };
    let body = String::from_utf8(request.body.to_vec()).expect("UTF-8");
    let mut stream = provider.stream(request);
    assert_eq!(stream.next().await, Some(Ok(Part::Text("ab".to_owned()))));
    assert_eq!(stream.next().await, Some(Ok(Part::Done(Finish::Stop))));
    gone.await.expect("it is let go as soon as it is done");
    assert_eq!(stream.next().await, None);
    let (session, command) = programs.started.lock().expect("a lock").remove(0);
    assert_eq!((session, command.cwd), (Pid(7), PathBuf::from("/proj")));
    assert_eq!(command.argv, ["model", "--print"]);
    assert_eq!(command.stdin, contract::Stdin::Text(body));
    let env = [("PATH", "/bin"), ("ACME_KEY", "sk-acme-0123456789")];
    assert_eq!(
        command.env,
        env.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert!(command.sandbox.is_none());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_request_ends_the_program() {
    let (means, _, gone) = FakeProgram::staying(vec![out(WORDS)]);
    let (_, provider) = open(fake::options(KIND, ""), &means).expect("a good entry");
    let mut stream = provider.stream(fake::request());
    assert_eq!(stream.next().await, Some(Ok(Part::Text("ab".to_owned()))));
    drop(stream);
    gone.await.expect("it is let go");
}

#[tokio::test(start_paused = true)]
async fn the_exit_decides_about_retries_and_stderr_is_reported() {
    let words = || ChildEvent::Stderr(b"first\nno login: sk-acme-0123456789\n".to_vec());
    for (end, kind, how) in [
        (
            exited(Some(3), None),
            ErrorKind::Permanent,
            "ended with exit code 3",
        ),
        (
            exited(Some(0), None),
            ErrorKind::Transient,
            "ended with exit code 0",
        ),
        (
            exited(None, Some(9)),
            ErrorKind::Transient,
            "was ended by signal 9",
        ),
    ] {
        let (means, _) = FakeProgram::doing(vec![out(WORDS), words(), end]);
        let parts = ask(&means).await;
        assert_eq!(parts.first(), Some(&Ok(Part::Text("ab".to_owned()))));
        assert_eq!(error(&parts).kind, kind);
        assert_eq!(
            error(&parts).message,
            format!("`acme` {how} before its answer was complete: first no login: ***")
        );
        assert_eq!(parts.len(), 2);
    }
    let long = format!("{}\nthe end", "x\n".repeat(5000));
    let (means, _) = FakeProgram::doing(vec![
        ChildEvent::Stderr(long.into_bytes()),
        exited(Some(1), None),
    ]);
    let parts = ask(&means).await;
    assert!(
        error(&parts).message.ends_with("the end"),
        "{}",
        error(&parts).message
    );
    let parts = ask(&nothing()).await;
    assert_eq!(error(&parts).kind, ErrorKind::Permanent);
    assert!(
        error(&parts).message.contains("cannot be started")
            && error(&parts).hint.contains("`command`")
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_line_needs_no_end() {
    let (means, _) = FakeProgram::saying(vec![WORDS.into(), DONE.trim_end().into()], 0);
    assert_eq!(
        ask(&means).await,
        [
            Ok(Part::Text("ab".to_owned())),
            Ok(Part::Done(Finish::Stop))
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn silence_ends_in_time() {
    for (said, what) in [
        (vec![], "printed nothing for 120s"),
        (
            vec![out(WORDS)],
            "was silent in the middle of its answer for 120s",
        ),
    ] {
        let (means, _, gone) = FakeProgram::staying(said);
        let started = tokio::time::Instant::now();
        let parts = ask(&means).await;
        assert_eq!(error(&parts).kind, ErrorKind::Transient);
        assert_eq!(error(&parts).message, format!("`acme` {what}"));
        assert_eq!(started.elapsed(), Duration::from_secs(120));
        gone.await.expect("it is let go");
    }
}

#[tokio::test(start_paused = true)]
async fn an_invalid_event_is_reported_and_lines_are_limited() {
    for line in ["Welcome to model 1.0!", "[1]", "\"x\"", "7", "{\"type\":"] {
        let (means, _) = FakeProgram::doing(vec![out(&format!("{line}\n{WORDS}{DONE}"))]);
        let parts = ask(&means).await;
        assert_eq!(error(&parts).kind, ErrorKind::Permanent, "{line}");
        assert!(
            error(&parts).message.contains(line),
            "{}",
            error(&parts).message
        );
        assert!(error(&parts).hint.contains("docs/command-provider.md"));
    }
    let endless = (0..10).map(|_| out(&"x".repeat(1 << 20))).collect();
    let (means, _, gone) = FakeProgram::staying(endless);
    let parts = ask(&means).await;
    assert!(
        error(&parts)
            .message
            .contains("a line longer than any event")
    );
    gone.await.expect("it is let go");
}

#[tokio::test(start_paused = true)]
async fn an_error_event_says_what_may_be_done() {
    let line = r#"{"type":"usage","prompt_tokens":5}
{"type":"error","kind":"transient","message":"busy sk-acme-0123456789","hint":"wait","retry_after_ms":1500}
"#;
    let (means, _) = FakeProgram::doing(vec![out(line)]);
    let parts = ask(&means).await;
    assert!(matches!(&parts[0], Ok(Part::Usage(usage)) if usage.prompt_tokens == 5));
    let error = error(&parts);
    assert_eq!(
        (error.kind, error.hint.as_str()),
        (ErrorKind::Transient, "wait")
    );
    assert_eq!(error.message, "`acme` failed: busy ***");
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
}

#[tokio::test(start_paused = true)]
async fn calls_arrive_whole_or_in_fragments_and_reasoning_keeps_its_position() {
    let lines = r#"{"type":"tool_call","name":"read","arguments":{"path": "a"}}
{"type":"thought","data":{"n": 1}}
{"type":"tool_call","name":"read","arguments":"{\"path\": \"b\"}"}
{"type":"done","finish":"tool_calls"}
"#;
    let (means, _) = FakeProgram::doing(vec![out(lines)]);
    let came = crate::playback::came(ask(&means).await);
    let arguments: Vec<_> = came
        .calls
        .iter()
        .map(|call| call.arguments.as_str())
        .collect();
    assert_eq!(arguments, [r#"{"path": "a"}"#, r#"{"path": "b"}"#]);
    assert_ne!(came.calls[0].id, came.calls[1].id);
    let thought = &came.thoughts[0];
    assert_eq!(
        (thought.data.as_str(), thought.calls_at),
        (r#"{"n": 1}"#, 1)
    );
    assert_eq!(came.done, Some(Finish::ToolCalls));
}

#[tokio::test(start_paused = true)]
async fn a_request_beyond_the_pipe_limit_is_not_sent_to_the_program() {
    let (means, programs) = FakeProgram::saying(vec![], 0);
    let (_, provider) = open(fake::options(KIND, ""), &means).expect("a good entry");
    let mut request = fake::request();
    request.body = vec![b' '; STDIN_MAX + 1].into();
    let parts: Parts = provider.stream(request).collect().await;
    assert_eq!(error(&parts).kind, ErrorKind::ContextLength);
    assert!(programs.started.lock().expect("a lock").is_empty());
}

#[test]
fn an_entry_without_a_program_is_refused() {
    let refused = |change: fn(&mut ProviderOptions)| {
        let mut options = fake::options(KIND, "");
        change(&mut options);
        match open(options, &nothing()) {
            Ok(_) => panic!("opened"),
            Err(error) => error.to_string(),
        }
    };
    assert!(refused(|options| options.command.clear()).contains("command: names no program"));
    assert!(refused(|options| options.base_url = "https://a".to_owned()).contains("base_url"));
    assert!(
        refused(|options| options.headers = vec![("A".into(), "b".into())]).contains("headers")
    );
}
