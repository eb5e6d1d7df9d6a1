use std::fs;
use std::path::Path;

use proto::outcome::UsageTotals;
use proto::state::{ApprovalMode, Kind, Mode};
use proto::{Seq, Stamp};
use tempfile::TempDir;

use super::*;
use crate::home::Home;

mod faults;
mod usage;

fn home() -> (TempDir, Home) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    (dir, home)
}

fn catalog(home: &Home) -> Catalog {
    Catalog::open(home).expect("it can be opened").catalog
}

fn id(text: &str) -> SessionId {
    text.parse().expect("it is a UUID")
}

fn session(pid: u64, name: Option<&str>) -> SessionSummary {
    SessionSummary {
        origin: None,
        mode: Mode::Normal,
        only_reads: false,
        description: String::new(),
        session: SessionId::new(),
        pid: Pid(pid),
        ppid: Pid(0),
        agent: None,
        steps: 0,
        activity: String::new(),
        name: name.map(str::to_owned),
        labels: Vec::new(),
        cwd: "/proj".to_owned(),
        model: "demo/model".to_owned(),
        effort: None,
        kind: Kind::Interactive,
        state: State::Idle,
        waiting_for: None,
        cause: "created".to_owned(),
        approval_mode: ApprovalMode::Ask,
        turns: 0,
        usage: UsageTotals::default(),
        tree_usage: None,
        context_tokens: 0,
        context_window: 0,
        created_at: Stamp(0),
        active_at: Stamp(1000),
        title: String::new(),
        last_line: String::new(),
        queued: 0,
        goal: None,
        pending_interactions: 0,
        attached: 0,
        seq: Seq(1),
        children: 0,
        silent_since: None,
        compacting: false,
        planning: false,
        extract_reasoning: false,
        samples: 1,
        exit_code: None,
        cut_off: None,
        at_limit: None,
        read_only: None,
        instead_of: None,
        cold: None,
        cache_ttl_ms: None,
        cache_used: None,
    }
}

fn pids(sessions: &[SessionSummary]) -> Vec<u64> {
    sessions.iter().map(|session| session.pid.0).collect()
}

#[test]
fn words_of_a_session_that_was_removed_are_in_no_file() {
    let (dir, home) = home();
    let catalog = catalog(&home);
    let mut one = session(1, None);
    one.title = "uniqtitle".to_owned();
    for number in 0..200 {
        one.last_line = format!("secretdelete {number} {}", "x".repeat(200));
        catalog.put(&one).expect("it can be put");
        catalog
            .put(&session(2 + number, None))
            .expect("it can be put");
    }
    let holders = || {
        let files = fs::read_dir(dir.path()).expect("the home").flatten();
        let texts = files.filter_map(|file| fs::read(file.path()).ok());
        let holds = |text: &Vec<u8>| {
            let text = String::from_utf8_lossy(text);
            text.contains("secretdelete") || text.contains("uniqtitle")
        };
        texts.filter(holds).count()
    };
    assert!(holders() > 0, "the words are looked for where they are");
    catalog.remove(one.session).expect("it can be removed");
    assert_eq!(holders(), 0);
}

#[test]
fn a_session_is_stored_as_it_was_put_last() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    let mut one = session(1, Some("build"));
    catalog.put(&one).expect("it can be put");
    one.state = State::Running;
    one.last_line = "€".to_owned();
    catalog.put_lazy(&one).expect("it can be put");
    catalog.put(&session(2, None)).expect("it can be put");
    assert_eq!(
        catalog.get(one.session).expect("it can be read"),
        Some(one.clone())
    );
    assert_eq!(catalog.count().expect("it can be read"), 2);
    assert_eq!(catalog.highest_pid().expect("it can be read"), Pid(2));
    drop(catalog);

    let opened = Catalog::open(&home).expect("it can be opened");
    assert_eq!(
        opened.catalog.get(one.session).expect("it can be read"),
        Some(one.clone())
    );
    opened
        .catalog
        .remove(one.session)
        .expect("it can be removed");
    opened.catalog.remove(one.session).expect("it is gone");
    assert_eq!(opened.catalog.count().expect("it can be read"), 1);
    opened.catalog.clear().expect("it can be cleared");
    assert_eq!(
        opened.catalog.highest_pid().expect("it can be read"),
        Pid(0)
    );
    assert!(opened.catalog.ids().expect("it can be read").is_empty());
}

