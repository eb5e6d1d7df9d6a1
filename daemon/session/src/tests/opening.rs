//! The workspace root and the context of the first message.

use std::fs;
use std::path::Path;

use proto::SessionId;

use super::house;
use crate::context::first_message::{context, root_of};

#[test]
fn the_root_is_the_git_root_but_never_the_persons_home() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("me");
    let project = home.join("work/project");
    fs::create_dir_all(project.join("deep/er")).unwrap();
    fs::create_dir(home.join(".git")).unwrap();
    assert_eq!(
        root_of(&project.join("deep"), &home),
        project.join("deep"),
        "a home that is a repository is not a project"
    );
    fs::create_dir(project.join(".git")).unwrap();
    assert_eq!(root_of(&project.join("deep/er"), &home), project);
    assert_eq!(root_of(Path::new("/"), &home), Path::new("/"));
}

#[test]
fn the_context_tells_the_branch_without_running_anything() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let mut created = house::created(SessionId::new(), root);
    assert!(context(&created).contains("Not a git repository"));
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(
        root.join(".git/HEAD"),
        "ref: refs/heads/fix/\u{1b}[31mred\n",
    )
    .unwrap();
    created.env.insert("SHELL".into(), "/bin/zsh".into());
    created.add_dirs.push("/mo\nre".into());
    let text = context(&created);
    assert!(text.contains("Git branch: fix/[31mred"), "{text}");
    assert!(
        !text.contains('\u{1b}'),
        "no control byte gets into a prompt"
    );
    assert!(text.contains("Shell: /bin/zsh"));
    assert!(
        text.contains("\nAlso part of the workspace: /more\n"),
        "{text}"
    );
}
