use std::path::Path;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Servers {
    Servers::from_json(text, Path::new("/p/.mcp.json"), ConfigScope::Project)
}

fn names(servers: &Servers) -> Vec<&str> {
    servers.servers.iter().map(|server| &*server.name).collect()
}

#[test]
fn mark_of_the_encoding_at_the_start_of_a_file_is_ignored() {
    let found = read("\u{feff}{\"mcpServers\": {\"srv\": {\"command\": \"x\"}}}");
    assert_eq!(names(&found), ["srv"]);
    assert_eq!(found.problems, Vec::<String>::new());
}

#[test]
fn a_bad_entry_is_dropped_with_its_reason_and_the_others_work() {
    let found = read(
        r#"{"mcpServers": {
            "good": {"command": "srv", "args": ["-x"], "env": {"A": "1"}},
            "web": {"type": "http", "url": "https://h/mcp", "headers": {"X": "y"}},
            "both": {"command": "srv", "url": "https://h"},
            "none": {},
            "old": {"type": "sse", "url": "https://h/sse"},
            "odd": {"command": "srv", "colour": "red"},
            "a__b": {"command": "srv"},
            "a b": {"command": "srv"},
            "num": {"command": 7},
            "args": {"command": "srv", "args": "x"},
            "policy": {"command": "srv", "shared": "no"},
            "text": "srv",
            "ftp": {"url": "ftp://h/mcp"},
            "address": {"command": "ftp://user:pw@h"},
            "words": {"url": "https://h/mcp", "args": ["x"]},
            "ws": {"type": "ws", "url": "wss://h"},
            "late": {"command": "srv", "timeout_seconds": 0},
            "far": {"url": "https://h/mcp", "sandbox": true},
            "walled": {"command": "srv", "sandbox": true},
            "open": {"command": "srv", "sandbox": false}
        }}"#,
    );
    assert_eq!(names(&found), ["good", "web", "walled", "open"]);
    let sandboxed = found.servers.iter().map(|server| server.sandbox);
    assert_eq!(sandboxed.collect::<Vec<_>>(), [false, false, true, false]);
    let wanted = [
        ("\"both\"", "both `command` and `url`"),
        ("\"none\"", "needs `command` or `url`"),
        ("\"old\"", "streamable HTTP"),
        ("\"odd\"", "unknown field `colour`"),
        ("\"a__b\"", "`__`"),
        ("\"a b\"", "letters"),
        ("\"num\"", "`command`: invalid type"),
        (
            "\"args\"",
            "`args`: invalid type: string \"x\", expected a list",
        ),
        ("\"policy\"", "`shared`: invalid type"),
        ("\"text\"", "must be an object with `command` or `url`"),
        ("\"ftp\"", "must begin with `http://`"),
        ("\"address\"", "`ftp://…` is an address, not a program"),
        ("\"words\"", "`args` (words after an address)"),
        ("\"ws\"", "`stdio` or `http`"),
        ("\"late\"", "timeout"),
        ("\"far\"", "is not started here"),
    ];
    assert_eq!(found.problems.len(), wanted.len(), "{:#?}", found.problems);
    for (problem, (name, reason)) in found.problems.iter().zip(wanted) {
        assert!(
            problem.starts_with("/p/.mcp.json: ")
                && problem.contains(name)
                && problem.contains(reason),
            "{problem}"
        );
    }
}

/// Otherwise one who has agreed to a sandboxed server would get one with all their rights.
#[test]
fn servers_that_differ_in_their_sandbox_share_neither_hash_nor_line() {
    let one = |sandbox: bool| {
        let entry = serde_json::json!({"command": "srv", "sandbox": sandbox});
        let text = serde_json::json!({"mcpServers": {"s": entry}}).to_string();
        read(&text).servers.remove(0)
    };
    assert_ne!(one(true), one(false));
    assert_ne!(one(true).hash(), one(false).hash());
    assert_eq!(one(true).line(), "MCP server s: runs in the sandbox srv");
    assert_eq!(one(false).line(), "MCP server s: runs srv");
}

#[test]
fn the_password_of_an_address_is_stars_in_lists() {
    for (url, shown) in [
        ("http://user:pw@h:1/mcp", "http://user:***@h:1/mcp"),
        ("https://user:p@w@h", "https://user:***@h"),
        ("https://user@h/a:b@c", "https://user@h/a:b@c"),
        ("https://h/mcp?a=b:c@d", "https://h/mcp?a=b:c@d"),
        ("${URL}", "${URL}"),
    ] {
        assert_eq!(without_password(url), shown);
    }
}

#[test]
fn a_file_that_is_not_understood_is_one_problem() {
    for text in ["", "[]", "{", r#"{"servers": {}}"#, r#"{"mcpServers": []}"#] {
        let found = read(text);
        assert_eq!(
            (found.servers.len(), found.problems.len()),
            (0, 1),
            "{text}"
        );
    }
}

