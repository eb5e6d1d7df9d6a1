//! What an edit changes, and that it changes nothing else.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proptest::prelude::*;
use proto::params::config::ProviderSetParams;
use serde_json::json;

use super::*;
use crate::settings::{ProviderEntry, shipped};

struct TestHome {
    dir: tempfile::TempDir,
}

impl TestHome {
    fn new(text: &str) -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::write(place.file(), text).unwrap();
        place
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("config.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    fn set(&self, name: &str, value: Json) -> Result<(), Failure> {
        let value = Some(value).filter(|value| !value.is_null());
        super::set(
            &self.file(),
            key(name)?,
            value.as_ref(),
            Path::new("/home/ann"),
            &crate::settings::tests::known_tools(),
        )
    }

    fn provider(&self, params: &ProviderSetParams) -> Result<ProviderEntry, Failure> {
        provider(&self.file(), params, &|_| Ok(()))
    }
}

/// Before, the change, after.
fn check(before: &str, name: &str, value: Json, after: &str) {
    let place = TestHome::new(before);
    place
        .set(name, value)
        .unwrap_or_else(|failure| panic!("{before}: {failure:?}"));
    assert_eq!(place.text(), after);
}

const COMMENTED: &str = "\
# Mine.
default_model = \"a\" # the usual

[agent] # how it works
# Not too long.
max_steps = 5   # five
# The end of it.

[[providers]]
name = 'a'
";

#[test]
fn a_value_is_replaced_where_it_stands_and_comments_and_order_stay() {
    check(
        COMMENTED,
        "agent.max_steps",
        json!(9),
        &COMMENTED.replace("max_steps = 5 ", "max_steps = 9 "),
    );
    check(
        COMMENTED,
        "default_model",
        json!("b"),
        &COMMENTED.replace("\"a\"", "\"b\""),
    );
}

#[test]
fn a_value_that_is_taken_out_goes_with_its_line_alone() {
    check(
        COMMENTED,
        "agent.max_steps",
        Json::Null,
        &COMMENTED.replace("max_steps = 5   # five\n", ""),
    );
    check(
        "agent.max_steps = 5\nx = 1\n",
        "agent.max_steps",
        Json::Null,
        "x = 1\n",
    );
    check(
        "[permissions]\ndeny = [\n  'Bash(rm:*)', # no\n]\nmode = 'ask'\n",
        "permissions.deny",
        Json::Null,
        "[permissions]\nmode = 'ask'\n",
    );
    check(
        "agent = { max_steps = 5, x = 1 }\n",
        "agent.max_steps",
        Json::Null,
        "agent = { x = 1 }\n",
    );
    check(COMMENTED, "daemon.log", Json::Null, COMMENTED);
}

#[test]
fn an_edit_keeps_the_line_ends_of_windows() {
    let of_windows = |text: &str| text.replace('\n', "\r\n");
    let before =
        "# Mine.\n[agent]\nmax_steps = 9 # few\n\n# Of it.\ntool_rules = \"\"\"\none\ntwo\"\"\"\n";
    let before = before.replace("tool_rules", "unknown");
    for (name, value, was, is) in [
        ("agent.max_steps", json!(5), "= 9", "= 5"),
        (
            "agent.compact_ratio",
            json!(0.5),
            "two\"\"\"\n",
            "two\"\"\"\ncompact_ratio = 0.5\n",
        ),
        ("agent.max_steps", json!(null), "max_steps = 9 # few\n", ""),
    ] {
        let after = before.replace(was, is);
        check(&of_windows(&before), name, value, &of_windows(&after));
    }
}

#[test]
fn value_of_several_lines_stays_as_given_between_line_ends_of_windows() {
    let place = TestHome::new("# Mine.\r\n[agent]\r\nmax_steps = 9\r\n");
    place
        .set("agent.system_prompt", json!("one\ntwo\n"))
        .unwrap();
    let table: toml::Table = toml::from_str(&place.text()).unwrap();
    assert_eq!(table["agent"]["system_prompt"].as_str(), Some("one\ntwo\n"));
}

#[test]
fn taking_out_what_is_not_there_changes_nothing() {
    let before = "[agent]\r\n# One line end of Windows, one of others.\nmax_steps = 9\r\n";
    check(before, "agent.compact_ratio", json!(null), before);
    check(before, "tui.vim", json!(null), before);
}

