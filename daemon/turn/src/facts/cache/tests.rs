//! Expected cache hits, request by request.

use contract::provider::Reported;
use proptest::prelude::*;
use proto::item::Finish;
use proto::params::session::When;
use proto::record::{Level, MissCause, PromptQueued, Purpose, Usage};
use proto::reset::CacheReset;
use proto::state::Kind;
use proto::{Body, ItemId, Record};

use crate::tests::made::{created, prompt_id};
use crate::{Answer, Effect, Facts, Input, Limits, Machine, Now};

/// A session whose model answers without calls, one turn per answer.
pub(crate) struct Talk {
    pub machine: Machine,
    pub now: Now,
    pub log: Vec<Record>,
    prompts: u64,
}

impl Talk {
    pub fn new() -> Self {
        Self::with(Limits::default())
    }

    pub fn with(limits: Limits) -> Self {
        let mut talk = Self {
            machine: Machine::new(Facts::default(), limits),
            now: Now::default(),
            log: Vec::new(),
            prompts: 0,
        };
        talk.record(Body::SessionCreated(created(Kind::Interactive, 0, 0)));
        talk
    }

    pub fn record(&mut self, body: Body) {
        let effects = self.machine.record(body, self.now);
        self.keep(effects);
    }

    fn step(&mut self, input: Input) {
        let effects = self.machine.step(input, self.now);
        self.keep(effects);
    }

    fn keep(&mut self, effects: Vec<Effect>) {
        let records = effects.into_iter().filter_map(|effect| match effect {
            Effect::Append(record) => Some(record),
            _ => None,
        });
        self.log.extend(records);
    }

    /// The daemon restarts and folds the log.
    pub fn restart(&mut self, limits: Limits) {
        self.machine = Machine::new(Facts::fold(&self.log), limits);
    }

    /// Runs a turn: a prompt, and an answer with this usage. Returns the logged usage.
    pub fn ask(&mut self, reported: Option<Reported>) -> Usage {
        self.now.wall.0 += 1_000;
        self.answered(Answer {
            reported,
            ..Answer::default()
        })
    }

    pub fn answered(&mut self, answer: Answer) -> Usage {
        self.begin();
        self.step(Input::Answered(Box::new(Answer {
            text: "Done.".into(),
            finish: Some(Finish::Stop),
            ..answer
        })));
        self.newest()
    }

    /// Runs a prompt up to its request.
    fn begin(&mut self) {
        self.prompts += 1;
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            references: None,
            on_ask: None,
            prompt_id: prompt_id(self.prompts),
            text: "Go on.".into(),
            steer: false,
            by: "ann".into(),
            request_id: None,
        };
        self.step(Input::Prompt {
            prompt,
            when: When::Queue,
        });
    }

    fn newest(&self) -> Usage {
        let usage = self.log.iter().rev().find_map(|record| match &record.body {
            Body::Usage(usage) => Some(usage.clone()),
            _ => None,
        });
        usage.expect("it was answered")
    }

    pub fn reset(&mut self) {
        let reason = "rewind".into();
        self.record(Body::CacheReset(CacheReset {
            reason,
            ..CacheReset::default()
        }));
    }

    /// Advances the time.
    fn wait(&mut self, ms: i64) {
        self.now.wall.0 += ms;
    }

    /// The notices so far.
    fn reported(&self) -> Vec<(Level, String)> {
        let notices = self.log.iter().filter_map(|record| match &record.body {
            Body::Notice(notice) => Some((notice.level, notice.text.clone())),
            _ => None,
        });
        notices.collect()
    }
}

/// Usage with this many prompt tokens, of which this many came from the cache.
pub(crate) fn took(prompt_tokens: u64, cached_tokens: u64) -> Option<Reported> {
    Some(Reported {
        prompt_tokens,
        cached_tokens,
        ..Reported::default()
    })
}

#[test]
fn the_prompt_before_is_expected_in_whole_blocks() {
    let mut talk = Talk::new();
    assert_eq!(talk.ask(took(1_000, 0)).expected_cached, None);
    assert_eq!(talk.ask(took(1_300, 0)).expected_cached, Some(896));
    assert_eq!(talk.ask(took(1_500, 0)).expected_cached, Some(1_280));
    // The provider counts fewer tokens than before.
    assert_eq!(talk.ask(took(600, 0)).expected_cached, Some(512));
}

