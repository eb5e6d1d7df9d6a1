//! A connection from its first request to its end: keep the request, judge it, answer it or fail as the script says.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::answer::{Answer, Fault, Place, Usage};
use super::http::{Connection, Incoming};
use super::script::PlannedResponse;
use super::sse::Events;
use super::vendor_rule::VendorRule;
use super::wire::Wire;
use super::{Request, Shared};

/// Bytes of a token, and tokens of a block of the prefix cache.
const TOKEN: usize = 4;
const BLOCK: usize = 64;

pub async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let mut connection = Connection::new(stream);
    // An error is the other side's: it has gone. The next connection says more.
    while let Ok(Some(incoming)) = connection.read().await {
        if incoming.method == "GET" && incoming.path.ends_with("/models") {
            if list(&mut connection, &incoming.path, &shared)
                .await
                .is_err()
            {
                return;
            }
            continue;
        }
        let (request, known) = take(&incoming, &shared);
        let turn = Turn {
            shared: &shared,
            request: &request,
        };
        let served = if known {
            turn.serve(&mut connection).await
        } else {
            turn.refuse(&mut connection).await
        };
        shared.over();
        match served {
            Ok(After::Next) => {}
            Ok(After::Reset) => return connection.reset(),
            Ok(After::Close) => return,
            Err(_) => {
                shared.note(request.number, |served| served.dropped = true);
                return;
            }
        }
    }
}

/// Answers with the list of models, which counts as no request of a session; 404 where there is none, and at
/// another address than the endpoint's.
async fn list(connection: &mut Connection, path: &str, shared: &Shared) -> io::Result<()> {
    let listed = shared.state().listed.clone();
    shared.state().lists_asked += 1;
    let data: Vec<Value> = listed.iter().map(|id| json!({"id": id})).collect();
    match listed.is_empty() || !path.ends_with("/v1/models") {
        true => connection.reply(404, &[], "{}").await,
        false => {
            let body = json!({"data": data}).to_string();
            connection.reply(200, &[], &body).await
        }
    }
}

/// Keeps a request. True where it may be answered.
fn take(incoming: &Incoming, shared: &Shared) -> (Request, bool) {
    let json: Value = serde_json::from_slice(&incoming.body).unwrap_or_default();
    let served = Wire::of(&incoming.path).filter(|_| incoming.method == "POST");
    let wire = served.unwrap_or_default();
    let violation = if served.is_none() {
        Some(format!(
            "{} {} is not served here",
            incoming.method, incoming.path
        ))
    } else if !incoming
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
    {
        Some("the body is not said to be JSON".to_owned())
    } else if incoming.header("anthropic-beta") != wire.beta(&json) {
        Some(format!(
            "the beta of the request is {:?} and not {:?}",
            incoming.header("anthropic-beta"),
            wire.beta(&json)
        ))
    } else {
        let rule = shared.state().rule.filter(|_| wire == Wire::Chat);
        match rule {
            None => wire.check(&incoming.body).err(),
            Some(rule) => {
                let common = rule.without_own(json.clone()).to_string();
                let checked = rule.check(&json);
                checked.and_then(|()| wire.check(common.as_bytes())).err()
            }
        }
    };
    let known = violation.is_none();
    let request = Request {
        number: 0,
        body: incoming.body.clone().into(),
        wire,
        json: Arc::new(wire.as_chat(json)),
        authorization: incoming
            .header("authorization")
            .or_else(|| incoming.header("x-api-key"))
            .map(str::to_owned),
        beta: incoming.header("anthropic-beta").map(str::to_owned),
        violation,
    };
    (shared.keep(request), known)
}

/// What becomes of the connection.
enum After {
    Next,
    Reset,
    Close,
}

/// One request being answered.
struct Turn<'a> {
    shared: &'a Shared,
    request: &'a Request,
}