#[test]
fn a_catalog_is_unfilled_until_it_is_marked_filled() {
    let (_dir, home) = home();
    let state = || {
        Catalog::open(&home)
            .map(|opened| (opened.state, opened.catalog))
            .expect("it can be opened")
    };
    assert_eq!(state().0, CatalogState::New);
    let (unfinished, catalog) = state();
    assert_eq!(unfinished, CatalogState::Unfilled);
    let sessions = [session(1, None), session(2, None)];
    catalog.put_all(&sessions).expect("they can be put");
    catalog.mark_filled().expect("it can be marked");
    drop(catalog);
    let (filled, catalog) = state();
    assert_eq!(filled, CatalogState::Filled);
    let mut ids = catalog.ids().expect("it can be read");
    ids.sort();
    assert_eq!(ids, {
        let mut all = sessions.map(|one| one.session);
        all.sort();
        all
    });
    catalog.clear().expect("it can be cleared");
    drop(catalog);
    assert_eq!(state().0, CatalogState::Unfilled);
}

#[test]
fn an_unusable_catalog_is_moved_away_and_rebuilt() {
    let foreign = |path: &Path| {
        let connection = Connection::open(path).expect("it is a database");
        connection
            .pragma_update(None, "user_version", 99)
            .expect("it can be set");
    };
    let other_table = |path: &Path| {
        let connection = Connection::open(path).expect("it is a database");
        connection
            .execute_batch("ALTER TABLE session DROP COLUMN cwd")
            .expect("it can be changed");
    };
    let garbage =
        |path: &Path| fs::write(path, "this is not a database".repeat(500)).expect("it is ours");
    let half = |path: &Path| {
        let bytes = fs::read(path).expect("it is there");
        let page = bytes.len() / 2;
        fs::write(
            path,
            [&bytes[..page], &vec![0xA5; bytes.len() - page]].concat(),
        )
        .expect("it is ours");
    };
    let breaks: [&dyn Fn(&Path); 4] = [&foreign, &other_table, &garbage, &half];
    for (number, break_it) in breaks.into_iter().enumerate() {
        let (_dir, home) = home();
        let catalog = catalog(&home);
        for pid in 1..200 {
            catalog
                .put_lazy(&session(pid, Some("a name")))
                .expect("it can be put");
        }
        catalog.mark_filled().expect("it can be marked");
        drop(catalog);
        break_it(&home.catalog());
        let mut opened = Catalog::open(&home).expect("it is made again");
        if let Some(why) = opened.catalog.verify(&home).expect("it can be checked") {
            opened.state = CatalogState::Rebuilt { why };
        }
        assert!(
            matches!(&opened.state, CatalogState::Rebuilt { why } if !why.is_empty()),
            "{number}: {:?}",
            opened.state
        );
        assert_eq!(opened.catalog.count().expect("it can be read"), 0);
        opened
            .catalog
            .put(&session(1, None))
            .expect("it can be put");
        assert!(home.root().join("reasonix.db.unusable").exists());
    }
}

#[test]
fn a_catalog_that_cannot_be_created_is_an_error() {
    let (_dir, home) = home();
    fs::create_dir(home.catalog()).expect("it is ours");
    assert!(matches!(Catalog::open(&home), Err(CatalogError::Disk(_))));
}

