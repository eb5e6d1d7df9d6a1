//! Protected names that do not exist: nothing is made for them, and what comes is moved away.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use contract::Quarantined;

use super::*;

/// The entries of a directory, and when it changed last: nothing was created in it meanwhile if both are the same.
fn state(directory: &Path) -> (Vec<String>, i64, i64) {
    let found = directory.metadata().unwrap();
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    (names, found.ctime(), found.ctime_nsec())
}

/// Everything in the quarantine: paths below its entries.
fn kept(room: &SandboxRoom) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![room.at("quarantine")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path.clone());
            }
            let below = path.strip_prefix(room.at("quarantine")).unwrap();
            all.push(below.components().skip(1).collect::<std::path::PathBuf>());
        }
    }
    let mut all: Vec<_> = all.iter().map(|path| path.display().to_string()).collect();
    all.retain(|path| !path.is_empty() && !path.contains('-'));
    all.sort();
    all
}

async fn came(child: &mut Child) -> Vec<Quarantined> {
    let next = async {
        loop {
            match child.events.next().await {
                Some(ChildEvent::Quarantined(items)) => return items,
                Some(ChildEvent::Stdout(_) | ChildEvent::Stderr(_)) => {}
                other => panic!("nothing came, but {other:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, next)
        .await
        .expect("it is noticed")
}

#[tokio::test]
async fn nothing_is_made_for_protected_names_that_do_not_exist() {
    for room in rooms().await {
        let directories = [room.ws(""), room.ws(".git")];
        let before = directories.each_ref().map(|directory| state(directory));
        let list = room.sh("ls -aU . .git | sort").await;
        for hidden in [
            ".mcp.json",
            ".reasonix",
            ".vscode",
            "commondir",
            "reasonix.toml",
        ] {
            assert!(!list.out.contains(hidden), "{:?}: {list:?}", room.user);
        }
        assert!(list.out.contains("hooks\n"), "{:?}: {list:?}", room.user);
        let after = directories.each_ref().map(|directory| state(directory));
        assert_eq!(before, after, "{:?}: something was made", room.user);
    }
}

#[tokio::test]
async fn files_the_user_creates_during_a_command_stay_or_can_be_put_back() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let mut asked = room.command("echo ready; exec sleep 1000");
        asked.number = Some(Pid(8));
        let mut child = procs.spawn(SESSION, asked).await.unwrap();
        line(&mut child).await;
        fs::create_dir(room.ws(".reasonix")).expect("the name is free");
        fs::create_dir(room.ws(".vscode")).expect("the name is free");
        fs::write(room.ws(".vscode/extensions.json"), "mine").unwrap();
        fs::write(room.ws(".mcp.json"), "mine").unwrap();
        let items = came(&mut child).await;
        child.control.stop(0);
        finish(child).await;
        assert!(room.ws(".reasonix").is_dir(), "an empty directory stays");
        assert_eq!(room.text("ws/.vscode/extensions.json"), "mine");
        let [item] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!(Path::new(&item.path), room.ws(".mcp.json"));
        let kept = item.kept.clone().unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
        procs.put_back(item).expect("it comes back");
        assert_eq!(room.text("ws/.mcp.json"), "mine");
        // It exists when the next command starts, so that one cannot change it.
        room.sh("echo theirs > .mcp.json").await;
        assert_eq!(room.text("ws/.mcp.json"), "mine");
    }
}

/// What commands do, and what is in the quarantine then.
const MADE: [(&str, &[&str]); 16] = [
    ("echo x > .mcp.json", &[".mcp.json"]),
    ("mv file .mcp.json", &[".mcp.json"]),
    ("ln file .mcp.json", &[".mcp.json"]),
    ("ln -s /etc/passwd .mcp.json", &[".mcp.json"]),
    ("mkfifo .mcp.json", &[".mcp.json"]),
    (
        "mkdir .reasonix && echo x > .reasonix/settings.json",
        &[".reasonix", ".reasonix/settings.json"],
    ),
    (
        "mkdir new && echo x > new/settings.json && mv new .reasonix",
        &[".reasonix", ".reasonix/settings.json"],
    ),
    (
        "mkdir new && echo x > new/settings.json && ln -s new .reasonix",
        &[".reasonix"],
    ),
    (
        "mkdir new && echo x > new/settings.json && chmod 000 new && mv new .reasonix",
        &[".reasonix", ".reasonix/settings.json"],
    ),
    (
        "mkdir .vscode && echo x > .vscode/tasks.json && echo x > .vscode/other.json",
        &["tasks.json"],
    ),
    (
        "mkdir .claude && echo x > .claude/settings.json",
        &["settings.json"],
    ),
    (
        "mkdir -p .reasonix/deep/er && mv file .reasonix/deep/er/config",
        &[
            ".reasonix",
            ".reasonix/deep",
            ".reasonix/deep/er",
            ".reasonix/deep/er/config",
        ],
    ),
    ("echo x > .git/commondir", &["commondir"]),
    ("echo x > .git/config.worktree", &["config.worktree"]),
    (
        "mkdir .git/modules && echo x > .git/modules/evil",
        &["modules", "modules/evil"],
    ),
    ("mkdir .reasonix", &[]),
];

#[tokio::test]
async fn what_a_command_makes_under_a_protected_name_is_moved_away() {
    for (script, expected) in MADE {
        // A room for each: they differ by user and place.
        for room in rooms().await {
            let done = room.sh(script).await;
            assert_eq!(code(&done), Some(0), "{:?}: {script}: {done:?}", room.user);
            assert_eq!(kept(&room), expected, "{:?}: {script}", room.user);
            for name in [
                ".mcp.json",
                ".claude/settings.json",
                ".reasonix/deep",
                ".reasonix/settings.json",
                ".vscode/tasks.json",
                ".git/commondir",
                ".git/config.worktree",
                ".git/modules",
            ] {
                let there = room.ws(name).symlink_metadata();
                assert!(there.is_err(), "{:?}: {script}: {name}", room.user);
            }
        }
    }
}

#[tokio::test]
async fn protected_file_of_a_background_command_is_moved_away_while_it_runs() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let script = "mkdir .vscode; echo x > .vscode/tasks.json; exec sleep 1000";
        let mut asked = room.command(script);
        asked.number = Some(Pid(8));
        let mut child = procs.spawn(SESSION, asked).await.unwrap();
        let items = came(&mut child).await;
        assert_eq!(Path::new(&items[0].path), room.ws(".vscode/tasks.json"));
        assert!(!room.ws(".vscode/tasks.json").exists());
        assert_eq!(kept(&room), ["tasks.json"]);
        child.control.stop(0);
        finish(child).await;
    }
}

