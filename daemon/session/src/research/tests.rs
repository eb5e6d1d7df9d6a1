use std::fs;
use std::path::Path;

use proto::{Seq, SessionId};
use tempfile::TempDir;
use workspace::WorkspaceOptions;

use super::*;

fn project() -> (TempDir, Workspace) {
    let dir = TempDir::new().expect("a directory");
    let cwd = dir.path().canonicalize().expect("its path");
    let options = WorkspaceOptions {
        root: cwd.clone(),
        cwd,
        ..WorkspaceOptions::default()
    };
    let workspace = Workspace::open(options).expect("a workspace");
    (dir, workspace)
}

fn asked(goal: &str, research: Option<bool>) -> ResearchRequest<'_> {
    ResearchRequest {
        goal,
        checks: &[],
        research,
        reads_only: false,
    }
}

fn runs(dir: &Path) -> usize {
    fs::read_dir(dir.join(".reasonix/autoresearch")).map_or(0, Iterator::count)
}

fn state(session: SessionId, record: u64) -> RunState {
    RunState {
        goal: "it works".into(),
        session,
        status: "running".into(),
        turn: record,
        why: "started".into(),
        record: Seq(record),
        updated_at: String::new(),
    }
}

#[test]
fn users_choice_of_research_overrides_the_goal_text() {
    let (dir, workspace) = project();
    let research = "Optimize the parser until p95 is below 5 ms";
    let begun = |goal, choice| begin(&workspace, &asked(goal, choice)).expect("no failure");
    assert_eq!(begun("Fix it", None), None);
    assert_eq!(begun(research, Some(false)), None);
    assert_eq!(runs(dir.path()), 0);
    assert!(begun(research, None).is_some());
    assert!(begun("Fix it", Some(true)).is_some());
    assert_eq!(runs(dir.path()), 2);
}

#[test]
fn run_begins_with_its_files_and_a_second_one_has_its_own() {
    let (dir, workspace) = project();
    let mut asked = asked("Fix it", Some(true));
    let checks = ["make test".to_owned()];
    asked.checks = &checks;
    let first = begin(&workspace, &asked)
        .expect("no failure")
        .expect("a run");
    let second = begin(&workspace, &asked)
        .expect("no failure")
        .expect("a run");
    assert_ne!(first.dir, second.dir);
    let read = |name: &str| fs::read_to_string(dir.path().join(&first.dir).join(name)).expect(name);
    assert_eq!(
        read("brief.md"),
        "# Brief\n\nFix it\n\n## Commands that must succeed\n\n    make test\n"
    );
    for name in ["plan.md", "journal.md", "findings.md"] {
        assert!(read(name).starts_with("# "), "{name}");
    }
}

#[test]
fn goal_that_names_a_run_goes_on_with_it() {
    let (dir, workspace) = project();
    let first = begin(&workspace, &asked("Fix it", Some(true))).expect("no failure");
    let first = first.expect("a run").dir;
    fs::write(dir.path().join(&first).join("journal.md"), "kept").expect("written");
    let goal = format!("Go on with {first}");
    let again = begin(&workspace, &asked(&goal, None)).expect("no failure");
    assert_eq!(
        again,
        Some(GoalResearch {
            dir: first.clone(),
            resumed: true
        })
    );
    let journal = fs::read_to_string(dir.path().join(&first).join("journal.md"));
    assert_eq!(journal.expect("read"), "kept");
    // One that is not there is no run.
    let gone = "Go on with .reasonix/autoresearch/20200101-000000-gone";
    assert_eq!(
        begin(&workspace, &asked(gone, None)).expect("no failure"),
        None
    );
}

#[test]
fn session_that_only_reads_has_no_research() {
    let (dir, workspace) = project();
    let reads = |research| ResearchRequest {
        reads_only: true,
        ..asked("Optimize the parser until p95 is below 5 ms", research)
    };
    assert_eq!(begin(&workspace, &reads(None)).expect("no failure"), None);
    let refused = begin(&workspace, &reads(Some(true))).expect_err("refused");
    assert_eq!(refused.name, ErrorName::NotAllowed);
    assert_eq!(runs(dir.path()), 0);
}

#[test]
fn link_out_of_the_project_is_not_followed() {
    let (dir, workspace) = project();
    let outside = TempDir::new().expect("a directory");
    std::os::unix::fs::symlink(outside.path(), dir.path().join(".reasonix")).expect("a link");
    let refused = begin(&workspace, &asked("Fix it", Some(true))).expect_err("refused");
    assert!(refused.message.contains("cannot be made"), "{refused:?}");
    assert_eq!(fs::read_dir(outside.path()).expect("read").count(), 0);
}

#[test]
fn newest_state_stays_whatever_the_order_of_the_writes() {
    let (dir, workspace) = project();
    let run = begin(&workspace, &asked("Fix it", Some(true))).expect("no failure");
    let run = run.expect("a run").dir;
    let (one, other) = (SessionId::new(), SessionId::new());
    let turn = |state: RunState| {
        keep(&workspace, &run, &state).expect("written");
        let text = fs::read(dir.path().join(&run).join("state.json")).expect("read");
        serde_json::from_slice::<RunState>(&text)
            .expect("a state")
            .turn
    };
    assert_eq!(turn(state(one, 5)), 5);
    assert_eq!(turn(state(one, 3)), 5);
    assert_eq!(turn(state(one, 8)), 8);
    // Another session goes on with the run.
    assert_eq!(turn(state(other, 2)), 2);
}

#[test]
fn states_written_at_once_leave_the_newest() {
    let (dir, workspace) = project();
    let run = begin(&workspace, &asked("Fix it", Some(true))).expect("no failure");
    let run = run.expect("a run").dir;
    let session = SessionId::new();
    std::thread::scope(|scope| {
        for record in 1..=2 {
            let (workspace, run) = (&workspace, &run);
            scope.spawn(move || keep(workspace, run, &state(session, record)).expect("written"));
        }
    });
    let text = fs::read(dir.path().join(&run).join("state.json")).expect("read");
    let there: RunState = serde_json::from_slice(&text).expect("a state");
    assert_eq!(there.record, Seq(2));
}