#[test]
fn the_catalog_is_private() {
    use std::os::unix::fs::MetadataExt;
    let (_dir, home) = home();
    let catalog = catalog(&home);
    catalog.put(&session(1, None)).expect("it can be put");
    let mut seen = 0;
    for entry in fs::read_dir(home.root()).expect("it can be read") {
        let entry = entry.expect("it can be read");
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("reasonix.db")
        {
            assert_eq!(
                entry.metadata().expect("it is there").mode() & 0o777,
                0o600,
                "{entry:?}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_session_is_found_by_pid_id_prefix_and_name() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    let known = [
        (12, "01935b7a-0000-7000-8000-000000000001", Some("build")),
        (13, "01935b7a-0000-7000-8000-000000000002", Some("12")),
        (14, "beef0000-0000-4000-8000-000000000003", Some("test")),
        (15, "12340000-0000-4000-8000-000000000004", Some("test")),
        (16, "abcd0000-0000-4000-8000-000000000005", Some("beef")),
        (17, "cafe0000-0000-4000-8000-000000000006", None),
    ];
    for (pid, session_id, name) in known {
        let summary = SessionSummary {
            session: id(session_id),
            ..session(pid, name)
        };
        catalog.put(&summary).expect("it can be put");
    }
    let find = |text: &str| catalog.find(text).expect("it can be read");
    let one = |text: &str| match find(text) {
        SessionLookup::One(summary) => summary.pid.0,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(one("12"), 12, "a pid wins over a name");
    assert_eq!(one("01935b7a-0000-7000-8000-000000000002"), 13);
    assert_eq!(one("01935B7A-0000-7000-8000-000000000002"), 13);
    assert_eq!(one("1234"), 15, "not a pid, but an id prefix");
    assert_eq!(one("CAFE"), 17);
    assert_eq!(one("cafe0000-0"), 17);
    assert_eq!(one("build"), 12);
    let many =
        |names: &[&str]| SessionLookup::Many(names.iter().map(ToString::to_string).collect());
    assert_eq!(find("0193"), many(&["13 (12)", "12 (build)"]));
    assert_eq!(find("test"), many(&["15 (test)", "14 (test)"]));
    assert_eq!(
        find("beef"),
        many(&["16 (beef)", "14 (test)"]),
        "one session's id prefix and another session's name"
    );
    let none =
        |names: &[&str]| SessionLookup::None(names.iter().map(ToString::to_string).collect());
    assert_eq!(find("biuld"), none(&["build"]));
    assert_eq!(find("buil"), none(&["build"]));
    assert_eq!(find("Build"), none(&["build"]));
    assert_eq!(find("tast"), none(&["test"]));
    assert_eq!(
        find("caf"),
        none(&[]),
        "three characters are too few for an id"
    );
    assert_eq!(find("00000000-0000-4000-8000-000000000009"), none(&[]));
    assert_eq!(find("%"), none(&[]));
}

#[test]
fn text_that_cannot_name_a_session_is_refused_with_a_reason() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    for bad in [
        "",
        "  ",
        "../x",
        "a/b",
        "/etc/passwd",
        "a\\b",
        "a\0b",
        "a\nb",
        &"x".repeat(300),
    ] {
        let error = catalog.find(bad).expect_err("it cannot be a name");
        assert!(matches!(error, CatalogError::BadName { .. }), "{error}");
        assert!(error.to_string().len() < 200);
    }
    assert_eq!(
        catalog.find("..").expect("it can be read"),
        SessionLookup::None(Vec::new())
    );
}

#[test]
fn pages_go_from_the_newest_to_the_oldest() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    let all: Vec<_> = (1..=250).map(|pid| session(pid, None)).collect();
    catalog.put_all(&all).expect("they can be put");
    let page = |limit, before| {
        let filter = ListParams {
            limit,
            before,
            ..ListParams::default()
        };
        let page = catalog.list(&filter).expect("it can be read");
        (pids(&page.sessions), page.next)
    };
    assert_eq!(page(0, None), ((151..=250).rev().collect(), Some(Pid(151))));
    assert_eq!(
        page(0, Some(Pid(151))),
        ((51..=150).rev().collect(), Some(Pid(51)))
    );
    assert_eq!(page(0, Some(Pid(51))), ((1..=50).rev().collect(), None));
    assert_eq!(page(50, Some(Pid(51))), ((1..=50).rev().collect(), None));
    assert_eq!(page(1, None), (vec![250], Some(Pid(250))));
    assert_eq!(page(u64::MAX, None).0.len(), 250);
    assert_eq!(page(0, Some(Pid(1))), (vec![], None));
    assert_eq!(page(1, Some(Pid(u64::MAX))).0, [250]);
}

#[test]
fn a_page_fits_a_frame() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    for pid in 1..=5 {
        let cwd = "/x".repeat(100_000);
        catalog
            .put(&SessionSummary {
                cwd,
                ..session(pid, None)
            })
            .expect("it can be put");
    }
    let page = catalog
        .list(&ListParams::default())
        .expect("it can be read");
    assert_eq!(
        (pids(&page.sessions), page.next),
        (vec![5, 4], Some(Pid(4)))
    );
}