#[test]
fn cache_expectation_is_none_after_reset_or_without_reports() {
    let mut talk = Talk::new();
    talk.ask(took(1_000, 0));
    talk.reset();
    assert_eq!(talk.ask(took(1_000, 0)).expected_cached, None);
    assert_eq!(talk.ask(None).expected_cached, None);
    assert_eq!(talk.ask(took(1_000, 0)).expected_cached, None);
    assert_eq!(talk.ask(took(1_000, 0)).expected_cached, Some(896));
    // Requests to another model, and side requests, have no expectation.
    let other = |change: fn(&mut Usage), talk: &Talk| {
        let mut usage = talk.newest();
        change(&mut usage);
        talk.machine.facts().cache.expected(&usage, 128)
    };
    assert_eq!(other(|_| {}, &talk), Some(896));
    assert_eq!(other(|usage| usage.model = "n".into(), &talk), None);
    assert_eq!(other(|usage| usage.provider = "q".into(), &talk), None);
    assert_eq!(other(|usage| usage.purpose = Purpose::Summary, &talk), None);
}

#[test]
fn side_requests_do_not_replace_the_previous_request() {
    let mut talk = Talk::new();
    let mut usage = talk.ask(took(1_000, 0));
    usage.purpose = Purpose::Summary;
    usage.prompt_tokens = 9_000;
    usage.item = ItemId("aside".into());
    talk.record(Body::Usage(usage));
    assert_eq!(talk.ask(took(1_300, 0)).expected_cached, Some(896));
}

/// The reported cause for a request of 10,000 tokens of which `cached` were served, this long after an equal one.
fn cause(ttl_ms: u64, gap_ms: i64, cached: u64) -> Option<MissCause> {
    let mut talk = Talk::with(Limits {
        cache_ttl_ms: ttl_ms,
        ..Limits::default()
    });
    talk.ask(took(10_000, 0));
    talk.ask(took(10_000, 9_984));
    talk.wait(gap_ms - 1_000);
    let usage = talk.ask(took(10_000, cached));
    let reported = talk.reported();
    assert_eq!(reported.len(), usize::from(usage.cache_miss.is_some()));
    let miss = usage.cache_miss?;
    assert_eq!(Some(miss.gap_ms), u64::try_from(gap_ms).ok());
    Some(miss.cause)
}

#[test]
fn a_miss_has_a_cause() {
    const MINUTE: i64 = 60_000;
    let far = 4_991;
    assert_eq!(cause(0, MINUTE, 9_984), None);
    assert_eq!(cause(0, MINUTE, 4_992), None);
    assert_eq!(cause(0, MINUTE, far), Some(MissCause::Vendor));
    assert_eq!(cause(0, 5 * MINUTE, far), Some(MissCause::Vendor));
    assert_eq!(cause(0, 6 * MINUTE, far), Some(MissCause::ProbablyExpired));
    assert_eq!(cause(60_000, MINUTE, 0), Some(MissCause::Vendor));
    assert_eq!(cause(60_000, 2 * MINUTE, 0), Some(MissCause::Expired));
    assert_eq!(cause(3_600_000, 30 * MINUTE, 0), Some(MissCause::Vendor));
}

#[test]
fn small_shortfalls_are_not_misses() {
    let mut talk = Talk::new();
    talk.ask(took(1_100, 0));
    talk.ask(took(1_100, 1_000));
    // With 1,024 tokens expected, missing a thousand does not count, missing all does.
    assert_eq!(talk.ask(took(1_100, 24)).cache_miss, None);
    assert!(talk.ask(took(1_100, 0)).cache_miss.is_some());
}

#[test]
fn providers_that_report_no_cache_use_are_not_blamed() {
    let mut talk = Talk::new();
    assert_eq!(talk.ask(took(9_000, 0)).cache_miss, None);
    let usage = talk.ask(took(9_500, 0));
    let cause = usage.cache_miss.map(|miss| miss.cause);
    assert_eq!(cause, Some(MissCause::NotReported));
    assert_eq!(talk.reported(), []);
}

