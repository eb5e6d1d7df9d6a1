//! What is kept, what is refused, and that no key is ever shown.

use std::os::unix::fs::PermissionsExt;

use super::*;

const CANARY: &str = "canary-51c0ffee";

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

#[test]
fn a_key_is_kept_private_found_again_and_forgotten() {
    let home = tempfile::tempdir().unwrap();
    let kept = set(
        home.path(),
        "ACME_API_KEY",
        Some(&secret(&format!(" {CANARY}\n"))),
    )
    .unwrap();
    set(home.path(), "OTHER_API_KEY", Some(&secret("two"))).unwrap();
    let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let own = Own::open(home.path(), BTreeMap::new());
    let (key, from) = own.get("ACME_API_KEY").unwrap();
    assert_eq!((key.expose(), from), (CANARY, KeyFrom::Store));
    set(home.path(), "ACME_API_KEY", None).unwrap();
    set(home.path(), "ACME_API_KEY", None).unwrap();
    let own = Own::open(home.path(), BTreeMap::new());
    assert!(!own.has("ACME_API_KEY") && own.has("OTHER_API_KEY"));
    assert!(!std::fs::read_to_string(kept).unwrap().contains(CANARY));
}

#[test]
fn what_is_nearest_to_the_work_counts_first() {
    let home = tempfile::tempdir().unwrap();
    set(home.path(), "PATH", Some(&secret("stored"))).unwrap();
    let dotenv = BTreeMap::from([("PATH".to_owned(), secret("dotenv"))]);
    let get = |dotenv| Own::open(home.path(), dotenv).get("PATH").unwrap();
    assert_eq!(get(dotenv), (secret("dotenv"), KeyFrom::Dotenv));
    assert_eq!(get(BTreeMap::new()), (secret("stored"), KeyFrom::Store));
    set(home.path(), "PATH", None).unwrap();
    assert_eq!(get(BTreeMap::new()).1, KeyFrom::Environment);
}

#[test]
fn no_error_quotes_a_key() {
    let home = tempfile::tempdir().unwrap();
    let long = CANARY.repeat(1000);
    let wrong = [
        // Pasted in the wrong place.
        (CANARY, None),
        ("", Some("k")),
        ("1ABC", Some("k")),
        ("A=B", Some("k")),
        ("A_KEY", Some("")),
        ("A_KEY", Some(long.as_str())),
        ("A_KEY", Some("canary-51c0ffee canary-51c0ffee")),
        ("A_KEY", Some("canary-51c0ffee\u{7}")),
    ];
    for (variable, key) in wrong {
        let refused = set(home.path(), variable, key.map(secret).as_ref()).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidParams);
        assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
        assert!(!refused.hint.is_empty());
    }
    assert!(!path(home.path()).exists());
}

#[test]
fn a_store_that_cannot_be_read_is_left_as_it_is_and_told_without_its_keys() {
    let home = tempfile::tempdir().unwrap();
    for text in [
        format!("A_KEY = \"one\"\nB_KEY = {CANARY}\n"),
        format!("A_KEY = [\"{CANARY}\"]\n"),
    ] {
        std::fs::write(path(home.path()), &text).unwrap();
        let refused = set(home.path(), "C_KEY", Some(&secret("k"))).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidConfig);
        let told = format!("{refused:?} {:?}", problem(home.path()));
        assert!(!told.contains("canary"), "{told}");
        assert_eq!(std::fs::read_to_string(path(home.path())).unwrap(), text);
    }
    std::fs::write(path(home.path()), "A_KEY = \"one\"\nA_KEY = \"two\"\n").unwrap();
    assert!(
        problem(home.path())
            .unwrap()
            .contains("credentials.toml:2:")
    );
}

#[test]
fn a_store_that_others_may_read_is_told() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(path(home.path()), "A_KEY = \"one\"\n").unwrap();
    let mode = |bits| std::fs::set_permissions(path(home.path()), PermissionsExt::from_mode(bits));
    mode(0o644).unwrap();
    assert!(problem(home.path()).unwrap().contains("chmod 600"));
    mode(0o600).unwrap();
    assert_eq!(problem(home.path()), None);
}

#[test]
fn changes_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let home = home.path();
            scope.spawn(move || set(home, &format!("K{number}"), Some(&secret("k"))).unwrap());
        }
    });
    assert_eq!(stored(home.path()).unwrap().len(), 8);
}
