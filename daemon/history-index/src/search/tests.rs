use serde_json::json;

use super::*;
use crate::fixture::IndexFixture;
use crate::window::window;

#[test]
fn messages_are_found_by_any_word_best_first() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    one.user("Fix the login of the website");
    one.assistant("The login works again, the website too.");
    one.tool("login: command not found");
    let mut two = past.session(2, "/b");
    two.user("数据库连接失败，怎么办");
    two.assistant("请检查数据库的密码");
    for session in [&mut one, &mut two] {
        session.save();
    }
    assert_eq!(past.found("website login").len(), 3);
    assert_eq!(
        past.found("fixing websites")[0],
        "Fix the login of the website"
    );
    assert_eq!(past.found("数据库").len(), 2);
    assert_eq!(past.found("密码"), ["请检查数据库的密码"]);
    assert_eq!(past.found("库").len(), 2);
    assert!(past.found("据密").is_empty());
    assert_eq!(past.search("LOGIN").hits[0].snippet.marks.len(), 1);
    assert!(past.found("-:*( ^absent").is_empty());
}

#[test]
fn run_of_a_script_without_blanks_that_is_nowhere_whole_is_found_by_its_words() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    one.user("登录的时候失败了，需要检查配置文件和权限的设置");
    one.user("在policy模块里用serde_json解析");
    one.user("登录失败");
    one.save();
    let first = "登录的时候失败了，需要检查配置文件和权限的设置";
    assert_eq!(past.found("登录失败"), ["登录失败"], "whole runs alone");
    for query in ["权限设置", "检查权限", "登录设置"] {
        assert_eq!(past.found(query)[0], first, "{query}");
    }
    for query in ["模块policy", "serde解析"] {
        assert_eq!(
            past.found(query),
            ["在policy模块里用serde_json解析"],
            "{query}"
        );
    }
    assert!(past.found("policy-serde").is_empty(), "words with a hyphen");
    assert!(
        past.found("\"权限设置\"").is_empty(),
        "a phrase is a phrase"
    );
    assert!(!past.search("权限设置").hits[0].snippet.marks.is_empty());
}

#[test]
fn phrases_and_words_are_ranked_together() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    for number in 0..30 {
        one.user(&format!("line number {number}, then two"));
    }
    one.user("it is line two of the layout");
    one.user("see line two");
    one.user("the layout alone");
    one.save();
    let mut two = past.session(2, "/b");
    two.user("line two is elsewhere");
    two.save();
    let query = "\"line two\" layout absent";
    let mut found = past.found(query);
    assert_eq!(found.remove(0), "it is line two of the layout");
    found.sort();
    assert_eq!(
        found,
        ["line two is elsewhere", "see line two", "the layout alone"]
    );
    let there = past.search_with(query, |wanted| {
        wanted.scope = SearchScope::Root("/b".into());
    });
    assert_eq!((there.hits.len(), there.matches), (1, 1));
}

#[test]
fn scope_role_and_time_narrow_the_search() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    one.user("needle of the user");
    let late = one.at;
    one.tool("needle of a tool");
    one.save();
    let mut two = past.session(2, "/b");
    two.user("needle elsewhere");
    two.save();
    let count = |change: &dyn Fn(&mut Search)| {
        past.search_with("needle", |wanted| change(wanted))
            .hits
            .len()
    };
    assert_eq!(count(&|_| {}), 3);
    assert_eq!(
        count(&|wanted| wanted.scope = SearchScope::Root("/a".into())),
        2
    );
    assert_eq!(
        count(&|wanted| wanted.scope = SearchScope::Session(two.session)),
        1
    );
    assert_eq!(count(&|wanted| wanted.role = Some(MessageRole::Tool)), 1);
    assert_eq!(count(&|wanted| wanted.since = Some(Stamp(late + 1))), 2);
    assert_eq!(count(&|wanted| wanted.limit = 1), 1);
    assert_eq!(past.search("needle").matches, 3);
}

#[test]
fn what_a_rewind_hides_is_not_found_until_it_is_undone() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    let first = one.user("needle one");
    one.assistant("needle two");
    one.put(
        "session.rewound",
        &json!({"to_turn": 0, "what": "conversation", "shown": [[1, first]], "by": "ann"}),
    );
    one.user("needle three");
    one.save_and_notify(&past);
    assert_eq!(past.found("needle"), ["needle three", "needle one"]);
    let seen = window(&past.home, one.session, Seq(first), (5, 5)).unwrap();
    assert_eq!(seen.messages.len(), 2);
    let last = one.seq;
    one.put("session.rewound", &json!({"to_turn": 1, "what": "conversation", "shown": [[1, last]], "undoes": 4, "by": "ann"}));
    one.save_and_notify(&past);
    assert_eq!(past.found("needle").len(), 3);
}

#[test]
fn a_window_is_bounded_and_says_what_is_beyond() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    let places: Vec<u64> = (0..9)
        .map(|number| one.user(&format!("message {number}")))
        .collect();
    one.save();
    past.feed.start();
    past.settle();
    let seen = window(&past.home, one.session, Seq(places[4]), (2, 1)).unwrap();
    let texts: Vec<&str> = seen
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(texts, ["message 2", "message 3", "message 4", "message 5"]);
    assert!(seen.has_earlier && seen.has_later);
    let all = window(&past.home, one.session, Seq(places[0]), (2, 50)).unwrap();
    assert_eq!(
        (all.messages.len(), all.has_earlier, all.has_later),
        (9, false, false)
    );
    let beyond = window(&past.home, one.session, Seq(one.seq + 1), (2, 2)).unwrap();
    assert!(beyond.messages.is_empty());
    assert!(
        window(&past.home, SessionId::new(), Seq(1), (2, 2))
            .unwrap()
            .messages
            .is_empty()
    );
}

#[test]
fn a_changed_log_gives_no_wrong_text() {
    let past = IndexFixture::new();
    let mut one = past.session(1, "/a");
    one.user("needle one");
    one.save();
    past.feed.start();
    past.settle();
    let path = past
        .home
        .session_dir(one.session)
        .join(store::log::LOG_NAME);
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("needle one", "needle two");
    std::fs::write(&path, text).unwrap();
    // Its checksum does not fit any more.
    assert!(past.found("needle").is_empty());
}
