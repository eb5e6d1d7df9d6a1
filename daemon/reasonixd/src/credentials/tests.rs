//! Keys that are kept, keys that are refused, and that no key is ever shown.

use std::os::unix::fs::PermissionsExt;

use super::*;

const CANARY: &str = "canary-51c0ffee";

/// The file alone.
fn store(home: &Path) -> Store {
    Store::open(home, StoreChoice::File)
}

fn set(home: &Path, variable: &str, key: Option<&Secret>) -> Result<PathBuf, Failure> {
    let kept = store(home).set(variable, key)?;
    Ok(PathBuf::from(kept.to_string()))
}

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
    let own = FallbackKeys::open(&store(home.path()), BTreeMap::new());
    let (key, from) = own.get("ACME_API_KEY").unwrap();
    assert_eq!((key.expose(), from), (CANARY, KeySource::Store));
    set(home.path(), "ACME_API_KEY", None).unwrap();
    set(home.path(), "ACME_API_KEY", None).unwrap();
    let own = FallbackKeys::open(&store(home.path()), BTreeMap::new());
    assert!(!own.has("ACME_API_KEY") && own.has("OTHER_API_KEY"));
    assert!(!std::fs::read_to_string(kept).unwrap().contains(CANARY));
}

#[test]
fn key_sources_are_tried_in_the_order_dotenv_store_environment() {
    let home = tempfile::tempdir().unwrap();
    set(home.path(), "PATH", Some(&secret("stored"))).unwrap();
    let dotenv = BTreeMap::from([("PATH".to_owned(), secret("dotenv"))]);
    let get = |dotenv| {
        FallbackKeys::open(&store(home.path()), dotenv)
            .get("PATH")
            .unwrap()
    };
    assert_eq!(get(dotenv), (secret("dotenv"), KeySource::Dotenv));
    assert_eq!(get(BTreeMap::new()), (secret("stored"), KeySource::Store));
    set(home.path(), "PATH", None).unwrap();
    assert_eq!(get(BTreeMap::new()).1, KeySource::Environment);
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
fn an_unreadable_store_is_unchanged_and_reported_without_its_keys() {
    let home = tempfile::tempdir().unwrap();
    for text in [
        format!("A_KEY = \"one\"\nB_KEY = {CANARY}\n"),
        format!("A_KEY = [\"{CANARY}\"]\n"),
    ] {
        std::fs::write(path(home.path()), &text).unwrap();
        let refused = set(home.path(), "C_KEY", Some(&secret("k"))).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidConfig);
        let shown = format!("{refused:?} {:?}", problem(home.path()));
        assert!(!shown.contains("canary"), "{shown}");
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
fn a_store_that_others_may_read_is_reported() {
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

/// A keyring whose answers a test sets.
#[derive(Default)]
struct FakeKeyring {
    text: Mutex<Option<String>>,
    away: std::sync::atomic::AtomicBool,
}

impl FakeKeyring {
    fn go(&self, away: bool) {
        self.away.store(away, std::sync::atomic::Ordering::SeqCst);
    }

    fn is_there(&self) -> Result<(), String> {
        match self.away.load(std::sync::atomic::Ordering::SeqCst) {
            true => Err("nobody is there".to_owned()),
            false => Ok(()),
        }
    }

    fn text(&self) -> Option<String> {
        self.text.lock().unwrap().clone()
    }
}

impl KeyringEntry for FakeKeyring {
    fn read(&self) -> Result<Option<String>, String> {
        self.is_there().map(|()| self.text())
    }

    fn write(&self, text: &str) -> Result<(), String> {
        self.is_there()?;
        *self.text.lock().unwrap() = Some(text.to_owned());
        Ok(())
    }
}

fn with_ring(home: &Path, choice: StoreChoice) -> (Arc<FakeKeyring>, Store) {
    let keyring = Arc::new(FakeKeyring::default());
    let patient = ring::TimeoutKeyring(Arc::clone(&keyring) as Arc<dyn KeyringEntry>);
    let store = Store {
        home: home.to_owned(),
        choice,
        ring: Some(Ok(Arc::new(patient))),
    };
    (keyring, store)
}

#[test]
fn where_there_is_a_keyring_keys_are_there_and_nowhere_else() {
    let home = tempfile::tempdir().unwrap();
    set(home.path(), "A_KEY", Some(&secret("old"))).unwrap();
    set(home.path(), "B_KEY", Some(&secret("file"))).unwrap();
    let (keyring, ring) = with_ring(home.path(), StoreChoice::Auto);
    let kept = ring.set("A_KEY", Some(&secret(CANARY))).unwrap();
    assert_eq!(kept.to_string(), "the system's keyring");
    assert!(keyring.text().unwrap().contains(CANARY));
    let file = std::fs::read_to_string(path(home.path())).unwrap();
    assert!(!file.contains("A_KEY") && file.contains("B_KEY"), "{file}");
    let own = FallbackKeys::open(&ring, BTreeMap::new());
    assert_eq!(
        own.get("A_KEY").unwrap(),
        (secret(CANARY), KeySource::Store)
    );
    assert_eq!(own.stored(), ["A_KEY", "B_KEY"]);
    for variable in ["A_KEY", "B_KEY"] {
        ring.set(variable, None).unwrap();
    }
    assert!(
        FallbackKeys::open(&ring, BTreeMap::new())
            .stored()
            .is_empty()
    );
    assert!(!keyring.text().unwrap().contains(CANARY));
    assert_eq!(ring.problem(), None);
}

#[test]
fn without_the_keyring_the_file_is_used_and_that_is_reported() {
    let home = tempfile::tempdir().unwrap();
    for (choice, is_problem) in [(StoreChoice::Auto, false), (StoreChoice::Keyring, true)] {
        let (keyring, store) = with_ring(home.path(), choice);
        keyring.go(true);
        let kept = store
            .set("A_KEY", Some(&secret(CANARY)))
            .unwrap()
            .to_string();
        assert!(
            kept.contains("credentials.toml (nobody is there)"),
            "{kept}"
        );
        assert_eq!(store.keys().get("A_KEY"), Some(&secret(CANARY)));
        assert_eq!(store.problem().is_some(), is_problem);
        assert!(!format!("{:?}", store.problem()).contains("canary"));
        // When it is back, it has the next one, and the file none.
        keyring.go(false);
        store.set("A_KEY", Some(&secret("next"))).unwrap();
        assert_eq!(store.keys().get("A_KEY"), Some(&secret("next")));
        assert!(stored(home.path()).unwrap().is_empty());
    }
}

#[test]
fn what_was_changed_while_the_keyring_was_away_counts_when_it_is_back() {
    let home = tempfile::tempdir().unwrap();
    let (keyring, store) = with_ring(home.path(), StoreChoice::Auto);
    for variable in ["A_KEY", "B_KEY", "C_KEY"] {
        store.set(variable, Some(&secret("old"))).unwrap();
    }
    keyring.go(true);
    store.set("A_KEY", Some(&secret("new"))).unwrap();
    let forgotten = store.set("B_KEY", None).unwrap().to_string();
    assert!(
        forgotten.contains("nobody is there") && forgotten.contains("no longer used"),
        "{forgotten}"
    );
    let now = |variable| store.keys().get(variable).cloned();
    assert_eq!((now("A_KEY"), now("B_KEY")), (Some(secret("new")), None));
    keyring.go(false);
    let all = [now("A_KEY"), now("B_KEY"), now("C_KEY")];
    assert_eq!(all, [Some(secret("new")), None, Some(secret("old"))]);
    assert_eq!(store.problem(), None);
    // With the next change the keyring has all of it, and the file nothing.
    store.set("D_KEY", None).unwrap();
    let text = keyring.text().unwrap();
    assert!(
        text.contains("A_KEY = \"new\"") && !text.contains("B_KEY"),
        "{text}"
    );
    assert!(in_file(home.path()).unwrap() == InFile::default());
    store.set("B_KEY", Some(&secret("again"))).unwrap();
    assert_eq!(now("B_KEY"), Some(secret("again")));
}

#[test]
fn what_a_keyring_holds_that_is_no_store_is_left_as_it_is_and_not_quoted() {
    let home = tempfile::tempdir().unwrap();
    let (keyring, store) = with_ring(home.path(), StoreChoice::Keyring);
    for text in [format!("A = {CANARY}"), format!("A = [\"{CANARY}\"]")] {
        *keyring.text.lock().unwrap() = Some(text.clone());
        let kept = store.set("B_KEY", Some(&secret("k"))).unwrap().to_string();
        assert!(kept.contains("credentials.toml"), "{kept}");
        assert_eq!(keyring.text(), Some(text));
        let problem = store.problem().unwrap();
        assert!(
            !problem.contains("canary") && !kept.contains("canary"),
            "{problem}"
        );
    }
}

#[test]
fn a_program_without_a_keyring_says_so_where_one_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    if ring::is_built_in() {
        return;
    }
    let store = Store::open(home.path(), StoreChoice::Keyring);
    assert!(store.problem().unwrap().contains("keychain"));
    assert_eq!(Store::open(home.path(), StoreChoice::Auto).problem(), None);
    let kept = store.set("A_KEY", Some(&secret("k"))).unwrap().to_string();
    assert!(
        kept.contains("credentials.toml") && kept.contains("keychain"),
        "{kept}"
    );
}
