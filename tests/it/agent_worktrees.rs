//! Sub-agents with `isolation: worktree`: their own checkout and branch, what they leave, and what never runs there.

use std::path::{Path, PathBuf};
use std::process::Command;

use proto::Pid;
use serde_json::json;
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::{House, until};

use crate::scripted::{house, run};

/// A definition whose sessions get a worktree.
pub const AGENT: &str = "//- .reasonix/agents/apart.md\n---\ndescription: Works apart\nisolation: worktree\n---\nYou work apart.\n//- a.txt\nblue\n//- sub/b.txt\ngreen\n";

/// Runs git as the user does, and returns what it prints.
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("run git");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Makes the project a repository in which everything is committed.
pub fn repository(house: &House) {
    let project = house.project();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["config", "user.name", "Ann"]);
    git(&project, &["config", "user.email", "ann@localhost"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "first"]);
}

/// The worktrees beside the project.
pub fn worktrees(house: &House) -> Vec<PathBuf> {
    let place = house.root().join("project.worktrees");
    let Ok(found) = std::fs::read_dir(place) else {
        return Vec::new();
    };
    found.flatten().map(|entry| entry.path()).collect()
}

/// Entries of worktrees in the home.
pub fn entries(house: &House) -> usize {
    let found = std::fs::read_dir(house.home_file("worktrees"));
    found.expect("the entries").count()
}

fn is_of(request: &Request, words: &str) -> bool {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.unwrap_or_default().contains(words)
}

fn task() -> Answer {
    let task = json!({"agent": "apart", "prompt": "CHILD", "description": "a piece of work"});
    Answer::call("task", task)
}

/// A parent with one agent in a worktree, which makes these calls one after the other.
fn with_calls(calls: &'static [(&'static str, &'static str)]) -> Model {
    Model::start(Script::by(move |request| {
        let done = request.results().len();
        match (is_of(request, "PARENT"), calls.get(done)) {
            (true, _) if done == 0 => task(),
            (true, _) => Answer::text("The parent is done."),
            (false, Some((tool, arguments))) => {
                Answer::call(tool, serde_json::from_str(arguments).expect("JSON"))
            }
            (false, None) => Answer::text("The child is done."),
        }
    }))
}

/// The result of the parent's call.
fn result(house: &House) -> String {
    house.log(Pid(1)).results()[0].text.clone()
}