#[test]
fn lists_can_be_narrowed() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    let labels = |labels: &[&str]| labels.iter().map(ToString::to_string).collect::<Vec<_>>();
    for summary in [
        SessionSummary {
            labels: labels(&["ci", "nightly"]),
            ..session(1, None)
        },
        SessionSummary {
            state: State::Exited,
            labels: labels(&["ci"]),
            ..session(2, None)
        },
        SessionSummary {
            state: State::Waiting,
            cwd: "/other".to_owned(),
            ..session(3, None)
        },
    ] {
        catalog.put(&summary).expect("it can be put");
    }
    let list = |filter: ListParams| pids(&catalog.list(&filter).expect("it can be read").sessions);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        list(ListParams {
            label: some("ci"),
            ..ListParams::default()
        }),
        [2, 1]
    );
    assert_eq!(
        list(ListParams {
            label: some("c"),
            ..ListParams::default()
        }),
        [0; 0]
    );
    assert_eq!(
        list(ListParams {
            state: Some(State::Waiting),
            ..ListParams::default()
        }),
        [3]
    );
    assert_eq!(
        list(ListParams {
            cwd: some("/proj"),
            ..ListParams::default()
        }),
        [2, 1]
    );
    let both = ListParams {
        state: Some(State::Exited),
        label: some("ci"),
        ..ListParams::default()
    };
    assert_eq!(list(both), [2]);

    let processes = |all, label: Option<&str>| {
        let filter = process::ListParams {
            all,
            label: label.map(str::to_owned),
            ..process::ListParams::default()
        };
        pids(&catalog.processes(&filter).expect("it can be read"))
    };
    assert_eq!(processes(false, None), [1, 3]);
    assert_eq!(processes(true, None), [1, 2, 3]);
    assert_eq!(processes(false, Some("ci")), [1]);
}

#[test]
fn one_unreadable_entry_hides_no_other() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    for pid in 1..=3 {
        catalog.put(&session(pid, None)).expect("it can be put");
    }
    let spoil = "UPDATE session SET summary = '{}' WHERE pid = 2";
    catalog
        .lock()
        .execute(spoil, [])
        .expect("it can be changed");
    let page = catalog
        .list(&ListParams::default())
        .expect("it can be read");
    assert_eq!(pids(&page.sessions), [3, 1]);
    assert!(matches!(catalog.find("2"), Err(CatalogError::Entry(_))));
}

#[test]
fn a_catalog_in_memory_is_empty_and_works() {
    let opened = Catalog::in_memory().expect("there is memory");
    assert_eq!(opened.state, CatalogState::New);
    assert_eq!(opened.catalog.count().expect("it is read"), 0);
    opened.catalog.mark_filled().expect("it is written");
}
