//! Repositories of every make: git works in them in the sandbox, and files that later run programs stay unchanged.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::honest::{git, work};
use super::{SandboxHouse, foreign_socket};

/// Who commits.
const WHO: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Ann"),
    ("GIT_AUTHOR_EMAIL", "ann@example.org"),
    ("GIT_COMMITTER_NAME", "Ann"),
    ("GIT_COMMITTER_EMAIL", "ann@example.org"),
];

/// A repository at a place beside the project, or in it, with one commit.
fn repository(at: &Path) {
    fs::create_dir_all(at).expect("a directory");
    git(at, &["init", "-q", "-b", "main"]);
    fs::write(at.join("file"), "one\n").expect("a file");
    git(at, &["add", "."]);
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    git(at, &[&who[..], &["commit", "-qm", "first"]].concat());
}

/// Does ordinary work in a directory: each command succeeds, and there are two commits afterwards.
fn commits(place: &SandboxHouse, at: &str) {
    let commit = format!("cd {at} && echo two >> file && git add file && git commit -qm second");
    let who = WHO.map(|(name, value)| (name, Path::new(value)));
    let printed = work(
        place,
        &[&commit, "git status --short && git log --format=%s"],
        &who,
    );
    assert!(printed[1].contains("second\nfirst"), "{printed:?}");
}

/// None of these leads anywhere.
fn all_fail(place: &SandboxHouse, ways: &[&str]) {
    let said = tried(place, ways);
    assert!(
        said.contains("end") && !said.contains("REACHED"),
        "{}: {said}",
        place.layer
    );
}

/// Each of these makes a protected name that is missing: it is moved away and reported, one command each.
fn none_stays(place: &SandboxHouse, ways: &[(&str, &Path)]) {
    for (way, path) in ways {
        let said = tried(place, &[way]);
        let moved = format!(
            "moved away files that appeared or changed while a command ran: `{}`",
            path.display()
        );
        assert!(said.contains(&moved), "{}: {way}: {said}", place.layer);
        assert!(path.symlink_metadata().is_err(), "{}: {way}", place.layer);
    }
}

/// Runs these, and returns their output: each that succeeds says `REACHED`.
fn tried(place: &SandboxHouse, ways: &[&str]) -> String {
    let body: String = ways
        .iter()
        .map(|way| format!("( cd $WS && {way} ) >/dev/null 2>&1 && echo REACHED: '{way}'\n"))
        .collect();
    let body = format!(
        "{}MAIN={}\n{body}echo end\n",
        place.words(),
        place.house.root().join("main").display()
    );
    place.sh(&place.script("ways.sh", &body))
}

#[test]
fn a_repository_within_the_workspace_is_held_like_the_workspaces_own() {
    for place in SandboxHouse::all() {
        repository(&place.house.project());
        repository(&place.house.project().join("deep/er"));
        all_fail(
            &place,
            &[
                "echo x > deep/er/.git/hooks/pre-commit",
                "echo x >> deep/er/.git/config",
                "mv deep/er/.git deep/er/git2",
                "mv deep deeper",
            ],
        );
        let git = place.house.project().join(".git");
        let inner = place.house.project().join("deep/er/.git");
        none_stays(
            &place,
            &[
                ("echo .. > deep/er/.git/commondir", &inner.join("commondir")),
                (
                    "echo '[core]' > deep/er/.git/config.worktree",
                    &inner.join("config.worktree"),
                ),
                ("mkdir -p deep/er/.git/modules/x", &inner.join("modules")),
                (
                    "ln -s ../file .git/config.worktree",
                    &git.join("config.worktree"),
                ),
            ],
        );
        commits(&place, "deep/er");
        commits(&place, ".");
    }
}