#[test]
fn agent_in_a_worktree_leaves_the_checkout_alone_and_says_how_to_take_it_over() {
    let model = with_calls(&[
        ("write_file", r#"{"path": "made.txt", "content": "new\n"}"#),
        (
            "bash",
            r#"{"command": "echo red > a.txt && git add a.txt && git commit -q -m second && pwd"}"#,
        ),
    ]);
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    house.files("//- sub/b.txt\nnot committed\n");
    let before = git(&house.project(), &["status", "--porcelain"]);
    run(&house, &[], "PARENT").expect(0, "completed");
    let said = result(&house);
    let [worktree] = &worktrees(&house)[..] else {
        panic!("one worktree: {said}")
    };
    // The checkout and its branch are as they were.
    let project = house.project();
    assert_eq!(git(&project, &["status", "--porcelain"]), before);
    assert_eq!(git(&project, &["log", "--format=%s"]), "first");
    assert_eq!(house.read("a.txt"), "blue\n");
    // The agent worked in the other one, from the last commit.
    let child = house.log(Pid(2));
    assert_eq!(child.created().cwd, worktree.to_string_lossy());
    assert_eq!(child.created().root, worktree.to_string_lossy());
    let printed = &child.results()[1].text;
    assert!(printed.contains(&*worktree.to_string_lossy()), "{printed}");
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).expect(name);
    assert_eq!(
        (read("made.txt"), read("sub/b.txt")),
        ("new\n".into(), "green\n".into())
    );
    // The result says what changed, what was missing, and what to do.
    assert!(said.starts_with("The child is done."), "{said}");
    for words in [
        "Commits: 1. Changed files: a.txt, made.txt.",
        "the uncommitted changes of 1 paths",
        "The files of your checkout are unchanged",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let branch = git(worktree, &["branch", "--show-current"]);
    let take = format!("git -C {} merge {branch}", project.display());
    let drop = format!(
        "git -C {} worktree remove --force --force {} && git -C {} branch -D {branch}",
        project.display(),
        worktree.display(),
        project.display()
    );
    assert!(said.contains(&take) && said.contains(&drop), "{said}");
    // Both commands do what the result says.
    git(worktree, &["add", "-A"]);
    git(worktree, &["commit", "-q", "-m", "third"]);
    let shell = |line: &str| {
        let status = Command::new("sh").args(["-c", line]).status();
        assert!(status.expect("run sh").success(), "{line}");
    };
    shell(&take);
    assert_eq!(
        (house.read("a.txt"), house.read("made.txt")),
        ("red\n".into(), "new\n".into())
    );
    shell(&drop);
    assert!(worktrees(&house).is_empty());
    // The next daemon forgets it.
    assert_eq!(entries(&house), 1);
    house.kill_daemon();
    house.wait_for_daemon();
    until("the entry to go", || (entries(&house) == 0).then_some(()));
}

#[test]
fn work_that_an_agent_left_on_another_branch_is_taken_over_too() {
    for moved in ["git checkout -q -b side", "git checkout -q --detach"] {
        let command = format!(
            "{moved} && echo red > a.txt && git add a.txt && git commit -q -m second && echo x > made.txt"
        );
        let arguments = json!({"command": command}).to_string();
        let calls = vec![("bash", &*arguments.leak())];
        let model = with_calls(calls.leak());
        let house = house(&model);
        house.files(AGENT);
        repository(&house);
        run(&house, &[], "PARENT").expect(0, "completed");
        let said = result(&house);
        let (project, worktree) = (house.project(), worktrees(&house).remove(0));
        let (project, at) = (project.display(), worktree.display());
        let head = format!("git -C {project} merge \"$(git -C {at} rev-parse HEAD)\"");
        assert!(said.contains(&head), "{moved}: {said}");
        git(&worktree, &["add", "-A"]);
        git(&worktree, &["commit", "-q", "-m", "third"]);
        let status = Command::new("sh").args(["-c", &head]).status();
        assert!(status.expect("run sh").success(), "{head}");
        assert_eq!(
            (house.read("a.txt"), house.read("made.txt")),
            ("red\n".into(), "x\n".into())
        );
    }
}

/// The result of an agent in a worktree that runs these commands, one call each.
fn result_of_commands(commands: &[&str], prepare: &dyn Fn(&House)) -> (House, String) {
    let calls = commands.iter().map(|command| {
        let arguments = json!({"command": command}).to_string();
        ("bash", &*arguments.leak())
    });
    let calls: Vec<(&'static str, &'static str)> = calls.collect();
    let model = with_calls(calls.leak());
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    prepare(&house);
    run(&house, &["--approval-mode", "yolo"], "PARENT").expect(0, "completed");
    let said = result(&house);
    (house, said)
}

#[test]
fn worktree_with_work_hidden_from_git_status_is_kept_and_the_work_is_named() {
    let commit = "git commit -q --allow-empty -m other";
    let cases = [
        // Where nothing else is in it: the directory of a submodule.
        (
            "echo x > inside/precious".to_owned(),
            "files in the nested repository `inside`",
        ),
        (
            "git update-index --skip-worktree a.txt && echo red > a.txt".to_owned(),
            "Changed files: a.txt.",
        ),
        (
            "git update-index --assume-unchanged a.txt && echo red > a.txt".to_owned(),
            "Changed files: a.txt.",
        ),
        (
            format!("git switch -q -c foo && {commit} && git switch -q -"),
            "(foo)",
        ),
        (
            format!("git switch -q --detach && {commit} && git switch -q -"),
            "Not in these commits and files: commit ",
        ),
        (
            "git init -q build/r && cd build/r && git commit -q --allow-empty -m precious"
                .to_owned(),
            "files in the nested repository `build/r`",
        ),
        (
            format!(
                "b=$(git branch --show-current); git switch -q -c $b-wip && {commit} && git switch -q $b"
            ),
            "-wip)",
        ),
        (
            "echo x > x && git add x && rm x".to_owned(),
            "Changed files: x.",
        ),
        (
            "echo red > a.txt && git stash -q".to_owned(),
            " (stash@{0})",
        ),
    ];
    for (command, named) in cases {
        let (house, said) = result_of_commands(&[&command], &|house| {
            let project = house.project();
            let link = format!("160000,{},inside", git(&project, &["rev-parse", "HEAD"]));
            git(&project, &["update-index", "--add", "--cacheinfo", &link]);
            house.files("//- .gitignore\nbuild/\n");
            git(&project, &["add", ".gitignore"]);
            git(&project, &["commit", "-q", "-m", "link"]);
        });
        assert!(said.contains(named), "{command}: {said}");
        assert_eq!(worktrees(&house).len(), 1, "{command}: {said}");
        assert!(!said.contains("To take it over: ."), "{command}: {said}");
    }
}

#[test]
fn commands_that_take_over_fit_what_the_agent_left() {
    let commit = "echo red > a.txt && git commit -q -a -m second";
    // A branch with another name: it is taken over by its commit.
    let (house, said) = result_of_commands(&[&format!("git branch -m other; {commit}")], &|_| {});
    let ran = house.log(Pid(2)).results()[0].text.clone();
    assert!(!said.contains("merge reasonix/"), "{said}\n{ran}");
    assert!(!said.contains("branch -D"), "{said}");
    assert!(said.contains("rev-parse HEAD"), "{said}\n{ran}");
    drop(house);
    // Nothing to merge.
    let later = |house: &House| {
        house.files("//- later.txt\nx\n");
        git(&house.project(), &["add", "-A"]);
        git(&house.project(), &["commit", "-q", "-m", "later"]);
    };
    let (house, said) = result_of_commands(&["git reset -q --hard HEAD~1"], &later);
    assert!(said.contains("Changed files: later.txt."), "{said}");
    assert!(!said.contains("To take it over"), "{said}");
    drop(house);
    // What is half merged is not committed by a command that we name.
    let merge = format!(
        "{commit} && git switch -q -c side HEAD~1 && echo green > a.txt && git commit -q -a -m third && ! git merge -q -"
    );
    let (_house, said) = result_of_commands(&[&merge], &|_| {});
    assert!(said.contains("is not finished there"), "{said}");
    assert!(!said.contains("add -A"), "{said}");
}

#[test]
fn worktree_that_another_was_made_from_is_kept_and_names_it() {
    let inner = |request: &Request| request.results().is_empty();
    let model = Model::start(Script::by(move |request| {
        let inside = json!({"agent": "apart", "prompt": "INNER", "description": "x"});
        match (is_of(request, "PARENT"), is_of(request, "INNER")) {
            (true, _) if inner(request) => task(),
            (_, true) if inner(request) => {
                Answer::call("write_file", json!({"path": "made.txt", "content": "x"}))
            }
            (false, false) if inner(request) => Answer::call("task", inside),
            _ => Answer::text("Done."),
        }
    }));
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    run(&house, &[], "PARENT").expect(0, "completed");
    let said = result(&house);
    assert!(said.contains("which was made from it"), "{said}");
    assert_eq!(worktrees(&house).len(), 2, "{said}");
}

#[test]
fn agent_in_a_worktree_cannot_move_the_checkout() {
    let attacks = [
        "git --git-dir=$(git rev-parse --git-common-dir) symbolic-ref HEAD refs/heads/other",
        "git --git-dir=$(git rev-parse --git-common-dir) read-tree --empty",
        "cd ../../project && git checkout -q -b hijack",
        "echo 'ref: refs/heads/other' > $(git rev-parse --git-common-dir)/HEAD",
        "rm $(git rev-parse --git-common-dir)/index",
    ];
    let mut commands: Vec<_> = attacks
        .iter()
        .map(|it| format!("({it}); echo exit $?"))
        .collect();
    // Its own branch is its own.
    commands.push("echo red > a.txt && git commit -q -a -m second; echo exit $?".to_owned());
    let commands: Vec<_> = commands.iter().map(String::as_str).collect();
    let (house, said) = result_of_commands(&commands, &|_| {});
    let project = house.project();
    assert_eq!(git(&project, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    assert!(said.contains("Commits: 1."), "{said}");
    for (number, result) in house.log(Pid(2)).results().iter().enumerate() {
        let done = result.text.contains("exit 0");
        assert_eq!(done, number == attacks.len(), "{result:?}");
    }
}

#[test]
fn worktree_without_changes_is_removed() {
    // What git ignores is no change.
    let model = with_calls(&[(
        "bash",
        r#"{"command": "mkdir target && echo x > target/out && cat a.txt"}"#,
    )]);
    let house = house(&model);
    house.files(AGENT);
    house.files("//- .gitignore\ntarget\n");
    repository(&house);
    run(&house, &[], "PARENT").expect(0, "completed");
    let said = result(&house);
    assert!(
        said.contains("The agent changed nothing in its git worktree, which was removed."),
        "{said}"
    );
    assert!(house.log(Pid(2)).results()[0].text.contains("blue"));
    assert!(!house.root().join("project.worktrees").exists());
    assert_eq!(entries(&house), 0);
    let project = house.project();
    assert_eq!(
        git(&project, &["branch", "--format=%(refname:short)"]),
        "main"
    );
    assert_eq!(git(&project, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn worktree_runs_nothing_that_the_repository_names() {
    let model = with_calls(&[("bash", r#"{"command": "echo red > a.txt"}"#)]);
    let house = house(&model);
    house.files(AGENT);
    house.files("//- .gitattributes\n*.txt filter=evil diff=evil\n");
    repository(&house);
    let project = house.project();
    let trap = house.root().join("trap");
    let line = format!("echo ran >> {}; cat", trap.display());
    let script = house.root().join("evil");
    std::fs::write(&script, format!("#!/bin/sh\n{line}\n")).expect("a program");
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, runs).expect("its mode");
    let script = script.to_string_lossy().into_owned();
    for name in [
        "post-checkout",
        "reference-transaction",
        "post-index-change",
    ] {
        std::fs::copy(&script, project.join(".git/hooks").join(name)).expect("a hook");
    }
    // The user's own git would run all of these.
    let included = house.root().join("included");
    std::fs::write(
        &included,
        format!("[filter \"evil\"]\n\tsmudge = {script}\n\tclean = {script}\n\trequired = true\n[diff \"evil\"]\n\ttextconv = {script}\n\tcommand = {script}\n[core]\n\tfsmonitor = {script}\n[hook \"evil\"]\n\tcommand = {script}\n\tevent = post-checkout\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {script}\n"),
    )
    .expect("a config");
    let commit = git(&project, &["cat-file", "commit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----";
    let signed = commit.replacen("\n\n", &format!("\n{signature}\n\n"), 1) + "\n";
    let file = house.root().join("signed");
    std::fs::write(&file, signed).expect("a commit");
    let file = file.to_string_lossy().into_owned();
    let signed = git(&project, &["hash-object", "-t", "commit", "-w", &file]);
    git(&project, &["update-ref", "refs/heads/main", &signed]);
    git(
        &project,
        &["config", "include.path", &included.to_string_lossy()],
    );
    git(
        &project,
        &["worktree", "add", "-q", "-b", "mine", "../mine"],
    );
    assert!(trap.exists(), "the trap works");
    std::fs::remove_file(&trap).expect("the trap");
    run(&house, &[], "PARENT").expect(0, "completed");
    let said = result(&house);
    let ran = &house.log(Pid(2)).results()[0];
    assert_eq!(ran.status.as_str(), "ok", "{ran:?}");
    assert!(said.contains("Changed files: a.txt."), "{said}");
    assert!(!trap.exists(), "{:?}", std::fs::read_to_string(&trap));
}

#[test]
fn failed_worktree_creation_for_an_agent_reports_the_cause() {
    let model = with_calls(&[]);
    let house = house(&model);
    house.files(AGENT);
    let refused = |words: &str, pid: u64| {
        run(&house, &[], "PARENT").expect(0, "completed");
        let results = house.log(Pid(pid)).results();
        let said = &results[0];
        assert_eq!(said.status.as_str(), "failed", "{said:?}");
        assert!(said.text.contains(words), "{words}: {said:?}");
        assert!(worktrees(&house).is_empty(), "{words}");
        assert_eq!(entries(&house), 0, "{words}");
        let place = house.root().join("project.worktrees");
        assert!(!place.exists(), "{words}: nothing is left");
    };
    refused(
        "it is not a git repository. Run `git init` and commit there",
        1,
    );
    let project = house.project();
    git(&project, &["init", "-q", "-b", "main"]);
    refused("it has no commit. Make a first commit there", 2);
    std::fs::remove_dir_all(project.join(".git")).expect("the repository");
    repository(&house);
    // A branch of this name leaves no room for those below it.
    git(&project, &["branch", "reasonix"]);
    refused("git failed: fatal: ", 3);
    git(&project, &["branch", "-D", "reasonix"]);
    let place = house.root().join("project.worktrees");
    std::os::unix::fs::symlink("/tmp", &place).expect("a link");
    let said = format!("`{}` is not a directory of yours", place.display());
    run(&house, &[], "PARENT").expect(0, "completed");
    assert!(house.log(Pid(4)).results()[0].text.contains(&said));
    std::fs::remove_file(&place).expect("the link");
    git(&project, &["config", "filter.a=b.clean", "cat"]);
    refused("its config has a `filter` with an unusable name", 5);
}

#[test]
fn worktree_has_the_trust_of_its_origin_and_no_more() {
    let model = with_calls(&[("write_file", r#"{"path": "made.txt", "content": "x"}"#)]);
    let house = house(&model);
    house.files(AGENT);
    house.files("//- reasonix.toml\n[permissions]\nallow = [\"Edit(made.txt)\"]\n");
    repository(&house);
    // `--read-only` aside, nothing but the project's rule allows it.
    let status = |pid: u64| {
        let ran = run(&house, &["--on-ask", "deny"], "PARENT");
        let status = house.log(Pid(pid)).results()[0].status.as_str().to_owned();
        // What stops the agent blocks the run.
        assert_eq!(ran.result["outcome"] == "blocked", status == "denied");
        status
    };
    assert_eq!(status(2), "denied", "nobody trusts the project");
    let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
    assert_eq!(status(4), "ok", "the rule of the trusted origin");
    // The trust is that of these lines: others have none.
    house.files("//- reasonix.toml\n[permissions]\nallow = [\"Edit(*.txt)\"]\n");
    git(
        &house.project(),
        &["commit", "-q", "-a", "-m", "other lines"],
    );
    assert_eq!(status(6), "denied", "lines that nobody has seen");
}

/// A `git` that notes where two are at work on worktrees at the same time, and takes its time for it.
fn noting_git(directory: &Path) {
    let place = directory.display();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'worktree add'*|*'worktree remove'*)\nmkdir '{place}/busy' || : > '{place}/met'\nsleep 0.2\n/usr/bin/git \"$@\"\ncode=$?\nrmdir '{place}/busy'\nexit $code\nesac\nexec /usr/bin/git \"$@\"\n"
    );
    std::fs::create_dir(directory).expect("the directory");
    let program = directory.join("git");
    std::fs::write(&program, script).expect("the program");
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, runs).expect("its mode");
}

/// Three agents at once: each in a worktree and on a branch of its own. Git fails now and then where two are made at the
/// same time.
#[test]
fn agents_side_by_side_have_a_worktree_each() {
    const COUNT: usize = 3;
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        let done = request.results().len();
        if is_of(request, "PARENT") {
            if done > 0 {
                return Answer::text("The parent is done.");
            }
            return (0..COUNT).fold(Answer::text(""), |answer, at| {
                let prompt = format!("CHILD {at}");
                let task = json!({"agent": "apart", "prompt": prompt, "description": "x"});
                answer.and_call("task", task)
            });
        }
        let at = (0..COUNT).find(|at| is_of(request, &format!("CHILD {at}")));
        let at = at.expect("a child");
        match done {
            0 => Answer::call(
                "write_file",
                json!({"path": "made.txt", "content": format!("{at}\n")}),
            ),
            _ => Answer::text(format!("Child {at} is done.")).held(Place::Before, &held),
        }
    }));
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    let programs = house.user_home().join("programs");
    noting_git(&programs);
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let mut command = house.command(&["run", "--detach", "PARENT"]);
    let ran = tests::Running::start(command.env("PATH", path)).done();
    assert_eq!(ran.code(), Some(0), "{ran:?}");
    until("all files to be there", || {
        let found = worktrees(&house);
        let made = found.iter().filter(|path| path.join("made.txt").exists());
        (made.count() == COUNT).then_some(())
    });
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    let results = house.log(Pid(1)).results();
    let mut branches = std::collections::BTreeSet::new();
    for (at, result) in results.iter().enumerate() {
        let place = worktrees(&house).into_iter().find(|path| {
            let text = std::fs::read_to_string(path.join("made.txt"));
            text.expect("the file") == format!("{at}\n")
        });
        let place = place.expect("a worktree");
        branches.insert(git(&place, &["branch", "--show-current"]));
        for words in [
            format!("Child {at} is done."),
            place.display().to_string(),
            "Changed files: made.txt.".to_owned(),
        ] {
            assert!(result.text.contains(&words), "{words}: {}", result.text);
        }
    }
    assert_eq!((results.len(), branches.len()), (COUNT, COUNT));
    assert!(!house.project().join("made.txt").exists());
    assert!(programs.join("git").exists() && !programs.join("met").exists());
}

#[test]
fn agent_in_the_background_brings_what_its_worktree_has() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        let done = request.results().len();
        let mut messages = request.messages().iter();
        let brought = messages.any(|message| {
            let text = message["content"].as_str().unwrap_or_default();
            text.contains("in the background (session")
        });
        match (is_of(request, "PARENT"), done) {
            (true, 0) => {
                let task = json!({"agent": "apart", "prompt": "CHILD", "description": "x", "background": true});
                Answer::call("task", task)
            }
            (true, _) if brought => Answer::text("So it is made."),
            (true, _) => Answer::text("I go on meanwhile.").held(Place::Before, &held),
            (false, 0) => Answer::call("write_file", json!({"path": "made.txt", "content": "x"})),
            (false, _) => Answer::text("The child is done."),
        }
    }));
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    let mut raw = house.raw_as(proto::hello::Role::Drive);
    let mut params = house.create("PARENT");
    params.options.approval_mode = Some(proto::state::ApprovalMode::Yolo);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    let message = until("the result to come", || {
        let messages = house.log(Pid(1)).bodies().into_iter();
        let mut queued = messages.filter_map(|body| match body {
            proto::Body::PromptQueued(prompt) => Some(prompt.text),
            _ => None,
        });
        let found = queued.find(|text| text.contains("in the background (session 2)"));
        gate.is_reached().then_some(found)?
    });
    assert!(message.contains("The child is done."), "{message}");
    assert!(message.contains("Changed files: made.txt."), "{message}");
    let [worktree] = &worktrees(&house)[..] else {
        panic!("one worktree: {message}")
    };
    assert!(message.contains(&*worktree.to_string_lossy()), "{message}");
    assert!(!house.project().join("made.txt").exists());
    gate.open();
    until("the turn with the result", || {
        (house.log(Pid(1)).count("turn.ended") > 0).then_some(())
    });
}

#[test]
fn missing_git_fails_the_call_and_says_so() {
    let model = with_calls(&[]);
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    let mut command = house.command(&["run", "PARENT"]);
    command.env("PATH", house.user_home());
    let done = tests::Running::start(&mut command).done();
    assert_eq!(done.code(), Some(0), "{done:?}");
    let said = &house.log(Pid(1)).results()[0];
    assert_eq!(said.status.as_str(), "failed", "{said:?}");
    assert!(said.text.contains("`git` is not on PATH"), "{said:?}");
    assert!(worktrees(&house).is_empty());
    assert_eq!(entries(&house), 0);
}

#[test]
fn worktree_of_an_agent_is_found_again_after_a_kill() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => task(),
            (true, _) => Answer::text("The parent is done."),
            (false, 0) => Answer::call("write_file", json!({"path": "made.txt", "content": "x"})),
            (false, _) => Answer::text("The child is done.").held(Place::Before, &held),
        }
    }));
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    let pid = house
        .reasonix(&["run", "--detach", "PARENT"])
        .expect_code(0);
    assert_eq!(pid.out.trim(), "1");
    until("the agent's second request", || {
        gate.is_reached().then_some(())
    });
    let before = worktrees(&house);
    house.kill_daemon();
    house.wait_for_daemon();
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    assert_eq!((before.len(), worktrees(&house)), (1, before));
    let said = result(&house);
    assert!(said.contains("The child is done."), "{said}");
    assert!(said.contains("Changed files: made.txt."), "{said}");
}

