//! How long it takes to find words in all that was ever said, and to make the index of it.

use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::{Value, json};

use super::Size;
use super::endpoint::Endpoint;
use super::grown::{Sample, settle};
use super::table::{Figure, median, ms, p95, plain};
use crate::{House, Raw};

/// Messages of a session.
const SESSION: usize = 1_000;

/// Queries that are asked.
const QUERIES: u64 = 60;

/// How long the index may take to be made before the figures are given up.
const BUILD_MAX: Duration = Duration::from_secs(1_800);

/// Words that a prompt has beside its own.
const ENGLISH: [&str; 16] = [
    "deadlock",
    "parser",
    "backoff",
    "migration",
    "socket",
    "latency",
    "fixture",
    "snapshot",
    "cursor",
    "quota",
    "branch",
    "schema",
    "retry",
    "timeout",
    "layout",
    "token",
];
const CHINESE: [&str; 16] = [
    "数据库",
    "连接池",
    "死锁",
    "缓存",
    "索引",
    "线程",
    "配置",
    "分支",
    "回调",
    "签名",
    "登录",
    "验证码",
    "测试",
    "超时",
    "重试",
    "布局",
];

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    let sample = Sample::make(&house, &endpoint, 10);
    let turns = (SESSION.min(size.messages / 10) / sample.messages).max(1);
    let sessions = size.messages.div_ceil(turns * sample.messages) as u64;
    for session in 0..sessions {
        sample.put(&house, session + 2, turns, |turn| words(session, turn));
    }
    settle(&house, sessions as usize + 1);
    let messages = sessions as usize * turns * sample.messages;
    let (mut raw, building) = build(&house);
    let (mut times, mut is_whole) = (Vec::new(), true);
    for number in 0..QUERIES.min(size.starts as u64 * 6) {
        let begun = Instant::now();
        let found = ask(&mut raw, &query(number, sessions, turns));
        times.push(begun.elapsed());
        is_whole &= found["hits"][0].is_object() && found["indexing"].is_null();
    }
    let value = |time: Duration| {
        let whole = if is_whole {
            ""
        } else {
            " (not all was searched)"
        };
        format!("{}{whole}", ms(time.as_secs_f64()))
    };
    let rate = messages as f64 / building.as_secs_f64();
    vec![
        plain(
            "history search over 1,000,000 messages, mix of queries, p95",
            value(p95(times.clone())),
            "50 ms",
        ),
        plain("… median", value(median(times)), "–"),
        plain(
            "… messages that the index takes in when it is made",
            format!("{rate:.0}/s"),
            "10,000/s",
        ),
    ]
}

/// Has the index made from nothing. Returns how long that took.
fn build(house: &House) -> (Raw, Duration) {
    house.kill_daemon_and_parent();
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        drop(std::fs::remove_file(house.home().join(name)));
    }
    house.daemon();
    let mut raw = house.raw_as(Role::Watch);
    let begun = Instant::now();
    while !ask(&mut raw, "nothing")["indexing"].is_null() {
        assert!(begun.elapsed() < BUILD_MAX, "the index is not made in time");
    }
    (raw, begun.elapsed())
}

/// The words of a turn: one that no other has, and some that a few percent of the turns have.
fn words(session: u64, turn: usize) -> String {
    let turn = turn as u64;
    let pick = |words: &[&'static str; 16], by: u64| {
        words[usize::try_from((session * 31 + turn * by) % 16).unwrap_or(0)]
    };
    let (english, chinese) = (pick(&ENGLISH, 7), pick(&CHINESE, 5));
    format!(
        "needle{session}x{turn}y {english} {chinese}{}",
        pick(&CHINESE, 3)
    )
}

/// The mix: a word that one message has, alone and beside common ones; words of many messages; Chinese words; a phrase; a
/// word that more than 20,000 messages have.
fn query(number: u64, sessions: u64, turns: usize) -> String {
    let needle = format!("needle{}x{}y", number * sessions / QUERIES, turns / 2);
    let english = ENGLISH[usize::try_from(number % 16).unwrap_or(0)];
    let chinese = CHINESE[usize::try_from(number % 16).unwrap_or(0)];
    match number % 6 {
        0 => needle,
        1 => format!("{needle} line"),
        2 => format!("{english} timeout"),
        3 => chinese.to_owned(),
        4 => format!("\"line two\" {english} {chinese}"),
        _ => "line".to_owned(),
    }
}

fn ask(raw: &mut Raw, query: &str) -> Value {
    let found = raw.call("history.search", &json!({"query": query}));
    found.expect("an answer")
}
