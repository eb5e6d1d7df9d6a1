use super::*;
use crate::recover::RecoverPolicy::{Continue, Idle};

const WAIT: NextStep = NextStep::Wait { for_person: false };
const AWAIT: NextStep = NextStep::AwaitRestart { in_ms: 5 };
const FOR_PERSON: NextStep = NextStep::Wait { for_person: true };

fn end(outcome: OutcomeKind, reason: Option<Reason>, code: i32) -> Exit {
    Exit {
        outcome,
        reason,
        code,
    }
}

fn completed() -> Exit {
    end(OutcomeKind::Completed, None, 0)
}

fn cut_off() -> Exit {
    end(OutcomeKind::Interrupted, Some(Reason::Shutdown), 130)
}

fn by_term() -> Exit {
    end(OutcomeKind::Interrupted, Some(Reason::Term), 143)
}

fn killed() -> Exit {
    end(OutcomeKind::Killed, Some(Reason::User), 137)
}

fn prompt() -> PromptId {
    "00000000-0000-0000-0000-000000000001"
        .parse()
        .expect("a UUID")
}

/// Parses a situation: a moment, then the differences from an interactive session whose last turn was completed and
/// settled, with an empty queue.
fn situation(words: &str) -> Situation {
    let mut now = Situation {
        moment: DecisionMoment::Rest,
        stop: None,
        ended: Some(completed()),
        goal_ended: None,
        settled: true,
        headless: false,
        first: None,
        by_goal: false,
        over_budget: false,
        exited: false,
        woken: false,
        asked_since: false,
        rests: false,
        paused: false,
        suspending: false,
        user_command: false,
        restart_in_ms: 0,
    };
    for word in words.split_whitespace() {
        match word {
            "turn-ended" => (now.moment, now.settled) = (DecisionMoment::TurnEnded, false),
            "rest" => now.moment = DecisionMoment::Rest,
            "recovered-go-on" => now.moment = DecisionMoment::Recovered(Continue),
            "recovered-wait" => now.moment = DecisionMoment::Recovered(Idle),
            "INT" => now.stop = Some(StopReason::User),
            "TERM" => now.stop = Some(StopReason::Term),
            "KILL" => now.stop = Some(StopReason::Kill),
            "shutdown" => now.stop = Some(StopReason::Shutdown),
            "unsettled" => now.settled = false,
            "by-shutdown" => now.ended = Some(cut_off()),
            "by-term" => now.ended = Some(by_term()),
            "by-kill" => now.ended = Some(killed()),
            "no-turn" => now.ended = None,
            "headless" => now.headless = true,
            "prompt" => now.first = Some(prompt()),
            "goal" => (now.first, now.by_goal) = (Some(prompt()), true),
            "restart-waits" => now.restart_in_ms = 5,
            "goal-complete" => now.goal_ended = Some(completed()),
            "over-budget" => now.over_budget = true,
            "exited" => now.exited = true,
            "woken" => now.woken = true,
            "asked-since" => now.asked_since = true,
            "rests" => now.rests = true,
            "paused" => now.paused = true,
            "handing-over" => now.suspending = true,
            other => panic!("there is no word `{other}`"),
        }
    }
    now
}

