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
        "PGPASSWORD",
        "PGPASS",
        "SMTP_PASS",
        "GPG_PASSPHRASE",
    ] {
        assert!(secret_name(name), "{name}");
    }
    for name in [
        "PATH",
        "EDITOR",
        "LD_PRELOAD",
        "PWD",
        "COMPASS",
        "BYPASS_CACHE",
        "",
    ] {
        assert!(!secret_name(name), "{name}");
    }
}

#[test]
fn a_value_that_carries_a_password_is_known_whatever_its_name() {
    for value in [
        "postgres://ann:hunter2@db.example/shop",
        "redis://:hunter2@localhost:6379/0",
        "mongodb+srv://ann:hunter2@a.example,b.example/x?w=1",
        "http://ann:hunter2@proxy.example:3128",
        "mysql://root:pa/ss@db.example/x",
        "postgres://ann:a#b@db.example/shop",
        "postgres://ann:a?b@db.example/shop",
        "postgres://ann:a'b@db.example/shop",
        "mysql://root:99999/s@db.example/x",
        "https://ghp_0123456789abcdefghij@github.com/a/b",
        "https://glpat-0123456789abcdefghij@gitlab.example/a/b.git",
        "jdbc:postgresql://db.example/shop?user=ann&password=hunter2",
        "ann:hunter2@tcp(127.0.0.1:3306)/shop",
        "ann:hunter2@tcp(db.example)/shop?x=a@b",
        "Server=db.example;User Id=ann;Password=hunter2;",
        "host=db.example dbname=shop password=hunter2",
        "DefaultEndpointsProtocol=https;AccountName=ann;AccountKey=abc==",
    ] {
        assert!(secret_value(value), "{value}");
    }
    for value in [
        "",
        "postgres://localhost/shop",
        "postgres://ann@localhost:5432/shop",
        "ssh://git@example.org:22/a.git",
        "ssh://git@example.org/a.git",
        "git@example.org:a/b.git",
        "git+ssh://git@example.org:a/b.git@v1",
        "https://example.org/@scope/package",
        "http://[::1]:8080/@scope",
        "mongodb://a.example:1,b.example:2/x?mail=a@b",
        "http://a.example:80 and a/b@c",
        "https://registry.example:8443/@scope/package",
        "https://example.org/a:b@c",
        "/usr/bin:/bin",
        "image:1@sha256:abc",
        "() {  local pwd=$PWD; user=$1\n}",
        "-Xmx1g -Dpassword=x",
        "password=",
    ] {
        assert!(!secret_value(value), "{value}");
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn variables_in_the_pass_list_are_shared_except_provider_keys() {
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
        assert_eq!(held_back(name, "", &keys, &pass), held, "{name}");
    }
    let address = "redis://:hunter2@localhost";
    assert!(held_back("REDIS_URL", address, &keys, &pass));
    assert!(!held_back(
        "REDIS_URL",
        address,
        &keys,
        &texts(&["REDIS_*"])
    ));
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