#[tokio::test]
async fn a_command_that_makes_such_a_file_again_and_again_is_stopped() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let script = "while :; do test -e .git/commondir || echo x > .git/commondir; done";
        let child = procs.spawn(SESSION, room.command(script)).await.unwrap();
        let done = finish(child).await;
        assert_eq!(done.exit.and_then(|exit| exit.signal), Some(9));
        assert!(!room.ws(".git/commondir").exists());
    }
}

#[tokio::test]
async fn a_command_that_is_waited_for_is_not_disturbed_half_way() {
    for room in rooms().await {
        let script =
            "mkdir .vscode && echo x > .vscode/tasks.json && sleep 0.1 && cat .vscode/tasks.json";
        let done = room.sh(script).await;
        assert_eq!(done.out, "x\n", "{:?}: {done:?}", room.user);
        assert_eq!(kept(&room), ["tasks.json"], "{:?}", room.user);
    }
}

#[tokio::test]
async fn what_git_would_run_by_its_config_is_moved_away_while_the_command_is_waited_for() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let script = "mkdir .husky && echo x > .husky/pre-commit; exec sleep 1000";
        let mut child = procs.spawn(SESSION, room.command(script)).await.unwrap();
        let items = came(&mut child).await;
        assert_eq!(Path::new(&items[0].path), room.ws(".husky"));
        assert!(!room.ws(".husky").exists());
        child.control.stop(0);
        finish(child).await;
    }
}