#[test]
fn every_situation_has_its_next_step() {
    let start = NextStep::StartPrompt(prompt());
    let exit = NextStep::Exit;
    let stopped = NextStep::Exit(end(OutcomeKind::Killed, None, 137));
    let cases = [
        // A stop request that arrived meanwhile.
        ("turn-ended prompt KILL", stopped),
        ("rest prompt paused KILL", stopped),
        ("turn-ended headless TERM", exit(by_term())),
        ("rest prompt paused TERM", exit(by_term())),
        ("turn-ended prompt shutdown", FOR_PERSON),
        ("turn-ended headless prompt shutdown", FOR_PERSON),
        ("turn-ended headless shutdown", exit(completed())),
        ("turn-ended shutdown", WAIT),
        ("rest shutdown", FOR_PERSON),
        ("rest prompt shutdown", FOR_PERSON),
        ("turn-ended prompt INT", start),
        ("rest prompt INT", start),
        ("rest INT", WAIT),
        // The end of a turn.
        ("turn-ended", WAIT),
        ("turn-ended prompt", start),
        ("turn-ended headless", exit(completed())),
        ("turn-ended headless prompt", start),
        ("turn-ended by-term prompt", exit(by_term())),
        ("turn-ended by-kill prompt", exit(killed())),
        ("turn-ended by-shutdown", FOR_PERSON),
        ("turn-ended by-shutdown prompt", FOR_PERSON),
        ("turn-ended by-shutdown headless", exit(cut_off())),
        ("turn-ended by-shutdown headless prompt", FOR_PERSON),
        ("turn-ended by-shutdown goal-complete prompt", FOR_PERSON),
        ("turn-ended by-term goal-complete headless", exit(by_term())),
        (
            "turn-ended by-shutdown goal-complete headless",
            exit(completed()),
        ),
        ("turn-ended prompt over-budget", WAIT),
        ("turn-ended headless prompt over-budget", exit(completed())),
        ("turn-ended prompt paused", WAIT),
        ("turn-ended headless paused", exit(completed())),
        ("turn-ended prompt handing-over", WAIT),
        // Idle: a prompt, a raised budget, the end of a pause, a rewind or a compaction.
        ("rest", WAIT),
        ("rest prompt", start),
        ("rest no-turn prompt", start),
        ("rest headless", WAIT),
        ("rest unsettled headless", exit(completed())),
        (
            "rest unsettled headless prompt over-budget",
            exit(completed()),
        ),
        ("rest unsettled headless prompt", start),
        ("rest unsettled headless paused", WAIT),
        ("rest prompt rests", FOR_PERSON),
        ("rest prompt rests paused", FOR_PERSON),
        ("rest prompt over-budget", WAIT),
        ("rest prompt exited", WAIT),
        ("rest prompt exited woken", start),
        ("rest prompt paused", WAIT),
        ("rest prompt handing-over", WAIT),
        // A restart by the policy, before its time.
        ("turn-ended headless prompt restart-waits", AWAIT),
        ("rest goal restart-waits", AWAIT),
        ("rest unsettled headless restart-waits", exit(completed())),
        ("rest prompt restart-waits paused", WAIT),
        ("rest prompt restart-waits handing-over", WAIT),
        ("rest prompt restart-waits TERM", exit(by_term())),
        (
            "recovered-go-on unsettled headless prompt restart-waits",
            AWAIT,
        ),
        // A restart of the daemon.
        ("recovered-go-on", WAIT),
        ("recovered-go-on by-shutdown prompt", start),
        ("recovered-go-on unsettled headless", exit(completed())),
        ("recovered-go-on unsettled by-term prompt", exit(by_term())),
        ("recovered-go-on prompt exited", WAIT),
        ("recovered-go-on prompt exited woken", start),
        ("recovered-wait prompt", start),
        ("recovered-wait by-shutdown prompt", FOR_PERSON),
        ("recovered-wait by-shutdown prompt asked-since", start),
        ("recovered-wait unsettled headless", exit(completed())),
        ("recovered-wait unsettled by-kill", exit(killed())),
        ("recovered-wait prompt exited woken", FOR_PERSON),
    ];
    for (words, next) in cases {
        assert_eq!(next_after_turn(&situation(words)), next, "{words}");
    }
}

#[test]
fn nothing_starts_or_ends_against_the_rules_in_any_situation() {
    let moments = ["turn-ended", "rest", "recovered-go-on", "recovered-wait"];
    let stops = ["", "INT", "TERM", "KILL", "shutdown"];
    let ends = ["", "by-shutdown", "by-term", "by-kill", "no-turn"];
    let flags = [
        "unsettled",
        "headless",
        "prompt",
        "over-budget",
        "exited",
        "woken",
        "asked-since",
        "rests",
        "paused",
        "handing-over",
        "restart-waits",
    ];
    let kinds = moments.iter().flat_map(|moment| {
        let kinds = stops
            .iter()
            .flat_map(|stop| ends.map(|ended| (stop, ended)));
        kinds.map(move |(stop, ended)| format!("{moment} {stop} {ended}"))
    });
    for kind in kinds {
        for bits in 0..1_u32 << flags.len() {
            let set = flags.iter().enumerate();
            let set = set.filter(|(at, _)| bits & (1 << at) != 0);
            let set: Vec<_> = set.map(|(_, flag)| *flag).collect();
            let words = format!("{kind} {}", set.join(" "));
            let now = situation(&words);
            let ends_all = matches!(now.stop, Some(StopReason::Term | StopReason::Kill));
            match next_after_turn(&now) {
                NextStep::StartPrompt(first) => {
                    assert_eq!((Some(first), now.restart_in_ms), (now.first, 0), "{words}");
                    let held = now.paused || now.suspending || now.over_budget;
                    let left = now.exited && !now.woken;
                    assert!(!held && !left && !ends_all, "{words}");
                }
                NextStep::AwaitRestart { in_ms } => {
                    assert_eq!(in_ms, now.restart_in_ms, "{words}");
                    let held = now.paused || now.suspending || now.over_budget;
                    assert!(
                        now.first.is_some() && in_ms > 0 && !held && !ends_all,
                        "{words}"
                    );
                }
                NextStep::Exit(_) => assert!(ends_all || !now.settled, "{words}"),
                NextStep::Wait { .. } => assert!(!ends_all, "{words}"),
            }
        }
    }
}
