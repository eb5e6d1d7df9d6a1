//! Queries in English and Chinese with the hits that a user expects first, in 10,000 sessions; and that no match is lost,
//! compared with a look at every message.

use std::collections::BTreeSet;

use crate::database;
use crate::fixture::IndexFixture;

const SESSIONS: u64 = 10_000;
const MESSAGES: usize = 3;
/// One session in this many contains a golden message.
const GOLDEN_INTERVAL: u64 = 1_000;

const ENGLISH: [&str; 40] = [
    "the", "a", "of", "to", "in", "file", "test", "error", "function", "build", "server", "client",
    "request", "answer", "config", "value", "string", "number", "line", "path", "module", "crate",
    "branch", "commit", "merge", "review", "cache", "token", "prompt", "model", "parser", "thread",
    "socket", "buffer", "index", "query", "schema", "table", "column", "row",
];
const CHINESE: [&str; 20] = [
    "文件",
    "测试",
    "错误",
    "函数",
    "构建",
    "服务器",
    "客户端",
    "请求",
    "回答",
    "配置",
    "数值",
    "字符串",
    "模块",
    "分支",
    "提交",
    "缓存",
    "模型",
    "线程",
    "索引",
    "查询",
];

/// Messages with rare words, and the queries whose first hit they are.
const GOLDEN: [(&str, &[&str]); 10] = [
    (
        "The deadlock in the connection pool came from a lock held across an await point",
        &[
            "deadlock connection pool",
            "why was there a deadlock",
            "lock await",
        ],
    ),
    (
        "Use exponential backoff with jitter when the vendor answers 429",
        &[
            "exponential backoff",
            "jitter 429",
            "backing off exponentially",
        ],
    ),
    (
        "We decided to keep timestamps in UTC and show local time only in the client",
        &[
            "timestamps UTC",
            "local time decision utc",
            "\"local time\"",
        ],
    ),
    (
        "The migration renames `user_account` to `tenant_member`",
        &["user_account", "tenant_member migration", "rename tenant"],
    ),
    (
        "Run `cargo nextest run --profile nightly` before a release",
        &["nextest", "cargo nextest nightly", "--profile nightly"],
    ),
    (
        "数据库死锁是因为连接池在等待时持有锁",
        &["数据库死锁", "死锁", "连接池 锁"],
    ),
    (
        "支付回调必须验证签名，否则会被伪造",
        &["支付回调", "验证签名", "签名 伪造"],
    ),
    (
        "登录页面的验证码在夜间模式下看不清",
        &["验证码", "夜间模式", "登录页面"],
    ),
    (
        "把 Redis 的过期时间改成三十分钟",
        &["redis 过期时间", "三十分钟", "过期"],
    ),
    (
        "検索結果の並び順を関連度に変更した",
        &["並び順", "検索結果", "関連度"],
    ),
];

/// The same numbers each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % end as u64).unwrap()
    }

    fn text(&mut self) -> String {
        let chinese = self.below(3) == 0;
        let count = 5 + self.below(20);
        let words = (0..count).map(|_| {
            // A word of a few messages only.
            if self.below(40) == 0 {
                return format!("rare{}", self.below(3_000));
            }
            match chinese {
                true => {
                    CHINESE[self.below(CHINESE.len()).min(self.below(CHINESE.len()))].to_owned()
                }
                false => {
                    ENGLISH[self.below(ENGLISH.len()).min(self.below(ENGLISH.len()))].to_owned()
                }
            }
        });
        let words: Vec<String> = words.collect();
        words.join(if chinese { "" } else { " " })
    }
}

/// Fills a past, and returns all texts.
fn fill(past: &IndexFixture) -> Vec<String> {
    let (mut numbers, mut texts) = (Numbers(7), Vec::new());
    for pid in 1..=SESSIONS {
        let mut session = past.session(pid, "/a");
        for place in 0..MESSAGES {
            let golden = usize::try_from(pid / GOLDEN_INTERVAL).unwrap();
            let text = match GOLDEN.get(golden) {
                Some((text, _)) if pid % GOLDEN_INTERVAL == 1 && place == 1 => (*text).to_owned(),
                _ => numbers.text(),
            };
            match place % 3 {
                0 => session.user(&text),
                1 => session.assistant(&text),
                _ => session.tool(&text),
            };
            texts.push(text);
        }
        session.save();
    }
    texts
}

/// Whether a text has a word, by looking at it: whole words, and anything within scripts without blanks.
fn has(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let spaced = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    text.match_indices(&word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let goes_on_before = spaced(before) && spaced(word.chars().next());
        let goes_on_after = spaced(after) && spaced(word.chars().next_back());
        !goes_on_before && !goes_on_after
    })
}

#[test]
fn golden_queries_and_full_recall_over_ten_thousand_sessions_also_after_a_rebuild() {
    let mut past = IndexFixture::new();
    let texts = fill(&past);
    past.feed.start();
    past.settle();
    check_golden(&past);
    let before = check_recall(&past, &texts);
    past.restart();
    database::remove(&past.home).unwrap();
    past.settle();
    check_golden(&past);
    assert_eq!(check_recall(&past, &texts), before);
}

fn check_golden(past: &IndexFixture) {
    for (text, queries) in GOLDEN {
        for query in queries {
            let found = past.search(query);
            let first = found.hits.first().map(|hit| hit.snippet.text.as_str());
            assert_eq!(first, Some(text), "first hit of `{query}`");
        }
    }
}

/// Compares the index with a look at every message, for one word each. Returns the places that were found.
fn check_recall(past: &IndexFixture, texts: &[String]) -> Vec<BTreeSet<(u64, u64)>> {
    let rare = (0..12).map(|number| format!("rare{}", number * 37));
    let words = [
        "the",
        "column",
        "buffer",
        "文件",
        "查询",
        "务器",
        "器",
        "字符串",
        "求回",
    ]
    .map(str::to_owned);
    let mut all = Vec::new();
    for word in words.into_iter().chain(rare) {
        let expected = texts.iter().filter(|text| has(text, &word)).count();
        let found = past.search_with(&word, |wanted| wanted.limit = texts.len());
        assert!(!found.has_too_many);
        let places: BTreeSet<(u64, u64)> = found
            .hits
            .iter()
            .map(|hit| (hit.pid.0, hit.seq.0))
            .collect();
        assert_eq!(
            (places.len(), found.matches),
            (expected, expected as u64),
            "matches of `{word}`"
        );
        all.push(places);
    }
    all
}
