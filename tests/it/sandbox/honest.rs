//! Ordinary programs do ordinary work in the sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::SessionCreate;
use serde_json::json;
use testkit::Script;
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{allow_once, answer, approval, next_opened};
use tests::skip;

use super::SandboxHouse;

/// Runs commands in one session that has these variables, unattended and with only the sandbox instead of
/// approvals; each must succeed. Returns their output.
pub(super) fn work(
    place: &SandboxHouse,
    commands: &[&str],
    variables: &[(&str, &Path)],
) -> Vec<String> {
    let script = commands
        .iter()
        .fold(Script::new(), |script, command| script.runs(command));
    place.house.cassette(&script.says("Done.").jsonl());
    let mut command = place.house.command(&["run", "go"]);
    command.envs(variables.iter().copied());
    let done = tests::program::run(&mut command);
    let logs = place.house.logs();
    let log = logs
        .last()
        .unwrap_or_else(|| panic!("no session: {done:?}"));
    let results = log.check().results();
    assert_eq!(results.len(), commands.len(), "{done:?}");
    let mut printed = Vec::new();
    for (command, result) in commands.iter().zip(results) {
        let ended = (result.status, result.text.contains("[exit"));
        assert_eq!(
            ended,
            (CallStatus::Ok, false),
            "{}: `{command}`: {}",
            place.layer,
            result.text
        );
        printed.push(result.text);
    }
    printed
}

pub(super) fn git(place: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(place)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(done.expect("git").success(), "{arguments:?}");
}

/// A repository with one commit.
fn repository(place: &SandboxHouse) {
    place.house.files("//- file\none\n//- .gitignore\n/made\n");
    let project = place.house.project();
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "Ann"],
        &["config", "user.email", "ann@example.org"],
        &["add", "."],
        &["commit", "-qm", "first"],
    ] {
        git(&project, arguments);
    }
}

async fn allow(client: &Client, session: impl ToString) -> String {
    let mut follow = from_the_start(client, session).await;
    let open = next_opened(&mut follow).await;
    answer(client, &allow_once(&open)).await.expect("a yes");
    to_rest(&mut follow).await;
    approval(&open).subject.clone()
}

/// Commands that policy cannot know before they run, each of which leaves a file.
const NOT_ANALYSED: [(&str, &str); 6] = [
    ("python3 -c 'open(\"a\", \"w\").write(\"x\")'", "a"),
    ("python3 - <<'X'\nopen('b', 'w').write('x')\nX", "b"),
    ("x=c; x=$(echo $x); touch \"$x\"", "c"),
    ("echo d | xargs touch", "d"),
    ("find . -maxdepth 1 -name d -exec cp {} e \\;", "e"),
    ("eval \"$(echo touch f)\"", "f"),
];

#[test]
fn unanalysable_commands_need_no_approval_in_the_sandbox() {
    for place in SandboxHouse::all() {
        let _ = work(&place, &NOT_ANALYSED.map(|(command, _)| command), &[]);
        for (command, made) in NOT_ANALYSED {
            let made = place.house.project().join(made);
            assert!(made.is_file(), "{}: `{command}`", place.layer);
            fs::remove_file(made).expect("remove its file");
        }
        let (command, made) = NOT_ANALYSED[0];
        let script = Script::new().runs(command).says("Done.");
        let made = || place.house.project().join(made).exists();
        for refused in [
            &["--deny", "Bash(git push:*)"][..],
            &["--ask", "Bash(git push:*)", "--approval-mode", "auto"],
            &["--read-only", "--approval-mode", "auto"],
            &["--on-ask", "deny"],
        ] {
            let done = place.run(&script, refused);
            assert!(!made(), "{}: {refused:?}: {done:?}", place.layer);
        }
        // No sandbox can enforce a rule like this, so none replaces an approval.
        let plain = Script::new().runs("touch a").says("Done.");
        for approval_mode in ["ask", "auto"] {
            let done = place.run(
                &plain,
                &["--deny", "Edit", "--approval-mode", approval_mode],
            );
            assert!(!made(), "{}: {approval_mode}: {done:?}", place.layer);
        }
        let done = place.run(&script, &["--approval-mode", "auto", "--on-ask", "deny"]);
        assert!(made(), "{}: {done:?}", place.layer);
    }
}

#[test]
fn git_works_and_commits_when_a_person_has_said_so() {
    for place in SandboxHouse::all() {
        repository(&place);
        let printed = work(
            &place,
            &[
                "git status --short",
                "echo two >> file && git diff",
                "git add file && git status --short",
                "git stash -q && git stash pop -q --index && git checkout -q -b other && git branch --list",
            ],
            &[],
        );
        assert!(printed[1].contains("+two"), "{printed:?}");
        assert!(printed[2].contains("M  file"), "{printed:?}");
        assert!(printed[3].contains("* other"), "{printed:?}");

        // If the rules need an approval, the approval is enough: the sandbox does not block the call.
        let script = Script::new().runs("git commit -qm second").says("Done.");
        place.house.cassette(&script.jsonl());
        let house = &place.house;
        let subject = house.block_on(async {
            let client = house.client("ann", Role::Drive).await;
            let mut params = house.create("commit it");
            let rules = params.options.rules.get_or_insert_default();
            rules.ask.push("Bash(git commit:*)".into());
            let created = client.call::<SessionCreate>(&params).await.expect("create");
            allow(&client, created.pid).await
        });
        assert_eq!(subject, "git commit -qm second");
        let log = work(&place, &["git log --format=%s"], &[]);
        assert!(log[0].contains("second\nfirst"), "{log:?}");
        let made = house.project().join(".git/commondir").exists();
        assert!(!made, "nothing of the sandbox is in the repository");
    }
}