#[test]
fn worktree_whose_session_never_was_is_removed_at_the_next_start() {
    let model = with_calls(&[("write_file", r#"{"path": "made.txt", "content": "x"}"#)]);
    let house = house(&model);
    house.files(AGENT);
    repository(&house);
    run(&house, &[], "PARENT").expect(0, "completed");
    // As if the daemon had been killed between the two: an entry of a session that is not there.
    let place = house.home_file("worktrees");
    let entry = std::fs::read_dir(&place).expect("entries").flatten().next();
    let entry = entry.expect("an entry").path();
    let text = std::fs::read_to_string(&entry).expect("an entry");
    let text = text.replace("\"kept\":true", "\"kept\":false");
    let id = worktrees(&house)[0].file_name().expect("a name").to_owned();
    let branch = format!("reasonix/{}", id.to_string_lossy());
    house.kill_daemon_and_parent();
    std::fs::remove_file(&entry).expect("the entry");
    let other = place.join("00000000-0000-4000-8000-000000000000");
    std::fs::write(&other, &text).expect("an entry");
    house.daemon();
    until("the worktree to go", || {
        worktrees(&house).is_empty().then_some(())
    });
    until("its entry to go", || (entries(&house) == 0).then_some(()));
    // As if git had been killed after it made the branch, in the middle of another change of it.
    house.kill_daemon_and_parent();
    let project = house.project();
    git(&project, &["branch", &branch]);
    let lock = project.join(format!(".git/refs/heads/{branch}.lock"));
    std::fs::write(&lock, "").expect("a lock");
    std::fs::create_dir_all(&place).expect("a place");
    std::fs::write(&other, &text).expect("an entry");
    house.daemon();
    until("its entry to go", || (entries(&house) == 0).then_some(()));
    assert_eq!(git(&project, &["branch", "--list", &branch]), "");
    assert!(!lock.exists());
    // As if git had been killed while it wrote what it knows of the worktree. The second makes every later
    // `git worktree` command fail.
    let worktree = house.root().join("project.worktrees").join(&id);
    let known = project.join(".git/worktrees").join(&id);
    let link = format!("{}/.git\n", worktree.display());
    for common in ["../..\n", ""] {
        house.kill_daemon_and_parent();
        for directory in [&worktree, &known, &place] {
            std::fs::create_dir_all(directory).expect("a directory");
        }
        let files = [
            ("locked", "initializing"),
            ("gitdir", &link),
            ("commondir", common),
        ];
        for (name, text) in files {
            std::fs::write(known.join(name), text).expect("a file");
        }
        std::fs::write(&other, &text).expect("an entry");
        house.daemon();
        until("its entry to go", || (entries(&house) == 0).then_some(()));
        assert!(!worktree.exists(), "{common:?}");
        assert!(!known.exists(), "{common:?}");
        git(
            &project,
            &["worktree", "add", "-q", "--detach", "../project.other"],
        );
        git(&project, &["worktree", "remove", "../project.other"]);
    }
}
