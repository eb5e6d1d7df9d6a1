//! Logs that are longer than a bench would wait for: of a session that was real, with its last turn again and again; and
//! homes with many of them. Written by the document of the format alone (`docs/log-format.md`).

use std::fs;

use proto::hello::Role;
use proto::methods::DaemonStatus;
use proto::params::Empty;
use proto::{Pid, SessionId};

use super::endpoint::{Endpoint, Round};
use super::load;
use crate::House;
use crate::wait::until;

/// A word of the sample's last prompt in whose place each turn gets a word of its own.
const MARK: &str = "markword";

// Placeholders in a template for its variable parts. No log has these bytes: JSON escapes them.
const TURN: char = '\u{1}';
const UNIQUE: char = '\u{2}';
const WORD: char = '\u{3}';
const SESSION: char = '\u{4}';
const PID: char = '\u{5}';

/// A session's log, taken apart.
pub struct Sample {
    /// Up to the last prompt.
    head: Vec<Template>,
    /// From there on: the repeated part.
    turn: Vec<Template>,
    /// The number of that turn.
    number: u64,
    /// Messages in it.
    pub messages: usize,
}

/// A line without number, watermark and checksum.
struct Template {
    /// From after the number up to the watermark.
    start: String,
    /// After the watermark.
    rest: String,
}

/// What a log is made of besides its lines.
struct Values<'a> {
    session: &'a str,
    pid: u64,
}

impl Sample {
    /// A session of this house with one answer, and a turn of so many rounds of one read. The daemon is stopped.
    pub fn make(house: &House, endpoint: &Endpoint, reads: usize) -> Self {
        house.files("//- read_0.txt\nline one\nline two\nline three\n");
        house.daemon();
        let mut raw = house.raw_as(Role::Drive);
        let session = load::create(house, &mut raw, "test", None);
        endpoint.play(vec![Round::Words(24)]);
        load::prompt(&mut raw, &session, "go on");
        let mut script = vec![Round::Reads(1); reads];
        script.push(Round::Words(40));
        endpoint.play(script);
        load::prompt(&mut raw, &session, &format!("Look for {MARK} there."));
        drop(raw);
        house.stop_daemon();
        Self::of(house, Pid(1))
    }

    /// The log of a stored session.
    pub fn of(house: &House, pid: Pid) -> Self {
        let log = house.log(pid);
        let session = log.created().session.to_string();
        let text = fs::read_to_string(&log.path).expect("the sample");
        let last = log
            .lines
            .iter()
            .rposition(|line| line.kind == "prompt.queued");
        let last = last.expect("a prompt");
        let number = log.lines[last..].iter().find_map(|line| line.turn);
        let number = number.expect("a turn");
        let templates = text.lines().map(|line| Template::of(line, &session, pid));
        let mut head: Vec<_> = templates.collect();
        let mut turn = head.split_off(last);
        for template in &mut turn {
            template.vary(number);
        }
        let said = log.lines[last..].iter();
        Self {
            head,
            turn,
            number,
            messages: said
                .filter(|line| line.kind.starts_with("message."))
                .count(),
        }
    }

    /// Records of a log with so many turns of the repeated kind.
    pub fn records(&self, turns: usize) -> usize {
        self.head.len() + self.turn.len() * turns
    }

    /// Puts a session with so many turns of the repeated kind into the house; the size of its log. `word`: a word in
    /// the prompt of each of them.
    pub fn put(
        &self,
        house: &House,
        pid: u64,
        turns: usize,
        word: impl Fn(usize) -> String,
    ) -> u64 {
        let id = SessionId::new().to_string();
        let values = Values { session: &id, pid };
        let mut log = String::new();
        let (mut seq, mut durable) = (0, 0);
        for template in &self.head {
            seq += 1;
            template.write(&mut log, &values, [seq, 0], 0, "");
        }
        for turn in 0..turns {
            let word = word(turn);
            for template in &self.turn {
                seq += 1;
                let number = self.number + turn as u64;
                template.write(&mut log, &values, [seq, durable], number, &word);
            }
            durable = seq;
        }
        let directory = house.home().join("sessions").join(&id);
        fs::create_dir(&directory).expect("a session's directory");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&directory, mode).expect("close it");
        fs::write(directory.join("log.jsonl"), &log).expect("a log");
        log.len() as u64
    }

    /// How many turns of the repeated kind make a log of about so many bytes.
    pub fn turns_of(&self, bytes: usize) -> usize {
        let size = |lines: &[Template]| -> usize {
            let sizes = lines
                .iter()
                .map(|line| line.start.len() + line.rest.len() + 40);
            sizes.sum()
        };
        (bytes.saturating_sub(size(&self.head)) / size(&self.turn)).max(1)
    }
}