/// Cargo of this machine, and the directories of cargo and rustup.
fn cargo() -> Option<(PathBuf, PathBuf, PathBuf)> {
    let cargo = PathBuf::from(env!("CARGO"));
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let given = |name: &str, usual: &str| {
        std::env::var_os(name).map_or_else(|| home.join(usual), PathBuf::from)
    };
    let (own, rustup) = (
        given("CARGO_HOME", ".cargo"),
        given("RUSTUP_HOME", ".rustup"),
    );
    let there = cargo.is_file() && own.is_dir();
    there.then_some((cargo, own, rustup))
}

#[test]
fn cargo_builds_what_has_its_dependencies_here() {
    let found = cargo();
    if skip::unless_roots(found.is_some(), "cargo, with a home of its own") {
        return;
    }
    let (cargo, home, rustup) = found.expect("cargo");
    for place in SandboxHouse::all() {
        place.house.files(
            r#"//- Cargo.toml
[package]
name = "tiny"
version = "0.1.0"
edition = "2021"
[dependencies]
near = { path = "near" }
vendored = "1"
[workspace]
//- .cargo/config.toml
[source.crates-io]
replace-with = "vendored-sources"
[source.vendored-sources]
directory = "vendor"
//- src/main.rs
fn main() { println!("{}", near::one() + vendored::two()); }
#[test]
fn it_adds() { assert_eq!(near::one() + vendored::two(), 3); }
//- near/Cargo.toml
[package]
name = "near"
version = "0.1.0"
edition = "2021"
//- near/src/lib.rs
pub fn one() -> i32 { 1 }
//- vendor/vendored/Cargo.toml
[package]
name = "vendored"
version = "1.0.0"
edition = "2021"
//- vendor/vendored/src/lib.rs
pub fn two() -> i32 { 2 }
//- vendor/vendored/.cargo-checksum.json
{"files":{},"package":null}
"#,
        );
        let cargo_dir = cargo.parent().expect("its directory");
        let cargo = cargo.display();
        let commands = [
            format!("{cargo} build --offline 2>&1"),
            "target/debug/tiny".to_owned(),
            format!("{cargo} test --offline -q 2>&1"),
        ];
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let path = format!("{}:/usr/bin:/bin", cargo_dir.display());
        let variables = [
            ("PATH", Path::new(&path)),
            ("CARGO_HOME", home.as_path()),
            ("RUSTUP_HOME", rustup.as_path()),
        ];
        let printed = work(&place, &commands, &variables);
        assert!(printed[1].ends_with("\n3\n"), "{printed:?}");
    }
}

#[test]
fn npm_runs_a_packages_tests() {
    if skip::unless(skip::works(&["/usr/bin/npm", "--version"]), "npm") {
        return;
    }
    for place in SandboxHouse::all() {
        place.house.files(
            "//- package.json\n{\"name\": \"tiny\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node test.js\"}}\n\
             //- test.js\nrequire('fs').writeFileSync('made', 'x'); console.log('tested');\n",
        );
        let printed = work(&place, &["npm test --silent", "npm install --offline"], &[]);
        assert!(printed[0].contains("tested"), "{printed:?}");
        assert_eq!(place.house.read("made"), "x");
    }
}

#[test]
fn scripts_and_make_write_in_the_workspace_and_in_both_temporary_places() {
    for place in SandboxHouse::all() {
        place.house.files(
            "//- Makefile\nall: made/one\nmade/one:\n\t@mkdir -p made && echo built > $@\n\
             //- job.py\nimport os, tempfile\nwith tempfile.NamedTemporaryFile() as f: f.write(b'x')\nopen(os.environ['TMPDIR'] + '/kept', 'w').write('kept')\nopen('out.txt', 'w').write('written')\nprint('ran')\n\
             //- look.sh\ncat $TMPDIR/kept && echo x > /tmp/direct && cat $TMPDIR/direct && rm -r made\n",
        );
        let printed = work(
            &place,
            &["make -s && cat made/one", "python3 job.py", "sh look.sh"],
            &[],
        );
        assert!(printed[0].contains("built"), "{printed:?}");
        assert!(printed[1].contains("ran"), "{printed:?}");
        assert!(printed[2].contains("kept"), "{printed:?}");
        assert_eq!(place.house.read("out.txt"), "written");
        assert!(!fs::exists("/tmp/direct").expect("a look"), "its own /tmp");
    }
}

#[test]
fn port_of_a_background_command_is_reachable_from_commands_and_not_the_host() {
    const SERVER: &str = "python3 -c 'import socket
s = socket.create_server((\"127.0.0.1\", 34568))
open(\"ready\", \"w\").write(\"x\")
while True:
    c, _ = s.accept(); c.send(b\"hello\"); c.close()'";
    const CLIENT: &str = "while [ ! -e ready ]; do sleep 0.02; done; python3 -c 'import socket
print(socket.create_connection((\"127.0.0.1\", 34568), 5).recv(9).decode())'";
    for place in SandboxHouse::all() {
        let call = json!({"command": SERVER, "run_in_background": true});
        let results = place.results(&Script::new().calls("bash", &call).runs(CLIENT));
        assert!(results[1].1.contains("hello"), "{results:?}");
        let outside = std::net::TcpStream::connect("127.0.0.1:34568");
        assert!(outside.is_err(), "{}: seen from outside", place.layer);
    }
}