#[test]
fn linked_worktree_commits_but_cannot_write_its_repositorys_config_or_hooks() {
    for place in SandboxHouse::all() {
        let main = place.house.root().join("main");
        repository(&main);
        let project = place.house.project().to_string_lossy().into_owned();
        git(&main, &["worktree", "add", "-q", "-b", "side", &project]);
        git(&main, &["worktree", "add", "-q", "-b", "other", "../other"]);
        let before = fs::read(main.join(".git/config")).expect("its config");
        all_fail(
            &place,
            &[
                "echo x > $MAIN/.git/hooks/pre-commit",
                "echo x >> $MAIN/.git/config",
                "git config core.fsmonitor evil",
                "echo /tmp > $MAIN/.git/worktrees/project/commondir",
                "echo /tmp > $MAIN/.git/worktrees/other/commondir",
                "mv $MAIN/.git/worktrees/other $MAIN/.git/worktrees/gone",
                "echo x > $MAIN/file",
                "touch $MAIN/new",
                "echo 'gitdir: /tmp' > .git",
                "rm -f .git",
                "mv .git away",
            ],
        );
        let missing = main.join(".git/worktrees/project/config.worktree");
        none_stays(
            &place,
            &[(
                "echo x > $MAIN/.git/worktrees/project/config.worktree",
                &missing,
            )],
        );
        commits(&place, ".");
        assert_eq!(fs::read(main.join(".git/config")).expect("it"), before);
    }
}

/// Two repositories whose config names what git reads or runs in the work tree, missing and existing.
#[test]
fn hooks_and_includes_that_git_config_names_are_protected_in_the_sandbox() {
    for place in SandboxHouse::all() {
        let project = place.house.project();
        repository(&project);
        repository(&project.join("inner"));
        git(&project, &["config", "core.hooksPath", ".husky/_"]);
        git(
            &project.join("inner"),
            &["config", "include.path", "../.gitconfig"],
        );
        let user = place.house.user_home().join(".gitconfig");
        fs::write(user, "[core]\n\thooksPath = tools/hooks\n").expect("the user's config");
        fs::create_dir_all(project.join("inner/tools/hooks")).expect("a directory");
        none_stays(
            &place,
            &[
                (
                    "mkdir -p .husky/_ && echo x > .husky/_/pre-commit",
                    &project.join(".husky"),
                ),
                (
                    "mkdir -p tools/hooks && echo x > tools/hooks/pre-push",
                    &project.join("tools/hooks"),
                ),
                (
                    "echo '[core]' > inner/.gitconfig",
                    &project.join("inner/.gitconfig"),
                ),
            ],
        );
        all_fail(
            &place,
            &[
                "echo x > inner/tools/hooks/pre-commit",
                "mv inner/tools inner/other",
            ],
        );
        commits(&place, "inner");
    }
}

/// A repository with `extensions.worktreeConfig`, where git reads a `config.worktree` as soon as there is one.
#[test]
fn the_config_of_another_work_tree_is_held_where_it_is_missing() {
    for place in SandboxHouse::all() {
        let project = place.house.project();
        repository(&project);
        git(&project, &["config", "extensions.worktreeConfig", "true"]);
        git(
            &project,
            &["worktree", "add", "-q", "-b", "side", "../side"],
        );
        let other = project.join(".git/worktrees/side/config.worktree");
        let evil =
            "printf '[core]\\nfsmonitor=touch /tmp/evil\\n' > .git/worktrees/side/config.worktree";
        none_stays(&place, &[(evil, &other)]);
        commits(&place, ".");
        assert!(!other.exists(), "{}", place.layer);
    }
}

/// File tools ask for the same places in every approval mode.
#[test]
fn a_file_tool_asks_before_it_changes_what_gits_config_names() {
    let place = SandboxHouse::held_by("landlock");
    let project = place.house.project();
    repository(&project);
    git(&project, &["config", "core.hooksPath", ".husky"]);
    let write = |path: &str| {
        let script = testkit::Script::new().calls(
            "write_file",
            &serde_json::json!({"path": path, "content": "x"}),
        );
        place.results(&script).remove(0)
    };
    let (status, text) = write(".husky/pre-commit");
    assert_eq!(status, proto::item::CallStatus::Denied, "{text}");
    assert!(!project.join(".husky").exists());
    let (status, text) = write("husky/pre-commit");
    assert_eq!(status, proto::item::CallStatus::Ok, "{text}");
}

