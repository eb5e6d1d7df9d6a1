//! Scenes for names.

use super::*;

#[test]
fn a_secret_is_known_by_its_name_in_whatever_case() {
    for name in [
        "DEEPSEEK_API_KEY",
        "github_token",
        "My_Secret_Thing",
        "DB_PASSWORD",
        "MYSQL_PASSWD",
        "passwd",
    ] {
        assert!(secret_name(name), "{name}");
    }
    for name in ["PATH", "EDITOR", "LD_PRELOAD", "PWD", ""] {
        assert!(!secret_name(name), "{name}");
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn what_is_named_passes_and_a_providers_key_never_does() {
    let keys = texts(&["ACME_API_KEY", "PLAIN_NAME"]);
    let pass = texts(&[
        "NPM_TOKEN",
        "CI_*_KEY",
        "LD_LIBRARY_PATH",
        "ACME_*",
        "PLAIN_NAME",
    ]);
    for (name, held) in [
        ("NPM_TOKEN", false),
        ("npm_token", true),
        ("NPM_TOKEN_2", true),
        ("CI_DEPLOY_KEY", false),
        ("CI_KEY", true),
        ("LD_LIBRARY_PATH", false),
        ("LD_PRELOAD", true),
        ("DYLD_INSERT_LIBRARIES", true),
        ("ACME_TOKEN", false),
        ("ACME_API_KEY", true),
        ("PLAIN_NAME", true),
        ("EDITOR", false),
    ] {
        assert_eq!(held_back(name, &keys, &pass), held, "{name}");
    }
}

#[test]
fn a_star_stands_for_any_letters() {
    for (pattern, name, is) in [
        ("*", "", true),
        ("*", "A", true),
        ("A*", "A", true),
        ("A*A", "A", false),
        ("A*A", "ABA", true),
        ("*B*B", "ABXB", true),
        ("*B*B", "AB", false),
        ("A", "AB", false),
        ("", "A", false),
    ] {
        assert_eq!(fits(pattern, name), is, "{pattern} {name}");
    }
}