/// How a command makes a repository, and what is there when it has ended.
const REPOSITORIES: [(&str, bool); 5] = [
    (
        "git init -q && git config user.name A && touch .git/new",
        true,
    ),
    (
        "git init -q --template= && git add . && git write-tree",
        true,
    ),
    ("git init -q && git config core.fsmonitor ./evil", false),
    ("git init -q && echo x > .git/hooks/post-checkout", false),
    // It runs nothing, but where a push goes is for the user to say.
    (
        "git init -q && git remote add origin /else && sleep 0.3 && git status",
        false,
    ),
];

/// Removes the repository of a room. Then `.git` is protected as a whole.
fn without_repository(room: &mut SandboxRoom) {
    let git = room.ws(".git");
    fs::remove_dir_all(&git).unwrap();
    let protected = &mut room.sandbox.protected;
    protected.retain(|path| !path.starts_with(&git));
    protected.push(git);
}

#[tokio::test]
async fn a_new_repository_stays_only_if_it_configures_and_runs_nothing() {
    for (script, stays) in REPOSITORIES {
        for mut room in rooms().await {
            without_repository(&mut room);
            let done = room.sh(script).await;
            assert_eq!(code(&done), Some(0), "{:?}: {script}: {done:?}", room.user);
            assert_eq!(room.ws(".git").exists(), stays, "{:?}: {script}", room.user);
            let in_quarantine = kept(&room).contains(&".git".to_owned());
            assert_eq!(in_quarantine, !stays, "{:?}: {script}", room.user);
        }
    }
}

#[tokio::test]
async fn a_new_repository_that_may_run_something_is_moved_away_at_once() {
    for mut room in own_rooms().await {
        without_repository(&mut room);
        let procs = Procs::start(room.options()).unwrap();
        // The config changes in its place: no name comes.
        let script = "git init -q; echo '[core]
            fsmonitor = evil' >> .git/config; exec sleep 1000";
        let mut child = procs.spawn(SESSION, room.command(script)).await.unwrap();
        let items = came(&mut child).await;
        assert_eq!(Path::new(&items[0].path), room.ws(".git"));
        assert!(!room.ws(".git").exists());
        child.control.stop(0);
        finish(child).await;
    }
}

#[tokio::test]
async fn what_a_tool_is_about_to_create_is_left_alone() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let script = "echo ready; until test -e go; do sleep 0.01; done";
        let mut child = procs.spawn(SESSION, room.command(script)).await.unwrap();
        line(&mut child).await;
        procs.expect(&[room.ws(".reasonix/settings.json")]);
        fs::create_dir(room.ws(".reasonix")).unwrap();
        fs::write(room.ws(".reasonix/settings.json"), "{}").unwrap();
        fs::write(room.ws("go"), "").unwrap();
        finish(child).await;
        assert_eq!(room.text("ws/.reasonix/settings.json"), "{}");
        assert_eq!(kept(&room), [""; 0]);
    }
}

#[tokio::test]
async fn new_daemon_quarantines_protected_files_left_by_a_killed_one() {
    for room in own_rooms().await {
        let mut daemon = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
            .args(["sandboxed", &format!("{BACKEND:?}")])
            .arg(serde_json::to_string(&room.sandbox).unwrap())
            .arg("touch started; exec sleep 1000")
            .spawn()
            .unwrap();
        until("it runs", || room.ws("started").exists()).await;
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        fs::write(room.ws(".mcp.json"), "late").unwrap();
        let procs = Procs::start(room.options()).unwrap();
        assert_eq!(procs.leftovers(Pid(2)), [], "of another session");
        let items = procs.leftovers(Pid(1));
        assert_eq!(Path::new(&items[0].path), room.ws(".mcp.json"));
        assert!(!room.ws(".mcp.json").exists());
        assert_eq!(kept(&room), [".mcp.json"]);
        assert_eq!(procs.leftovers(Pid(1)), [], "reported once");
    }
}