#[test]
fn cache_reports_of_one_provider_do_not_count_for_another() {
    let mut talk = Talk::new();
    talk.ask(took(9_000, 0));
    let mut usage = talk.ask(took(9_000, 8_960));
    let mut causes = Vec::new();
    // The model changes, then changes back.
    for provider in ["q", "q", "q", "p", "p"] {
        let changes = usage.provider != provider;
        if changes {
            talk.reset();
        }
        usage.provider = provider.into();
        usage.cached_tokens = 0;
        let cache = &talk.machine.facts().cache;
        usage.expected_cached = cache.expected(&usage, 128);
        let miss = cache.miss(&usage, talk.now.wall, 0, None);
        causes.push(miss.map(|miss| miss.cause));
        talk.record(Body::Usage(usage.clone()));
    }
    let silent = Some(MissCause::NotReported);
    assert_eq!(
        causes,
        [None, silent, silent, None, Some(MissCause::Vendor)]
    );
}

#[test]
fn each_miss_cause_is_reported_once_per_session() {
    let mut talk = Talk::new();
    talk.ask(took(9_000, 0));
    talk.ask(took(9_000, 8_960));
    // A second empty answer in the same turn follows the first.
    talk.begin();
    for _ in 0..2 {
        talk.now.wall.0 += 1_000;
        talk.step(Input::Answered(Box::new(Answer {
            reported: took(9_000, 0),
            finish: Some(Finish::Stop),
            ..Answer::default()
        })));
    }
    let missed = talk
        .log
        .iter()
        .filter(|record| matches!(&record.body, Body::Usage(usage) if usage.cache_miss.is_some()));
    assert_eq!(missed.count(), 2);
    assert_eq!(talk.reported().len(), 1);
    // In the next turn only the status line shows it.
    talk.ask(took(9_000, 0));
    assert_eq!(talk.reported().len(), 1);
}

#[test]
fn rewritten_bytes_are_our_fault_whatever_was_served() {
    for reported in [took(10_000, 9_984), took(10_000, 0), None] {
        let mut talk = Talk::new();
        talk.ask(took(10_000, 0));
        let usage = talk.answered(Answer {
            reported,
            rewritten: Some("message 3".into()),
            ..Answer::default()
        });
        let miss = usage.cache_miss.expect("it is recorded");
        assert_eq!(miss.cause, MissCause::Ours);
        assert_eq!(miss.differs.as_deref(), Some("message 3"));
        let [(level, text)] = &talk.reported()[..] else {
            panic!("it is told once: {:?}", talk.reported());
        };
        assert_eq!(*level, Level::Error);
        assert!(
            text.contains("Bug in Reasonix") && text.contains("message 3"),
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any usage, and wherever the daemon restarts, the expectation is the same, in whole blocks, and never larger
    /// than either request.
    #[test]
    fn restart_does_not_change_cache_expectations(
        reported in prop::collection::vec((any::<u64>(), prop::bool::weighted(0.9), any::<bool>()), 1..20),
        block in 1_u64..4_096,
    ) {
        let limits = Limits { cache_block: block, ..Limits::default() };
        let (mut steady, mut restarted) = (Talk::with(limits), Talk::with(limits));
        let mut before = None;
        for (prompt, reported, resets) in reported {
            let reported = reported.then(|| took(prompt, 0)).flatten();
            restarted.restart(limits);
            let usage = steady.ask(reported);
            prop_assert_eq!(&usage, &restarted.ask(reported));
            match (before, usage.expected_cached) {
                (Some(before), Some(expected)) => {
                    prop_assert!(expected % block == 0 && expected <= prompt && expected <= before);
                    prop_assert!(prompt.min(before) - expected < block);
                }
                (_, Some(_)) => prop_assert!(false, "nothing came before it"),
                (Some(_), None) => prop_assert!(reported.is_none() || prompt == 0),
                (None, None) => {}
            }
            before = reported.map(|_| prompt).filter(|prompt| *prompt > 0);
            if resets && prompt % 5 == 0 {
                steady.reset();
                restarted.reset();
                before = None;
            }
        }
    }
}

#[test]
fn context_is_estimated_if_the_provider_reports_nothing() {
    let mut talk = Talk::new();
    talk.answered(Answer {
        request_bytes: 7_000,
        ..Answer::default()
    });
    let facts = talk.machine.facts();
    assert_eq!(
        (facts.context_tokens, facts.context_estimated),
        (2_000, true)
    );
    talk.ask(took(300, 0));
    let facts = talk.machine.facts();
    assert_eq!(
        (facts.context_tokens, facts.context_estimated),
        (300, false)
    );
}