impl Turn<'_> {
    async fn refuse(&self, connection: &mut Connection) -> io::Result<After> {
        let why = self.request.violation.as_deref().unwrap_or_default();
        let body =
            json!({"error": {"message": why, "type": "invalid_request_error", "code": "strict"}});
        let rule = self.shared.state().rule;
        let status = rule.map_or(400, VendorRule::status);
        connection.reply(status, &[], &body.to_string()).await?;
        Ok(After::Next)
    }

    async fn serve(&self, connection: &mut Connection) -> io::Result<After> {
        let PlannedResponse {
            mut answer,
            fault,
            place,
        } = self.shared.state().script.plan(self.request);
        self.hold(connection, &answer, Place::Before).await?;
        match &fault {
            Some(Fault::HangUp) => return Ok(After::Close),
            Some(Fault::Status {
                status,
                retry_after,
                body,
            }) => {
                let headers: Vec<_> = retry_after
                    .iter()
                    .map(|after| ("retry-after", after.as_str()))
                    .collect();
                connection.reply(*status, &headers, body).await?;
                return Ok(After::Next);
            }
            Some(Fault::ErrorDocument(body)) => {
                connection.reply(200, &[], body).await?;
                return Ok(After::Next);
            }
            Some(Fault::CutArguments { by_limit }) => cut(&mut answer, *by_limit),
            Some(Fault::Reset | Fault::Eof | Fault::Stall | Fault::Malformed) | None => {}
        }
        let usage = answer.reports.then(|| self.usage(&answer));
        let wire = self.request.wire;
        let rule = self.shared.state().rule;
        let events = wire.events(&answer, self.request.number, usage, rule);
        connection.begin_stream().await?;
        let half = events.said.len().div_ceil(2).max(1);
        let (first, rest) = events.said.split_at(half);
        self.send(connection, &answer, first).await?;
        self.hold(connection, &answer, Place::Middle).await?;
        match fault {
            Some(Fault::Reset) => return Ok(After::Reset),
            Some(Fault::Eof) => return Ok(After::Close),
            Some(Fault::Stall) => {
                connection.gone().await;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Some(Fault::Malformed) => {
                let broken = r#"data: {"choices":[{"delta":{"content":"oo"#;
                connection.piece(format!("{broken}\n\n").as_bytes()).await?;
            }
            _ => {}
        }
        self.send(connection, &answer, rest).await?;
        self.hold(connection, &answer, Place::End).await?;
        let advance = fault.is_none();
        self.finish(connection, &events, usage, place.filter(|_| advance))
            .await
    }

    async fn finish(
        &self,
        connection: &mut Connection,
        events: &Events,
        usage: Option<Usage>,
        place: Option<usize>,
    ) -> io::Result<After> {
        // Both before the last byte leaves: what follows from it may come back at once.
        self.shared.state().script.done(self.request, place);
        self.shared.note(self.request.number, |served| {
            (served.whole, served.usage) = (true, usage);
        });
        connection.piece(events.end.concat().as_bytes()).await?;
        connection.end_stream().await?;
        Ok(After::Next)
    }

    /// Sends events: at their pace, or together where there is none.
    async fn send(
        &self,
        connection: &mut Connection,
        answer: &Answer,
        events: &[String],
    ) -> io::Result<()> {
        if answer.pace.is_zero() {
            for some in events.chunks(64) {
                connection.piece(some.concat().as_bytes()).await?;
            }
            return Ok(());
        }
        for event in events {
            tokio::time::sleep(answer.pace).await;
            connection.piece(event.as_bytes()).await?;
        }
        Ok(())
    }

    /// Waits at the gates of a place; an error where the other side goes in the meantime.
    async fn hold(
        &self,
        connection: &mut Connection,
        answer: &Answer,
        place: Place,
    ) -> io::Result<()> {
        for (_, gate) in answer.gates.iter().filter(|(at, _)| *at == place) {
            tokio::select! {
                () = gate.pass() => {}
                () = connection.gone() => return Err(io::ErrorKind::ConnectionAborted.into()),
            }
        }
        Ok(())
    }

    /// The answer's own usage, or one made up from sizes and the best prefix of an earlier request.
    fn usage(&self, answer: &Answer) -> Usage {
        if let Some(usage) = answer.usage {
            return usage;
        }
        let body = &self.request.body;
        let state = self.shared.state();
        let earlier = &state.requests[..self.request.number - 1];
        let shared = |other: &Request| {
            body.iter()
                .zip(other.body.iter())
                .take_while(|(one, two)| one == two)
                .count()
        };
        let best = earlier.iter().map(shared).max().unwrap_or(0);
        let said: usize = answer.text.len()
            + answer.reasoning.len()
            + answer
                .calls
                .iter()
                .map(|call| call.arguments.len())
                .sum::<usize>();
        Usage {
            prompt: (body.len() / TOKEN) as u64,
            cached: (best / TOKEN / BLOCK * BLOCK) as u64,
            output: said.div_ceil(TOKEN) as u64,
            reasoning: (answer.reasoning.len() / TOKEN) as u64,
        }
    }
}

/// Breaks the last call's arguments off in their middle.
fn cut(answer: &mut Answer, by_limit: bool) {
    if let Some(call) = answer.calls.last_mut() {
        let half = (0..=call.arguments.len() / 2)
            .rev()
            .find(|at| call.arguments.is_char_boundary(*at));
        call.arguments.truncate(half.unwrap_or(0).max(1));
    }
    if by_limit {
        answer.finish = Some("length".to_owned());
    }
}