#[test]
fn a_new_value_gets_its_table() {
    check("", "agent.max_steps", json!(9), "[agent]\nmax_steps = 9\n");
    check(
        "[agent]\nx = 1\n",
        "agent.max_steps",
        json!(9),
        "[agent]\nx = 1\nmax_steps = 9\n",
    );
    check(
        "agent = { x = 1 }\n",
        "agent.max_steps",
        json!(9),
        "agent = { x = 1 , max_steps = 9 }\n",
    );
    check(
        "[[providers]]\nname = 'a'",
        "agent.max_steps",
        json!(9),
        "[[providers]]\nname = 'a'\n\n[agent]\nmax_steps = 9\n",
    );
    check(
        "[tools.shell]\nprefer = 'auto'\n",
        "tools.bash_timeout_seconds",
        json!(9),
        "[tools]\nbash_timeout_seconds = 9\n[tools.shell]\nprefer = 'auto'\n",
    );
}

#[test]
fn a_value_that_is_not_allowed_says_what_is_and_changes_nothing() {
    for (name, value, words) in [
        (
            "agent.max_steps",
            json!("many"),
            "a whole number from 0 to 1000000",
        ),
        (
            "agent.max_steps",
            json!(-1),
            "a whole number from 0 to 1000000",
        ),
        ("permissions.mode", json!("never"), "one of ask, auto, yolo"),
        ("daemon.idle_exit_minutes", json!("x"), "a number from 0"),
        ("permissions.allow", json!("Bash"), "a list of rules"),
        ("permissions.deny", json!([1]), "a list of rules"),
        ("permissions.allow", json!(["Bash(("]), "a list of rules"),
        ("sandbox.allow_write", json!(["/"]), "the whole file system"),
        ("tools.pinned", json!(["greb"]), "did you mean `grep`?"),
        ("default_model", json!({"a": 1}), "a text"),
        ("tui.vim", json!("yes"), "must be true or false"),
        ("tui.bell", json!(1), "must be true or false"),
        ("tui.theme", json!(8), "one of auto, dark, light, 16, none"),
    ] {
        let place = TestHome::new(COMMENTED);
        let refused = place.set(name, value.clone()).expect_err(name);
        assert_eq!(refused.name, ErrorName::InvalidParams, "{name} {value}");
        assert!(refused.message.contains(words), "{}", refused.message);
        assert!(refused.message.contains(name), "{}", refused.message);
        assert_eq!(place.text(), COMMENTED);
    }
}

#[test]
fn a_flag_is_true_or_false_and_a_word_that_is_a_number_may_be_typed_as_one() {
    check("", "tui.vim", json!(true), "[tui]\nvim = true\n");
    let before = "[tui]\nbell = true # rings\n";
    check(
        before,
        "tui.bell",
        json!(false),
        "[tui]\nbell = false # rings\n",
    );
    check("", "tui.theme", json!(16), "[tui]\ntheme = 16\n");
    check("", "tui.theme", json!("16"), "[tui]\ntheme = \"16\"\n");
}

#[test]
fn a_setting_that_there_is_not_names_the_nearest() {
    let refused = key("agent.max_step").unwrap_err();
    assert!(
        refused.hint.contains("`agent.max_steps`"),
        "{}",
        refused.hint
    );
    let refused = key("max_steps").unwrap_err();
    assert!(
        refused.hint.contains("`agent.max_steps`"),
        "{}",
        refused.hint
    );
    let refused = key("providers.a.base_url").unwrap_err();
    assert!(refused.hint.contains("reasonix setup"), "{}", refused.hint);
    assert!(!key(&"x".repeat(100_000)).unwrap_err().hint.is_empty());
}

#[test]
fn a_file_that_is_no_toml_is_left_as_it_is_and_its_line_is_named() {
    let text = "[agent]\nmax_steps = 1\nmax_steps = 2\n";
    let place = TestHome::new(text);
    let refused = place.set("agent.max_steps", json!(9)).unwrap_err();
    assert_eq!(refused.name, ErrorName::InvalidConfig);
    assert!(refused.message.contains("line 3"), "{}", refused.message);
    assert_eq!(place.text(), text);
    let place = TestHome::new("agent = 3\n");
    let refused = place.set("agent.max_steps", json!(9)).unwrap_err();
    assert_eq!(refused.name, ErrorName::InvalidConfig);
    assert_eq!(place.text(), "agent = 3\n");
}

