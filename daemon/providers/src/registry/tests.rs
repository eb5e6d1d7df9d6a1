//! Opening entries.

use super::*;
use crate::fake::{self, nothing};

fn options() -> ProviderOptions {
    ProviderOptions {
        api_key_env: None,
        ..fake::options("openai", "https://api.acme.test/v1")
    }
}

fn refused(change: impl FnOnce(&mut ProviderOptions)) -> String {
    let mut options = options();
    change(&mut options);
    match open(options, &nothing()) {
        Ok(_) => panic!("opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_kind_of_the_registry_opens() {
    for kind in KINDS {
        let mut options = ProviderOptions {
            kind: (*kind).to_owned(),
            ..options()
        };
        if *kind == "command" {
            (options.base_url, options.command) = (String::new(), vec!["model".to_owned()]);
        }
        let opened = open(options, &nothing());
        assert!(opened.is_ok(), "{kind}");
    }
}

#[test]
fn a_wrong_entry_is_refused_by_name_and_key() {
    let message = refused(|options| options.kind = "carrier-pigeon".to_owned());
    assert_eq!(
        message,
        "provider `acme`: unknown kind `carrier-pigeon`; known kinds: openai, openai-responses, anthropic, command"
    );
    for base_url in ["", "api.acme.test", "ftp://a/b", "https://user:word@a/b"] {
        let message = refused(|options| options.base_url = base_url.to_owned());
        assert!(
            message.starts_with("provider `acme`: base_url: "),
            "{message}"
        );
        assert!(!message.contains("word@"), "{message}");
    }
    for (header, value) in [("a b", "c"), ("x-key", "secret\nvalue")] {
        let message =
            refused(|options| options.headers = vec![(header.to_owned(), value.to_owned())]);
        assert!(
            message.contains("headers") && message.contains(header) && !message.contains("secret"),
            "{message}"
        );
    }
    let message = refused(|options| {
        (options.kind, options.strict_roles) = ("anthropic".to_owned(), true);
    });
    assert!(
        message.starts_with("provider `acme`: strict_roles: "),
        "{message}"
    );
    for kind in ["openai", "command"] {
        let message = refused(|options| {
            (options.kind, options.server_compaction) = (kind.to_owned(), true);
        });
        assert!(
            message.starts_with("provider `acme`: server_compaction: only the APIs of"),
            "{message}"
        );
    }
    for (extra, reason) in [
        ("\"a\":", "not JSON members"),
        ("\"model\":1", "`model`"),
        ("}{", "not JSON members"),
    ] {
        let message = refused(|options| options.extra = extra.to_owned());
        assert!(
            message.contains("extra") && message.contains(reason),
            "{message}"
        );
    }
}