#[tokio::test]
async fn a_link_in_a_protected_place_and_its_target_cannot_be_changed() {
    for room in rooms().await {
        std::os::unix::fs::symlink("../outside", room.ws(".mcp.json")).unwrap();
        std::fs::rename(room.ws(".git"), room.ws("sub/store")).unwrap();
        std::os::unix::fs::symlink("sub/store", room.ws(".git")).unwrap();
        room.give();
        let attacks = "ln -sfn sub .mcp.json; rm -f .git; rm -rf .git; mv .git away; mv sub sub2; mv sub/store sub/gone
            mkdir .reasonix; echo x > reasonix.toml; echo x > .git/config; echo x > sub/store/hooks/pre-commit
            echo x > .mcp.json/file; mv file .git; rm -f file";
        let done = room
            .sh(&format!(
                "{{ {attacks}\n}} 2>/dev/null; readlink .git .mcp.json; echo new > file
            echo deep > sub/new; echo index > .git/index; cat file sub/new sub/store/index"
            ))
            .await;
        let expected = "sub/store\n../outside\nnew\ndeep\nindex\n";
        assert_eq!(done.out, expected, "{:?}: {done:?}", room.user);
        assert_eq!(room.text("ws/.git/config"), "config");
        assert_eq!(room.text("outside/file"), "outside");
        let hooks = std::fs::read_dir(room.ws("sub/store/hooks")).unwrap();
        assert_eq!(hooks.count(), 0);
        for name in [".reasonix", "reasonix.toml", "away", "sub2", "sub/gone"] {
            assert!(!room.ws(name).exists(), "{name} was made");
        }
    }
}

#[tokio::test]
async fn a_dangling_link_in_a_protected_place_is_refused_with_the_reason() {
    for room in own_rooms().await {
        std::os::unix::fs::symlink("nowhere", room.ws(".reasonix")).unwrap();
        let procs = Procs::start(room.options()).unwrap();
        let Err(error) = procs.spawn(SESSION, room.command("true")).await else {
            panic!("it started")
        };
        let text = error.to_string();
        assert!(
            text.contains("is a link that cannot be protected"),
            "{text}"
        );
    }
}

/// Saves a file as git does.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("lock");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

#[tokio::test]
async fn held_config_that_another_program_replaced_takes_no_program_from_a_command() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let mut asked = room.command(
            "echo ready; until grep -q Ann .git/config; do sleep 0.01; done; printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config; exec sleep 1000",
        );
        asked.number = Some(Pid(8));
        let config = room.ws(".git/config");
        let before = "[core]\n\tbare = false\n";
        fs::write(&config, before).unwrap();
        let mut child = procs.spawn(SESSION, asked).await.unwrap();
        line(&mut child).await;
        replace(&config, &format!("{before}[user]\n\tname = Ann\n"));
        let items = came(&mut child).await;
        let [item] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!(Path::new(&item.path), config);
        assert!(item.restored, "{item:?}");
        assert_eq!(fs::read_to_string(&config).unwrap(), before);
        let kept = item.kept.clone().unwrap();
        let moved = fs::read_to_string(&kept).unwrap();
        assert!(
            moved.contains("Ann") && moved.contains("evil"),
            "nothing is lost: {moved}"
        );
        procs.put_back(item).expect("it comes back");
        assert_eq!(fs::read_to_string(&config).unwrap(), moved);
        assert_eq!(fs::read_to_string(&kept).unwrap(), before);
        child.control.stop(0);
        finish(child).await;
    }
}