#[test]
fn the_file_is_private_and_a_link_stays_a_link() {
    let place = TestHome::new("");
    let real = place.dir.path().join("dotfiles.toml");
    std::fs::rename(place.file(), &real).unwrap();
    std::os::unix::fs::symlink(&real, place.file()).unwrap();
    place.set("agent.max_steps", json!(9)).unwrap();
    assert!(place.file().symlink_metadata().unwrap().is_symlink());
    let mode = std::fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("max_steps = 9")
    );
    assert_eq!(
        std::fs::read_dir(place.dir.path()).unwrap().count(),
        2,
        "nothing is left over"
    );
}

#[test]
fn there_need_be_no_file_yet() {
    let place = TestHome::new("");
    std::fs::remove_file(place.file()).unwrap();
    place.set("default_model", json!("a")).unwrap();
    assert_eq!(place.text(), "default_model = \"a\"\n");
}

#[test]
fn changes_at_once_lose_nothing() {
    let place = TestHome::new(COMMENTED);
    let names = [
        "agent.max_steps",
        "network.connect_seconds",
        "network.first_byte_seconds",
        "network.idle_seconds",
    ];
    std::thread::scope(|scope| {
        for name in names {
            let place = &place;
            scope.spawn(move || place.set(name, json!(7)).unwrap());
        }
    });
    let table: toml::Table = toml::from_str(&place.text()).unwrap();
    for name in names {
        let (section, name) = name.split_once('.').unwrap();
        assert_eq!(table[section][name].as_integer(), Some(7), "{name}");
    }
}

#[test]
fn a_new_provider_is_written_with_what_was_given() {
    let place = TestHome::new("# Mine.\n[agent]\nmax_steps = 3\n");
    let params = ProviderSetParams {
        name: "acme".into(),
        base_url: Some("https://acme.example/v1".into()),
        models: vec!["one".into(), "two".into()],
        default: Some("two".into()),
        api_key_env: Some("ACME_API_KEY".into()),
        make_default: true,
        ..ProviderSetParams::default()
    };
    let entry = place.provider(&params).unwrap();
    assert_eq!(entry.all_models(), ["two", "one"]);
    let text = place.text();
    assert!(text.contains("# Mine.\n[agent]\nmax_steps = 3\n"), "{text}");
    let loaded = crate::settings::load(
        place.dir.path(),
        None,
        Path::new("/nonexistent"),
        &crate::settings::tests::known_tools(),
    );
    assert_eq!(loaded.problems, Vec::<String>::new());
    let [written] = loaded.settings.providers.as_slice() else {
        panic!("{:?}", loaded.settings.providers)
    };
    assert!(written.is_same(&entry), "{written:?}");
    assert_eq!(loaded.settings.default_model.as_deref(), Some("acme"));
}

#[test]
fn a_provider_is_changed_by_its_name_and_the_rest_of_it_stays() {
    let before = "[[providers]]\nname = \"a\" # first\nkind = \"openai\"\nbase_url = \"https://a.example\"\nmodels = [\"one\"]\n\
        default = \"one\"\nheaders = { X-A = \"b\" } # mine\n\n[[providers]]\nname = \"b\"\nkind = \"openai\"\nmodels = [\"x\"]\n";
    let place = TestHome::new(before);
    let params = ProviderSetParams {
        name: "a".into(),
        base_url: Some("https://other.example".into()),
        models: vec!["two".into()],
        ..ProviderSetParams::default()
    };
    place.provider(&params).unwrap();
    let after = before
        .replace("https://a.example", "https://other.example")
        .replace("[\"one\"]", "[\"two\"]")
        .replace("default = \"one\"\n", "");
    assert_eq!(place.text(), after);
}

