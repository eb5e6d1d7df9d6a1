use super::*;

fn worktree() -> Worktree {
    Worktree {
        path: "/p.worktrees/one".into(),
        branch: "reasonix/one".into(),
        base: "abc".into(),
        origin: "/p".into(),
        source: None,
        common: "/p/.git".into(),
        left_out: 0,
        search_path: "/usr/bin".into(),
        made_by: RequestId(uuid::Uuid::nil()),
        kept: false,
    }
}

#[test]
fn paths_of_a_worktree_lead_to_its_origin_until_the_entry_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("home")).unwrap();
    let session = SessionId::new();
    put(&home, session, &worktree()).unwrap();
    assert_eq!(get(&home, session), Some(worktree()));
    assert_eq!(list(&home).unwrap(), [(session, worktree())]);
    let origin = |path: &str| in_origin(home.root(), Path::new(path));
    assert_eq!(origin("/p.worktrees/one"), Some("/p".into()));
    assert_eq!(origin("/p.worktrees/one/a/b"), Some("/p/a/b".into()));
    assert_eq!(origin("/p.worktrees/one-more"), None);
    let project = |path: &str| home.project_dir(Path::new(path));
    assert_eq!(project("/p.worktrees/one"), project("/p"));
    remove(&home, session).unwrap();
    remove(&home, session).unwrap();
    assert_eq!(
        (get(&home, session), origin("/p.worktrees/one")),
        (None, None)
    );
    assert_ne!(project("/p.worktrees/one"), project("/p"));
}

#[test]
fn damaged_entry_counts_as_none() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("home")).unwrap();
    let session = SessionId::new();
    std::fs::write(home.worktrees().join(session.to_string()), "{").unwrap();
    assert_eq!(get(&home, session), None);
    assert_eq!(list(&home).unwrap(), []);
    assert_eq!(in_origin(home.root(), Path::new("/p")), None);
}

#[test]
fn worktree_counts_for_the_project_of_its_checkout_also_when_it_is_gone() {
    for (root, project) in [
        ("/w/p.worktrees/0123456789ab", "/w/p"),
        ("/w/p.worktrees/0123456789ab/sub", "/w/p/sub"),
        ("/w/p.worktrees", "/w/p.worktrees"),
        ("/w/p.worktrees/mine", "/w/p.worktrees/mine"),
        ("/w/p/0123456789ab", "/w/p/0123456789ab"),
        ("/w/p", "/w/p"),
        ("", ""),
    ] {
        assert_eq!(project_of(root), project);
    }
}