#[test]
fn a_plugin_in_toml_comes_before_one_of_the_same_name_in_json() {
    let mut toml = Servers::default();
    let file = Path::new("/h/config.toml");
    toml.take_toml(
        "name = \"good\"\ncommand = \"mine\"\nshared = false\n",
        file,
        ConfigScope::User,
        "/h/config.toml:3",
    );
    toml.take_toml(
        "command = \"mine\"\n",
        file,
        ConfigScope::User,
        "/h/config.toml:9",
    );
    toml.take_toml(
        "name = \"x\"\ncolour = 1\n",
        file,
        ConfigScope::User,
        "/h/config.toml:12",
    );
    assert_eq!(toml.problems.len(), 2, "{:?}", toml.problems);
    let all = toml.or(read(
        r#"{"mcpServers": {"good": {"command": "theirs"}, "b": {"command": "b"}}}"#,
    ));
    assert_eq!(names(&all), ["good", "b"]);
    let first = all.servers.first().unwrap();
    assert!(!first.shared && first.line().contains("mine"));
    assert!(
        all.problems
            .iter()
            .any(|problem| problem.contains("already configured"))
    );
}

#[test]
fn variables_are_replaced_and_an_unset_one_is_named() {
    let variable = |name: &str| (name == "SET").then(|| "value".to_owned());
    for (text, wanted) in [
        ("a${SET}b", "avalueb"),
        ("${SET:-x}", "value"),
        ("${UNSET:-x y}", "x y"),
        ("${UNSET:-}", ""),
        ("$SET $ {SET} ${ SET } ${", "$SET $ {SET} ${ SET } ${"),
        ("${SET}${SET}", "valuevalue"),
    ] {
        assert_eq!(expand(text, &variable).as_deref(), Ok(wanted), "{text}");
    }
    let error = expand("${UNSET}", &variable).unwrap_err();
    assert!(error.contains("`UNSET`"), "{error}");
}

#[test]
fn what_is_shown_to_trust_has_everything_that_a_change_could_be_in() {
    let found = read(
        r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "a b"], "env": {"TOKEN": "${GITHUB_TOKEN}"}},
        "b": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${T}"}}}}"#,
    );
    let lines: Vec<_> = found.servers.iter().map(ServerConfig::line).collect();
    assert_eq!(
        lines,
        [
            r#"MCP server a: runs npx -y "a b", TOKEN="${GITHUB_TOKEN}""#,
            r#"MCP server b: connects to https://h/mcp, Authorization="Bearer ${T}""#
        ]
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        let _ = read(&text);
        let mut servers = Servers::default();
        servers.take_toml(&text, Path::new("/f"), ConfigScope::User, "/f:1");
        let _ = expand(&text, &|_| None);
    }

    #[test]
    fn a_text_without_variables_stays_as_it_is(text in "[^$]{0,80}") {
        let expanded = expand(&text, &|_| None);
        prop_assert_eq!(expanded.as_deref(), Ok(text.as_str()));
    }
}

#[test]
fn a_client_registered_by_hand_is_read_and_its_secret_is_no_text_of_a_file() {
    let found = read(
        r#"{"mcpServers": {
            "camel": {"url": "https://h/mcp", "oauth": {"clientId": "a", "callbackPort": 8080}},
            "snake": {"url": "https://h/mcp", "oauth": {"client_id": "b", "client_secret": "${B_SECRET}"}},
            "port": {"url": "https://h/mcp", "oauth": {"callback_port": 9}},
            "open": {"url": "https://h/mcp", "oauth": {"client_id": "c", "client_secret": "canary"}},
            "half": {"url": "https://h/mcp", "oauth": {"client_secret": "${X}"}},
            "zero": {"url": "https://h/mcp", "oauth": {"callback_port": 0}},
            "odd": {"url": "https://h/mcp", "oauth": {"colour": 1}},
            "program": {"command": "srv", "oauth": {"client_id": "d"}}
        }}"#,
    );
    assert_eq!(names(&found), ["camel", "snake", "port"]);
    assert_eq!(found.problems.len(), 5, "{:#?}", found.problems);
    assert!(!found.problems.join("\n").contains("canary"));
    let oauth = |at: usize| found.servers[at].oauth.clone().unwrap();
    assert_eq!(oauth(0).id.as_deref(), Some("a"));
    assert_eq!(
        (oauth(0).callback_port, oauth(2).callback_port),
        (Some(8080), Some(9))
    );
    let snake = &found.servers[1];
    assert!(
        snake.line().contains("client_secret=\"${B_SECRET}\""),
        "{}",
        snake.line()
    );
    let expanded = snake.expanded(&|_| Some("value".to_owned())).unwrap();
    assert_eq!(expanded.oauth.unwrap().secret.as_deref(), Some("value"));
    assert!(snake.expanded(&|_| None).unwrap_err().contains("B_SECRET"));
    let mut other = snake.clone();
    other.oauth = None;
    assert_ne!(snake.hash(), other.hash());
}