#[test]
fn of_a_shipped_name_the_shipped_values_are_written_out() {
    let place = TestHome::new("");
    let params = ProviderSetParams {
        name: "deepseek".into(),
        make_default: true,
        ..ProviderSetParams::default()
    };
    let entry = place.provider(&params).unwrap();
    let shipped = shipped::all().remove(0);
    assert_eq!(entry.base_url, shipped.base_url);
    assert_eq!(entry.all_models(), shipped.all_models());
    assert_eq!(entry.api_key_env, shipped.api_key_env);
    assert!(
        place
            .text()
            .contains("base_url = \"https://api.deepseek.com\""),
        "{}",
        place.text()
    );
    let local = ProviderSetParams {
        name: "ollama".into(),
        ..ProviderSetParams::default()
    };
    let refused = place.provider(&local).unwrap_err();
    assert!(refused.message.contains("no model"), "{}", refused.message);
    let chosen = ProviderSetParams {
        models: vec!["m:7b".into()],
        ..local
    };
    assert_eq!(place.provider(&chosen).unwrap().api_key_env, None);
}

#[test]
fn a_provider_that_could_not_be_used_is_not_written() {
    let good = ProviderSetParams {
        name: "a".into(),
        base_url: Some("https://a.example".into()),
        models: vec!["m".into()],
        ..ProviderSetParams::default()
    };
    let wrong = [
        ProviderSetParams {
            name: "a/b".into(),
            ..good.clone()
        },
        ProviderSetParams {
            name: String::new(),
            ..good.clone()
        },
        ProviderSetParams {
            kind: Some("telepathy".into()),
            ..good.clone()
        },
        ProviderSetParams {
            models: Vec::new(),
            ..good.clone()
        },
        ProviderSetParams {
            models: vec![" ".into()],
            ..good.clone()
        },
        ProviderSetParams {
            base_url: None,
            ..good.clone()
        },
        ProviderSetParams {
            api_key_env: Some("sk-canary".into()),
            ..good.clone()
        },
    ];
    for params in wrong {
        let place = TestHome::new(COMMENTED.split("[[providers]]").next().unwrap());
        let before = place.text();
        let refused = place.provider(&params).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidParams, "{params:?}");
        assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
        assert_eq!(place.text(), before);
    }
    let place = TestHome::new("providers = [{ name = \"a\" }]\n");
    assert_eq!(
        place.provider(&good).unwrap_err().name,
        ErrorName::InvalidConfig
    );
}

/// Pieces of config files, each valid by itself.
const PIECES: [&str; 9] = [
    "[agent]\n# why\nmax_steps = 3 # so\nother = 'x'\n",
    "[permissions]\ndeny = [\n 'Bash(rm:*)', # no\n]\n",
    "[daemon]\nlog = \"debug\"\n\n# A word at the end.\n",
    "[network]\n\tconnect_seconds = 2\r\n",
    "[[providers]]\nname = 'a'\nextra = { agent = { max_steps = 1 } }\n",
    "[tools.shell]\nprefer = 'auto'\n",
    "[unknown.table]\nmax_steps = 1\n",
    "# only words\n\n",
    "[[providers]]\nname = 'b'\n# ü\nmodels = ['m']\n",
];

proptest! {
    #[test]
    fn an_edit_sets_what_it_says_and_keeps_every_comment_and_every_other_value(
        pieces in proptest::sample::subsequence(PIECES.to_vec(), 0..PIECES.len()),
        steps in 0..100_i64,
        out in any::<bool>(),
        which in 0..4_usize,
    ) {
        let before = pieces.concat();
        let (name, path): (_, &[&str]) = [
            ("agent.max_steps", &["agent", "max_steps"][..]),
            ("tools.bash_timeout_seconds", &["tools", "bash_timeout_seconds"][..]),
            ("network.connect_seconds", &["network", "connect_seconds"][..]),
            ("network.idle_seconds", &["network", "idle_seconds"][..]),
        ][which];
        let steps = steps.max(1);
        let place = TestHome::new(&before);
        place.set(name, if out { Json::Null } else { json!(steps) }).unwrap();
        let after = place.text();
        prop_assert_eq!(others(&before, &[path]), others(&after, &[path]));
        let table: toml::Table = toml::from_str(&after).unwrap();
        let set = table.get(path[0]).and_then(|table| table.get(path[1])?.as_integer());
        prop_assert_eq!(set, (!out).then_some(steps));
        for comment in ["# why", "# no", "# A word at the end.", "# only words", "# ü"] {
            prop_assert_eq!(before.contains(comment), after.contains(comment), "{}", comment);
        }
    }
}