#[tokio::test]
async fn what_the_user_saves_in_the_place_of_a_held_file_stays() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let tasks = room.ws(".vscode/tasks.json");
        fs::create_dir_all(room.ws(".vscode")).unwrap();
        fs::write(&tasks, "{}").unwrap();
        let mut asked = room.command("echo ready; until test -e go; do sleep 0.01; done");
        asked.number = None;
        let config = room.ws(".git/config");
        fs::write(&config, "[core]\n\tbare = false\n").unwrap();
        let mut child = procs.spawn(SESSION, asked).await.unwrap();
        line(&mut child).await;
        let text = format!(
            "{}[branch \"main\"]\n\tvscode-merge-base = origin/main\n",
            fs::read_to_string(&config).unwrap()
        );
        replace(&config, &text);
        replace(&tasks, "{\"mine\": 1}");
        fs::write(room.ws("go"), "").unwrap();
        let items = came(&mut child).await;
        finish(child).await;
        let [item] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!(Path::new(&item.path), tasks, "{item:?}");
        assert_eq!((&item.kept, &item.problem), (&None, &None));
        assert_eq!(fs::read_to_string(&tasks).unwrap(), "{\"mine\": 1}");
        assert_eq!(fs::read_to_string(&config).unwrap(), text);
    }
}

#[tokio::test]
async fn files_written_by_approved_calls_are_not_quarantined_after_a_crash() {
    for room in own_rooms().await {
        let procs = Procs::start(room.options()).unwrap();
        let mut asked = room.command("echo ready; exec sleep 1000");
        asked.number = Some(Pid(8));
        let mut child = procs.spawn(SESSION, asked).await.unwrap();
        line(&mut child).await;
        let name = room.ws(".mcp.json");
        procs.expect(std::slice::from_ref(&name));
        fs::write(&name, "agreed").unwrap();
        // The records of a daemon that is killed now.
        let records = room.at("quarantine/running");
        let later = room.at("quarantine-later/running");
        fs::create_dir_all(&later).unwrap();
        for record in fs::read_dir(&records).unwrap() {
            let record = record.unwrap();
            fs::copy(record.path(), later.join(record.file_name())).unwrap();
        }
        child.control.stop(0);
        finish(child).await;
        fs::write(room.ws(".git/commondir"), "planted").unwrap();
        let next = Procs::start(procs::ProcsOptions {
            quarantine: room.at("quarantine-later"),
            ..room.options()
        })
        .unwrap();
        // Another session's file tool: what the command made is moved away first.
        next.expect(&[room.ws("reasonix.toml")]);
        assert!(!room.ws(".git/commondir").exists());
        fs::write(room.ws("reasonix.toml"), "agreed").unwrap();
        let items = next.leftovers(SESSION);
        let paths: Vec<_> = items.iter().map(|item| Path::new(&item.path)).collect();
        assert_eq!(paths, [room.ws(".git/commondir")], "{items:?}");
        assert_eq!(room.text("ws/.mcp.json"), "agreed");
        assert_eq!(room.text("ws/reasonix.toml"), "agreed");
        assert!(next.leftovers(SESSION).is_empty(), "reported once");
    }
}

#[tokio::test]
async fn held_config_is_judged_however_a_command_writes_it() {
    let ways = [
        "exec 3>> .git/config; printf '[core]\\n\\tfsmonitor = evil\\n' >&3",
        "mkdir .git/zz; ln .git/config .git/zz/x; printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/zz/x",
    ];
    for (room, way) in own_rooms().await.iter().zip(ways.iter().cycle()) {
        let procs = Procs::start(room.options()).unwrap();
        let script =
            format!("echo ready; until test -e go; do sleep 0.01; done; {way}; exec sleep 1000");
        let mut asked = room.command(&script);
        asked.number = Some(Pid(8));
        let config = room.ws(".git/config");
        let before = "[core]\n\tbare = false\n";
        fs::write(&config, before).unwrap();
        let mut child = procs.spawn(SESSION, asked).await.unwrap();
        line(&mut child).await;
        replace(&config, &format!("{before}[user]\n\tname = Ann\n"));
        fs::write(room.ws("go"), "").unwrap();
        let items = came(&mut child).await;
        assert_eq!(Path::new(&items[0].path), config, "{way}: {items:?}");
        assert!(items[0].restored, "{way}: {items:?}");
        assert_eq!(fs::read_to_string(&config).unwrap(), before, "{way}");
        child.control.stop(0);
        finish(child).await;
    }
}