/// Starts the daemon of a house into which sessions were put, and waits until its catalog has all `count` of them.
pub fn settle(house: &House, count: usize) {
    fs::write(house.home_file("pid.next"), format!("{}", count + 1)).expect("the next pid");
    // The catalog is made from the logs; that is done before anything is measured.
    fs::remove_file(house.home_file("reasonix.db")).expect("an old catalog");
    house.daemon();
    until("the catalog to have all sessions", || {
        let stored = house.block_on(async {
            let client = house.client("bench", Role::Watch).await;
            let status = client.call::<DaemonStatus>(&Empty {}).await;
            status.map_or(0, |status| status.sessions.stored)
        });
        (stored == count as u64).then_some(())
    });
}

impl Template {
    fn of(line: &str, session: &str, pid: Pid) -> Self {
        let (line, _) = line.rsplit_once(",\"crc\":").expect("a line with a crc");
        let (_, rest) = line.split_once(',').expect("a number");
        let (start, rest) = rest.split_once(",\"durable\":").expect("a watermark");
        let (_, rest) = rest.split_once(',').expect("what follows it");
        let pid = format!("\"pid\":{pid},");
        Self {
            start: start.to_owned(),
            rest: rest.replace(session, &SESSION.to_string()).replacen(
                &pid,
                &format!("\"pid\":{PID},"),
                1,
            ),
        }
    }

    /// The variable parts of each turn: its number, ids of prompt and request, and the word.
    fn vary(&mut self, turn: u64) {
        let numbered = format!("\"turn\":{turn}");
        self.start = self.start.replace(&numbered, &format!("\"turn\":{TURN}"));
        self.rest = self
            .rest
            .replace(&format!("\"m{turn}."), &format!("\"m{TURN}."))
            .replace(MARK, &WORD.to_string());
        for member in ["\"prompt_id\":\"", "\"request_id\":\""] {
            let mut from = 0;
            // Of an id of 36 characters the last twelve.
            while let Some(at) = self.rest[from..].find(member) {
                let tail = from + at + member.len() + 24;
                self.rest
                    .replace_range(tail..tail + 12, &UNIQUE.to_string());
                from = tail;
            }
        }
    }

    fn write(
        &self,
        log: &mut String,
        values: &Values<'_>,
        [seq, durable]: [u64; 2],
        turn: u64,
        word: &str,
    ) {
        let begun = log.len();
        log.push_str(&format!("{{\"seq\":{seq},"));
        fill(log, &self.start, values, turn, word);
        log.push_str(&format!(",\"durable\":{durable},"));
        fill(log, &self.rest, values, turn, word);
        let crc = crc32c::crc32c(&log.as_bytes()[begun..]);
        log.push_str(&format!(",\"crc\":\"{crc:08x}\"}}\n"));
    }
}

/// Appends a text with what belongs into it.
fn fill(log: &mut String, text: &str, values: &Values<'_>, turn: u64, word: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(|character| character <= PID) {
        log.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            1 => log.push_str(&turn.to_string()),
            2 => log.push_str(&format!("{turn:012x}")),
            3 => log.push_str(word),
            4 => log.push_str(values.session),
            _ => log.push_str(&values.pid.to_string()),
        }
        rest = &rest[at + 1..];
    }
    log.push_str(rest);
}
