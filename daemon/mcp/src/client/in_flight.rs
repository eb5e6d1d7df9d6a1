//! Calls in flight on a connection, and which of them a request of its server belongs to. Pure: the caller passes the time.
//!
//! Over HTTP the stream on which a request comes names its call. Otherwise nothing does: then it is only assigned to the one
//! call in flight, and only if no other session's call can be the one that asks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proto::Pid;

/// How long after the answer to a call its server may still ask for it, against the protocol.
const LATE: Duration = Duration::from_secs(30);
/// How long a server may still work on a call that was given up, and ask for it.
const GIVEN_UP: Duration = Duration::from_secs(600);

/// What a request of a server comes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin<I> {
    /// It came on the stream of this request of ours.
    Request(I),
    /// Nothing says.
    Unknown,
}

/// The call that a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assignment<T> {
    Call(T),
    /// A call is just being sent; whether it is its own is known in a moment.
    NotYet,
    /// None: why, as a text for the server.
    None(String),
}

/// Calls of one connection. `I`: ids of requests. `T`: what a request of the server is given to.
#[derive(Debug)]
pub(super) struct CallsInFlight<I, T> {
    calls: Vec<Call<I, T>>,
    ended: BTreeMap<Pid, Ended>,
    /// Numbers calls.
    next: u64,
}

#[derive(Debug)]
struct Call<I, T> {
    number: u64,
    session: Pid,
    /// The request that its server works on.
    request: Option<I>,
    asks: T,
}

/// Calls of a session that are over.
#[derive(Clone, Copy, Debug)]
struct Ended {
    /// Until when their server may ask for one of them.
    until: Instant,
    /// Whether that one was given up.
    given_up: bool,
}

impl<I, T> Default for CallsInFlight<I, T> {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            ended: BTreeMap::new(),
            next: 0,
        }
    }
}

impl<I: PartialEq, T: Clone> CallsInFlight<I, T> {
    /// A call begins. Returns its number.
    pub(super) fn begin(&mut self, session: Pid, asks: T) -> u64 {
        self.next += 1;
        self.calls.push(Call {
            number: self.next,
            session,
            request: None,
            asks,
        });
        self.next
    }

    /// A request was sent for a call, or answered.
    pub(super) fn set_request(&mut self, number: u64, request: Option<I>) {
        let mut calls = self.calls.iter_mut();
        if let Some(call) = calls.find(|call| call.number == number) {
            call.request = request;
        }
    }

    /// A call is over. `now`: when.
    pub(super) fn end(&mut self, number: u64, now: Instant) {
        let Some(place) = self.calls.iter().position(|call| call.number == number) else {
            return;
        };
        let call = self.calls.remove(place);
        self.ended.retain(|_, ended| now < ended.until);
        // A request that is still open was given up: nobody waits for its answer any more.
        let given_up = call.request.is_some();
        let until = now
            + match given_up {
                true => GIVEN_UP,
                false => LATE,
            };
        let ended = Ended { until, given_up };
        let known = self.ended.entry(call.session).or_insert(ended);
        if known.until <= until {
            *known = ended;
        }
    }

    /// The call that a request of the server belongs to.
    pub(super) fn assign(&self, origin: &Origin<I>, now: Instant) -> Assignment<T> {
        if let Origin::Request(id) = origin {
            let mut calls = self.calls.iter();
            return match calls.find(|call| call.request.as_ref() == Some(id)) {
                Some(call) => Assignment::Call(call.asks.clone()),
                None if self.calls.iter().any(|call| call.request.is_none()) => Assignment::NotYet,
                None => unassigned("the call that it came with is over"),
            };
        }
        let [only] = self.calls.as_slice() else {
            let count = self.calls.len();
            return unassigned(&format!("{count} calls are in flight, not 1"));
        };
        let mut others = self.ended.iter();
        let other = others.find(|(pid, ended)| **pid != only.session && now < ended.until);
        let Some((_, ended)) = other else {
            return Assignment::Call(only.asks.clone());
        };
        let what = match ended.given_up {
            true => "was given up",
            false => "ended a moment ago",
        };
        unassigned(&format!(
            "a call of another session {what} and may be the one that asks; `shared = false` in its entry gives each session a server"
        ))
    }
}

fn unassigned<T>(reason: &str) -> Assignment<T> {
    Assignment::None(format!(
        "the question cannot be assigned to a call: {reason}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Calls = CallsInFlight<u32, &'static str>;

    fn unknown(calls: &Calls, now: Instant) -> Result<&'static str, String> {
        match calls.assign(&Origin::Unknown, now) {
            Assignment::Call(asks) => Ok(asks),
            Assignment::NotYet => Err("not yet".to_owned()),
            Assignment::None(reason) => Err(reason),
        }
    }

    #[test]
    fn request_of_a_server_goes_to_no_other_session_than_its_calls() {
        let now = Instant::now();
        let mut calls = Calls::default();
        assert!(unknown(&calls, now).is_err_and(|reason| reason.contains("0 calls")));
        let first = calls.begin(Pid(1), "first");
        calls.set_request(first, Some(10));
        assert_eq!(unknown(&calls, now), Ok("first"));
        let second = calls.begin(Pid(2), "second");
        calls.set_request(second, Some(20));
        assert!(unknown(&calls, now).is_err_and(|reason| reason.contains("2 calls")));
        calls.set_request(first, None);
        calls.end(first, now);
        assert!(unknown(&calls, now).is_err_and(|reason| reason.contains("a moment ago")));
        assert_eq!(unknown(&calls, now + LATE), Ok("second"));
        // The same session's own calls hinder nothing.
        calls.set_request(second, None);
        calls.end(second, now + LATE);
        calls.begin(Pid(2), "third");
        assert_eq!(unknown(&calls, now + LATE), Ok("third"));
    }

    #[test]
    fn call_that_was_given_up_keeps_other_sessions_from_being_asked() {
        let now = Instant::now();
        let mut calls = Calls::default();
        let given_up = calls.begin(Pid(1), "given up");
        calls.set_request(given_up, Some(10));
        calls.end(given_up, now);
        calls.begin(Pid(2), "other");
        // One that was answered after it changes nothing.
        let answered = calls.begin(Pid(1), "answered");
        calls.end(answered, now + LATE);
        let later = now + LATE * 5;
        assert!(unknown(&calls, later).is_err_and(|reason| reason.contains("was given up")));
        assert_eq!(unknown(&calls, now + GIVEN_UP), Ok("other"));
    }

    #[test]
    fn request_on_the_stream_of_a_call_goes_to_that_call_alone() {
        let now = Instant::now();
        let mut calls = Calls::default();
        let first = calls.begin(Pid(1), "first");
        let second = calls.begin(Pid(2), "second");
        calls.set_request(second, Some(20));
        let assign = |calls: &Calls, id| calls.assign(&Origin::Request(id), now);
        assert_eq!(assign(&calls, 20), Assignment::Call("second"));
        assert_eq!(assign(&calls, 10), Assignment::NotYet);
        calls.set_request(first, Some(10));
        assert_eq!(assign(&calls, 10), Assignment::Call("first"));
        calls.end(first, now);
        assert!(matches!(assign(&calls, 10), Assignment::None(_)));
    }
}