#[test]
fn a_submodule_is_worked_in_and_a_file_that_names_anothers_repository_is_not_believed() {
    for place in SandboxHouse::all() {
        let project = place.house.project();
        repository(&place.house.root().join("main"));
        repository(&project);
        git(
            &project,
            &[
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                "../main",
                "sub",
            ],
        );
        all_fail(
            &place,
            &[
                "echo x > .git/modules/sub/hooks/pre-commit",
                "echo x >> .git/modules/sub/config",
                "mkdir .git/modules/new",
                "echo 'gitdir: /tmp' > sub/.git",
            ],
        );
        commits(&place, "sub");
        // A folder that says that it belongs to a repository which knows nothing of it.
        fs::create_dir(project.join("evil")).expect("a directory");
        let named = place.house.root().join("main/.git");
        fs::write(
            project.join("evil/.git"),
            format!("gitdir: {}\n", named.display()),
        )
        .expect("a file");
        all_fail(
            &place,
            &["touch $MAIN/.git/new", "touch $MAIN/.git/objects/new"],
        );
    }
}

#[test]
fn symlinked_git_directory_accepts_commits_and_cannot_be_replaced() {
    for place in SandboxHouse::all() {
        let project = place.house.project();
        repository(&project);
        fs::create_dir(project.join("store")).expect("a directory");
        fs::rename(project.join(".git"), project.join("store/git")).expect("a move");
        symlink("store/git", project.join(".git")).expect("a link");
        all_fail(
            &place,
            &[
                "rm .git",
                "ln -sfn deep .git",
                "echo x > store/git/hooks/pre-commit",
                "echo x >> .git/config",
                "echo x > reasonix.toml",
            ],
        );
        commits(&place, ".");
        let leads = fs::read_link(project.join(".git")).expect("the link");
        assert_eq!(leads, Path::new("store/git"));
    }
}

#[test]
fn a_session_reads_what_its_own_commands_have_printed_and_no_others() {
    for place in SandboxHouse::all() {
        let spilled = |text: &str| {
            let words = text.split([' ', '`', '\n', '"', ',', ')', ';']);
            let path = words
                .map(|word| word.trim_end_matches('.'))
                .find(|word| word.contains("/spill/") && Path::new(word).is_file());
            path.map(str::to_owned)
                .unwrap_or_else(|| panic!("no file: {text}"))
        };
        let first = spilled(&place.sh("seq 1 30000"));
        // Which file it will be is not known before: the second command finds it by its session's own directory.
        let body = format!(
            "{}for file in $RXHOME/sessions/*/spill/*; do grep -c '^29999$' $file; echo x > $file; done 2>/dev/null\n\
             ls $RXHOME/sessions | wc -l\ncat {first} 2>/dev/null | wc -c\n",
            place.words()
        );
        let look = place.script("look.sh", &body);
        let script = testkit::Script::new().runs("seq 1 30001").runs(&look);
        let results = place.results(&script);
        assert!(
            results[1].1.ends_with("\n1\n1\n0\n"),
            "{}: {results:?}",
            place.layer
        );
    }
}

#[test]
fn ssh_agent_and_docker_sockets_are_unreachable_in_the_sandbox() {
    for place in SandboxHouse::all() {
        let home = place.house.user_home();
        fs::create_dir_all(home.join(".docker/run")).expect("a directory");
        fs::create_dir_all(home.join(".keys")).expect("a directory");
        let agent = home.join(".keys/agent");
        let _open = [agent.clone(), home.join(".docker/run/docker.sock")].map(foreign_socket);
        let body = format!(
            "{}for at in $SSH_AUTH_SOCK $USERHOME/.keys/agent $USERHOME/.docker/run/docker.sock; do\n\
             python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$at')\" 2>/dev/null && echo REACHED $at\n\
             done; echo $SSH_AUTH_SOCK; echo end\n",
            place.words()
        );
        let command = place.script("connect.sh", &body);
        let printed = work(&place, &[&command], &[("SSH_AUTH_SOCK", &agent)]);
        let named = agent.to_string_lossy();
        assert!(printed[0].contains(&*named), "it has its name: {printed:?}");
        assert!(
            printed[0].ends_with("end\n") && !printed[0].contains("REACHED"),
            "{}: {printed:?}",
            place.layer
        );
    }
}

#[test]
fn a_pipe_in_the_place_of_a_repositorys_files_holds_nobody_up() {
    let place = SandboxHouse::held_by("landlock");
    let project = place.house.project();
    fs::create_dir(project.join(".git")).expect("a directory");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let head = project.join(".git/HEAD");
    rustix::fs::mkfifoat(rustix::fs::CWD, &head, mode).expect("a pipe");
    let done = place.run(&testkit::Script::new().says("Hello."), &[]);
    assert_eq!(done.expect_code(0).out, "Hello.\n");
}
