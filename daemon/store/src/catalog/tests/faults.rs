//! External changes to the catalog's files: it is rebuilt or fails with an error, and the daemon
//! keeps running.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::*;

/// Names a database that a second process of this test keeps locked.
const HOLD: &str = "REASONIX_TEST_HOLD";
const PAGE_LEN: u64 = 4096;

fn full(home: &Home) -> Catalog {
    let catalog = catalog(home);
    for pid in 1..300 {
        catalog
            .put_lazy(&session(pid, Some("a name")))
            .expect("it can be put");
    }
    catalog.mark_filled().expect("it can be marked");
    catalog
}

fn overwrite(home: &Home, page: u64) {
    let file = fs::OpenOptions::new()
        .write(true)
        .open(home.catalog())
        .expect("it is ours");
    file.write_all_at(&[0xA5; PAGE_LEN as usize], page * PAGE_LEN)
        .expect("it is ours");
}

fn side(home: &Home, suffix: &str) -> PathBuf {
    let mut name = home.catalog().into_os_string();
    name.push(suffix);
    name.into()
}

/// Opens the catalog as the daemon does: first a quick open, then a full check.
fn checked(home: &Home, what: &str) -> OpenedCatalog {
    let mut opened = Catalog::open(home).unwrap_or_else(|error| panic!("{what}: {error}"));
    let verdict = opened.catalog.verify(home);
    if let Some(why) = verdict.unwrap_or_else(|error| panic!("{what}: {error}")) {
        opened.state = CatalogState::Rebuilt { why };
    }
    opened
}

/// Opens the catalog after a fault. Its entries are intact, and it works.
fn works(home: &Home, what: &str) -> CatalogState {
    let opened = checked(home, what);
    let page = opened.catalog.list(&ListParams::default());
    page.unwrap_or_else(|error| panic!("{what}: {error}"));
    let put = opened.catalog.put(&session(1_000, None));
    put.unwrap_or_else(|error| panic!("{what}: {error}"));
    opened.state
}

#[test]
fn overwriting_any_page_leaves_the_catalog_whole_or_rebuilt() {
    let (_dir, sound) = home();
    drop(full(&sound));
    let bytes = fs::read(sound.catalog()).expect("it is there");
    let pages = bytes.len() as u64 / PAGE_LEN;
    assert!(pages > 10, "{pages} pages");
    let mut remade = 0;
    for page in 0..pages {
        let (_dir, home) = home();
        fs::write(home.catalog(), &bytes).expect("it is ours");
        overwrite(&home, page);
        match works(&home, &format!("page {page}")) {
            CatalogState::Rebuilt { .. } => remade += 1,
            // An unused page.
            CatalogState::Filled => {}
            state => panic!("page {page}: {state:?}"),
        }
    }
    assert!(remade * 10 >= pages * 9, "{remade} of {pages}");
}

#[test]
fn a_page_overwritten_while_running_causes_no_permanent_loss() {
    let (_dir, home) = home();
    drop(full(&home));
    let running = catalog(&home);
    let pages = fs::metadata(home.catalog()).expect("it is there").len() / PAGE_LEN;
    for page in 1..pages {
        overwrite(&home, page);
    }
    // It may answer from memory or with an error.
    running.list(&ListParams::default()).err();
    running.put(&session(400, None)).err();
    running.find("a name").err();
    drop(running);
    assert!(matches!(
        works(&home, "reopened"),
        CatalogState::Rebuilt { .. }
    ));
}

#[test]
fn deleting_the_wal_files_of_a_running_catalog_does_not_stop_it() {
    let (_dir, home) = home();
    let running = full(&home);
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(side(&home, suffix)).expect("it is ours");
        running
            .put(&session(500, None))
            .expect("its files are still open");
        assert_eq!(running.count().expect("it can be read"), 300);
    }
    drop(running);
    works(&home, "reopened");
}

#[test]
fn deleting_the_wal_files_of_a_stopped_catalog_keeps_it_consistent() {
    for deleted in [&["-wal"][..], &["-shm"], &["-wal", "-shm"]] {
        let (_dir, crashed) = home();
        let (_other, sound) = home();
        let running = full(&sound);
        // Copies what a crash leaves: the last commits are only in the `-wal` file.
        for suffix in ["", "-wal", "-shm"] {
            fs::copy(side(&sound, suffix), side(&crashed, suffix)).expect("it is ours");
        }
        drop(running);
        for suffix in deleted {
            fs::remove_file(side(&crashed, suffix)).expect("it is ours");
        }
        works(&crashed, &format!("{deleted:?}"));
    }
}

/// The test below runs this in another process.
#[test]
fn helper_process_holds_the_lock() {
    let Some(path) = std::env::var_os(HOLD) else {
        return;
    };
    let path = PathBuf::from(path);
    let connection = Connection::open(&path).expect("it is there");
    connection
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    fs::write(path.with_extension("held"), "").expect("it is ours");
    // Waits until the parent closes the pipe or dies.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("a pipe");
}

#[test]
fn a_catalog_locked_by_another_process_is_an_error_after_a_wait() {
    let (_dir, home) = home();
    let catalog = full(&home);
    let mut holder = Command::new(std::env::current_exe().expect("it runs"))
        .args([
            "--exact",
            "catalog::tests::faults::helper_process_holds_the_lock",
        ])
        .env(HOLD, home.catalog())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started");
    let due = Instant::now() + Duration::from_secs(20);
    while !home.catalog().with_extension("held").exists() {
        assert!(Instant::now() < due, "the other process does not start");
        std::thread::sleep(Duration::from_millis(2));
    }
    let begun = Instant::now();
    let error = catalog
        .put(&session(600, None))
        .expect_err("somebody else writes");
    assert!(matches!(error, CatalogError::Sqlite { .. }), "{error}");
    let waited = begun.elapsed();
    assert!(
        waited >= Duration::from_secs(4) && waited < Duration::from_secs(15),
        "{waited:?}"
    );
    // Reading works meanwhile. A second open returns an error or a catalog, but not a new one.
    assert_eq!(catalog.count().expect("it can be read"), 299);
    if let Ok(opened) = Catalog::open(&home) {
        assert_eq!(opened.state, CatalogState::Filled);
    }
    drop(holder.stdin.take());
    assert!(holder.wait().expect("it ends").success());
    catalog.put(&session(600, None)).expect("it is free again");
    assert_eq!(catalog.count().expect("it can be read"), 300);
}
