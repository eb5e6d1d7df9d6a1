//! Scenes: a few rules, a call, and what is decided.

use std::path::PathBuf;

use contract::{Basis, Confinement, Decision, Family};
use proptest::prelude::*;
use proto::record::{Rules, Verdict};
use proto::state::{OnAsk, Posture};
use serde_json::{Map, Value, json};

use crate::*;

const ROOT: &str = "/home/someone/project";

/// One session: rules, a posture, a sandbox.
struct Scene {
    rules: Rules,
    posture: Posture,
    sandbox: Sandbox,
}

/// `allow Bash(x); deny Edit(y)`: a list and a rule each.
fn scene(rules: &str) -> Scene {
    Scene {
        rules: read_rules(rules),
        posture: Posture::Ask,
        sandbox: Sandbox::None,
    }
}

fn read_rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    for line in text
        .split(" / ")
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line.split_once(' ') {
            Some(("allow", rule)) => rules.allow.push(rule.to_owned()),
            Some(("ask", rule)) => rules.ask.push(rule.to_owned()),
            Some(("deny", rule)) => rules.deny.push(rule.to_owned()),
            other => panic!("not a rule of a scene: {other:?}"),
        }
    }
    rules
}

impl Scene {
    fn posture(mut self, posture: Posture) -> Self {
        self.posture = posture;
        self
    }

    fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    fn rule_set(&self) -> RuleSet {
        RuleSet::parse(&[(Layer::User, &self.rules, true)]).0
    }

    fn call(&self, tool: &str, arguments: Value) -> Decision {
        self.call_with(tool, arguments, |_| {})
    }

    /// A call with its paths looked up by text, then changed by `change`.
    fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        change: impl Fn(&mut ResolvedPath),
    ) -> Decision {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object")
        };
        let (family, read_only_tool) = match tool {
            "bash" => (Family::Bash, false),
            "read_file" | "grep" | "glob" | "ls" => (Family::Read, true),
            _ => (Family::Edit, false),
        };
        let call = Call {
            tool,
            family,
            read_only_tool,
            arguments: &arguments,
        };
        let mut context = self.context(&call);
        context.paths.iter_mut().for_each(change);
        decide(&self.rule_set(), &context, &call)
    }

    fn context(&self, call: &Call<'_>) -> Context {
        let root = PathBuf::from(ROOT);
        let user_home = PathBuf::from("/home/someone");
        let resolve = |subject: &Subject| {
            let absolute = files::lexical(&subject.text, &root, &user_home);
            let inside = absolute.starts_with(&root);
            ResolvedPath {
                text: subject.text.clone(),
                access: subject.access,
                absolute: Some(absolute),
                in_root: inside,
                writable: inside,
                protected: false,
                error: None,
            }
        };
        Context {
            paths: subjects(call).paths.iter().map(resolve).collect(),
            root: root.clone(),
            user_home: user_home.clone(),
            posture: self.posture,
            sandbox: self.sandbox,
            trusted: true,
        }
    }

    fn bash(&self, command: &str) -> Decision {
        self.call("bash", json!({ "command": command }))
    }
}

/// One line a decision: `verdict | command`.
fn check(rules: &str, lines: &str) {
    let scene = scene(rules);
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (expected, command) = line
            .split_once(" | ")
            .unwrap_or_else(|| panic!("a line is `verdict | command`: {line}"));
        let command = command.replace("\\n", "\n").replace("\\t", "\t");
        let decision = scene.bash(&command);
        let verdict = format!("{:?}", decision.verdict).to_lowercase();
        assert_eq!(
            verdict,
            expected.trim(),
            "`{command}` under `{rules}`: {}",
            decision.rule
        );
    }
}

fn verdict_of_edit(rules: &str, path: &str) -> Verdict {
    scene(rules)
        .call(
            "edit_file",
            json!({"path": path, "old_string": "a", "new_string": "b"}),
        )
        .verdict
}

// Commands under rules.

#[test]
fn a_prefix_rule_covers_one_plain_command_and_ends_at_a_word() {
    check(
        "allow Bash(cargo test:*)",
        "allow | cargo test
         allow | cargo  test --workspace
         allow | cargo\\ttest -- --nocapture
         allow | cargo test 2>&1
         allow | cargo test 'a | b; c'
         ask   | cargo tests
         ask   | cargo build
         ask   | cargo test; touch x
         ask   | cargo test && cargo test
         ask   | cargo test | tee out
         ask   | cargo test > out
         ask   | cargo test 2>err
         ask   | cargo test $(touch x)
         ask   | cargo test \"$HOME\"
         ask   | cargo test `touch x`
         ask   | cargo test\\ntouch x
         ask   | cargo test # all
         ask   | cargo test {a,b}
         ask   | X=1 cargo test
         ask   | cargo test 'open
         ask   | (cargo test)
         ask   | ! cargo test
         ask   | cargo test --config x=1
         ask   | /usr/bin/cargo test",
    );
}

#[test]
fn the_older_forms_of_a_prefix_mean_the_same() {
    for rule in [
        "allow Bash(go test *)",
        "allow Bash(go test:*)",
        "allow Bash(go test*)",
    ] {
        check(
            rule,
            "allow | go test ./...\n allow | go test\n ask | go tests\n ask | go test -exec sh",
        );
    }
    check(
        "allow bash=make all",
        "allow | make all\n ask | make all -k",
    );
}

#[test]
fn an_exact_rule_covers_its_line_and_nothing_else() {
    check(
        "allow Bash(make a && make b)",
        "allow | make a && make b
         allow |   make a && make b
         ask   | make a  && make b
         ask   | make a && make b && make c",
    );
}

#[test]
fn a_bare_rule_covers_every_command_that_could_be_read() {
    check(
        "allow Bash",
        "allow | make
         allow | cd src && make | tail
         ask   | echo 'open
         ask   | echo a\u{202e}b
         ask   | echo a\u{200b}b
         ask   | cp x .git/hooks/pre-commit
         ask   | echo x > reasonix.toml",
    );
}

#[test]
fn options_that_run_or_write_are_not_covered_by_a_prefix() {
    check(
        "allow Bash(find:*) / allow Bash(git:*) / allow Bash(sed:*) / allow Bash(rg:*) / allow Bash(tar:*) / \
         allow Bash(sort:*) / allow Bash(timeout:*) / allow Bash(python:*) / allow Bash(cp:*) / allow Bash(awk:*) / \
         allow Bash(make:*) / allow Bash(docker:*) / allow Bash(npm:*) / allow Bash(uniq:*) / allow Bash(printf:*)",
        "ask   | find . -exec rm {} +
         ask   | find . -delete
         ask   | find . -fprintf out %p
         allow | find . -name '*.rs'
         ask   | git -c core.pager=x log
         ask   | git log --output=x
         ask   | git log --outp x
         ask   | git rebase -x make main
         ask   | git submodule foreach make
         ask   | git fetch --upload-pack=x
         ask   | git clone ext::sh
         ask   | git config alias.x !make
         allow | git commit -m 'about reasonix.toml; and more'
         allow | sed -n '1,5p' file
         allow | sed 's/a/b/g' file
         ask   | sed -i 's/a/b/' file
         ask   | sed 's/a/b/e' file
         ask   | sed 's/a/b/w out' file
         ask   | sed -n '1e touch x' file
         ask   | sed --expression='1e x' file
         ask   | rg --pre ./x a
         allow | rg -n a src
         ask   | rg a *
         allow | tar -tf x.tar
         ask   | tar -xf x.tar
         ask   | tar tf x.tar --to-command=x
         ask   | sort -ro out in
         ask   | sort --outp=out in
         allow | sort -n in
         ask   | timeout 5 make
         ask   | python -c 'x'
         ask   | python x.py
         allow | cp a b
         ask   | cp a ../b
         ask   | cp a ~/b
         ask   | cp a /etc/b
         ask   | cp -t /etc b
         allow | awk '{print $1}' file
         ask   | awk 'BEGIN{system(\"x\")}'
         ask   | awk '{print > \"x\"}' file
         allow | make test
         ask   | make SHELL=x
         ask   | make -f x
         allow | docker ps
         ask   | docker run x
         ask   | docker --log-level debug run x
         allow | npm test
         ask   | npm exec x
         ask   | uniq a b
         ask   | printf -v 'a[$(x)]' y",
    );
}

#[test]
fn an_interpreter_is_covered_where_the_rule_names_the_code() {
    check(
        "allow Bash(python -m pytest:*) / allow Bash(node scripts/build.js:*) / allow Bash(sh -c:*)",
        "allow | python -m pytest -x
         allow | node scripts/build.js --fast
         ask   | python -m http.server
         ask   | node scripts/other.js
         ask   | sh -c make",
    );
}

#[test]
fn deny_rules_see_through_spelling_and_launchers() {
    check(
        "allow Bash / deny Bash(rm -rf*) / deny Bash(git push:*) / ask Bash(curl:*)",
        "deny  | rm -rf build
         deny  | rm -rfv build
         deny  | r'm' -rf build
         deny  | \\rm -rf build
         deny  | /bin/rm -rf build
         deny  | rm -r -f build
         deny  | rm -fr build
         ask   | rm --recursive --force build
         deny  | sudo rm -rf build
         deny  | env A=1 timeout 5 rm -rf build
         deny  | sh -c 'rm -rf build'
         deny  | sh -c'rm -rf build'
         deny  | bash -c \"cd x; rm -rf y\"
         deny  | eval rm -rf build
         deny  | echo a; rm -rf build
         deny  | find . -exec rm -rf {} +
         deny  | if true; then rm -rf x; fi
         deny  | A=1 rm -rf x
         deny  | true && { rm -rf x; }
         deny  | echo $(rm -rf x)
         deny  | rm${IFS}-rf${IFS}x
         ask   | $X -rf x
         ask   | sh -c '$X -rf x'
         deny  | git push
         deny  | git 'push' origin
         deny  | git -c a=b --no-pager push
         deny  | cd x && git -C y push
         allow | git pull
         ask   | curl http://example.org
         ask   | xargs curl
         allow | rm file
         allow | firm -rf x
         allow | echo rm
         allow | npm run rm-rf-check",
    );
}

#[test]
fn a_glob_that_denies_may_have_stars_anywhere() {
    check(
        "allow Bash / deny Bash(*--force*) / deny Bash(dd *of=/dev/*) / deny Bash(kubectl * delete*)",
        "deny  | git push --force
         deny  | dd if=x of=/dev/sda
         allow | dd if=x of=y
         deny  | kubectl -n a delete pod
         allow | kubectl get pod",
    );
}

#[test]
fn readers_do_not_ask_unless_they_can_do_more() {
    check(
        "",
        "allow | ls -la src
         allow | git status
         allow | git --no-pager diff HEAD~1
         allow | git branch -a
         allow | git branch --merged main
         allow | git stash list
         allow | git config --get user.name
         allow | cat a b
         allow | rg -n 'a|b' src
         allow | find . -name '*.rs' -type f
         allow | sed -n 1,20p file
         allow | cargo --version
         allow | echo hello
         ask   | git branch new
         ask   | git branch -D old
         ask   | git tag v1
         ask   | git diff --output=x
         ask   | git diff --ext-diff
         ask   | git config user.name x
         ask   | git -C /elsewhere status
         ask   | git stash
         ask   | git reflog expire --all
         ask   | ls > out
         ask   | ls | sh
         ask   | ./ls
         ask   | find . -delete
         ask   | rg --pre x y
         ask   | sort -o a b
         ask   | env
         ask   | tee out
         ask   | date -s 1
         ask   | test -v 'a[$(x)]'",
    );
    let decision = scene("").bash("git status");
    assert!(decision.read_only);
    assert_eq!(decision.basis, Basis::Fallback);
    assert!(!scene("allow Bash").bash("make").read_only);
}

#[test]
fn rules_over_paths_hold_for_commands_that_nothing_else_holds() {
    let rules =
        "allow Bash(cat:*) / allow Bash(cp:*) / deny Read(secrets/**) / deny Edit(fixed/**)";
    check(
        rules,
        "deny  | cat secrets/key
         deny  | cat ./a/../secrets/key
         allow | cat README.md
         deny  | cp a fixed/b
         ask   | head README.md
         allow | echo hello",
    );
    let held = scene("deny Read(secrets/**)").sandbox(Sandbox::Full);
    assert_eq!(held.bash("head README.md").verdict, Verdict::Allow);
    assert_eq!(
        scene("allow Bash / deny Read(secrets/**)")
            .bash("make")
            .verdict,
        Verdict::Ask
    );
}

// Paths.

#[test]
fn path_rules_are_anchored_at_the_root_and_hold_for_the_resolved_path() {
    for (rules, path, expected) in [
        ("allow Edit(docs/**)", "docs/a/b.md", Verdict::Allow),
        ("allow Edit(docs/**)", "./docs//a.md", Verdict::Allow),
        ("allow Edit(docs/**)", "docs", Verdict::Allow),
        ("allow Edit(docs/**)", "src/docs/a.md", Verdict::Ask),
        ("allow Edit(docs/**)", "docs-evil/a.md", Verdict::Ask),
        ("allow Edit(docs/**)", "docs/../src/a", Verdict::Ask),
        ("allow Edit(docs/*)", "docs/a/b.md", Verdict::Ask),
        ("allow Edit(*.md)", "a.md", Verdict::Allow),
        ("allow Edit(*.md)", "docs/a.md", Verdict::Ask),
        ("allow Edit(**/*.md)", "docs/a.md", Verdict::Allow),
        ("allow Edit(Docs/**)", "docs/a.md", Verdict::Ask),
        ("allow Edit(~/project/docs/**)", "docs/a.md", Verdict::Allow),
        (
            "allow Edit(/home/someone/project/docs/**)",
            "docs/a.md",
            Verdict::Allow,
        ),
        ("allow Write(docs/**)", "docs/a.md", Verdict::Allow),
        ("allow write_file=docs/a.md", "docs/a.md", Verdict::Allow),
        ("allow write_file=docs/*", "docs/a.md", Verdict::Ask),
        (
            "allow Edit / deny Edit(secrets)",
            "secrets/key",
            Verdict::Deny,
        ),
        (
            "allow Edit / deny Read(secrets/**)",
            "secrets/key",
            Verdict::Deny,
        ),
        ("allow Edit / ask Edit(**/*.lock)", "a/b.lock", Verdict::Ask),
        ("allow edit_file", "src/a", Verdict::Allow),
        ("allow write_file", "src/a", Verdict::Ask),
        ("allow Edit", "../other/a", Verdict::Deny),
        ("allow Edit", "/etc/passwd", Verdict::Deny),
    ] {
        assert_eq!(
            verdict_of_edit(rules, path),
            expected,
            "`{path}` under `{rules}`"
        );
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads_and_denied_by_its_name_too() {
    let edit = json!({"path": "docs/link", "old_string": "a", "new_string": "b"});
    let leads = |rules: &str, to: &str| {
        let to = PathBuf::from(to);
        scene(rules)
            .call_with("edit_file", edit.clone(), |path| {
                path.absolute = Some(to.clone())
            })
            .verdict
    };
    assert_eq!(
        leads("allow Edit(docs/**)", "/home/someone/project/src/x"),
        Verdict::Ask
    );
    assert_eq!(
        leads(
            "allow Edit / deny Edit(src/**)",
            "/home/someone/project/src/x"
        ),
        Verdict::Deny
    );
    assert_eq!(
        leads(
            "allow Edit / deny Edit(docs/**)",
            "/home/someone/project/src/x"
        ),
        Verdict::Deny
    );
    assert_eq!(
        leads("allow Edit", "/home/someone/project/.git/config"),
        Verdict::Ask
    );
}

#[test]
fn a_move_needs_both_ends_and_a_copy_only_reads_its_source() {
    let rules = "allow Edit(a/**) / allow Edit(b/**) / deny Edit(kept/**)";
    let pair = |tool: &str, source: &str, destination: &str| {
        scene(rules)
            .call(tool, json!({"source": source, "destination": destination}))
            .verdict
    };
    assert_eq!(pair("move_file", "a/x", "b/x"), Verdict::Allow);
    assert_eq!(pair("move_file", "c/x", "b/x"), Verdict::Ask);
    assert_eq!(pair("move_file", "a/x", "kept/x"), Verdict::Deny);
    assert_eq!(pair("move_file", "kept/x", "a/x"), Verdict::Deny);
    assert_eq!(pair("copy_file", "kept/x", "a/x"), Verdict::Allow);
    assert_eq!(pair("copy_file", "c/x", "a/x"), Verdict::Allow);
}

#[test]
fn what_configures_the_agent_is_asked_in_every_posture() {
    for path in [
        "reasonix.toml",
        ".reasonix/commands/x.md",
        "sub/.git/config",
        ".GIT/hooks/x",
        ".vscode/tasks.json",
    ] {
        for posture in [Posture::Ask, Posture::Auto, Posture::Yolo] {
            let decision = scene("allow Edit")
                .posture(posture)
                .call("write_file", json!({"path": path, "content": ""}));
            assert_eq!(decision.verdict, Verdict::Ask, "{path} in {posture:?}");
            assert_eq!(decision.basis, Basis::AlwaysAsked);
            assert!(decision.scopes.is_empty());
        }
    }
    for path in [
        ".reasonix/autoresearch/notes.md",
        "docs/reasonix.toml.md",
        ".gitignore",
    ] {
        assert_eq!(
            verdict_of_edit("allow Edit", path),
            Verdict::Allow,
            "{path}"
        );
    }
    for command in [
        "cp x reasonix.toml",
        "git config core.hooksPath x",
        "sh -c 'rm -r .reasonix'",
        "mv .git x",
        "ln -s a .mcp.json",
    ] {
        let decision = scene("allow Bash").posture(Posture::Yolo).bash(command);
        assert_eq!(
            (decision.verdict, decision.basis),
            (Verdict::Ask, Basis::AlwaysAsked),
            "{command}"
        );
    }
}

#[test]
fn masked_and_unresolved_paths_are_denied_or_asked_but_never_allowed() {
    let read = json!({"path": "a"});
    let masked = |path: &mut ResolvedPath| path.error = Some("`a` is closed to tools".to_owned());
    let decision = scene("allow Read").call_with("read_file", read.clone(), masked);
    assert_eq!(
        (decision.verdict, decision.rule.as_str()),
        (Verdict::Deny, "`a` is closed to tools")
    );
    // A list of paths that is not the call's.
    let other = |path: &mut ResolvedPath| path.text = "b".to_owned();
    assert_eq!(
        scene("allow Read")
            .posture(Posture::Yolo)
            .call_with("read_file", read, other)
            .verdict,
        Verdict::Ask
    );
    for arguments in [json!({}), json!({"path": ["a"]}), json!({"path": 3})] {
        let decision = scene("allow Edit")
            .posture(Posture::Yolo)
            .call("edit_file", arguments);
        assert_eq!(decision.verdict, Verdict::Ask);
    }
    assert_eq!(
        scene("allow Bash")
            .call("bash", json!({"command": 3}))
            .verdict,
        Verdict::Ask
    );
}

#[test]
fn a_search_through_a_folder_asks_where_a_rule_closes_something_in_it() {
    let search = |path: &str| {
        scene("deny Read(secrets/**) / deny Read(~/.ssh/**)")
            .call("grep", json!({"pattern": "a", "path": path}))
    };
    assert_eq!(search(".").verdict, Verdict::Ask);
    assert_eq!(search("src").verdict, Verdict::Allow);
    assert_eq!(search("secrets").verdict, Verdict::Deny);
    assert_eq!(
        scene("").call("grep", json!({"pattern": "a"})).verdict,
        Verdict::Allow
    );
}

#[test]
fn a_glob_that_climbs_is_about_where_it_climbs_to() {
    let base = |pattern: &str| {
        let arguments = json!({ "pattern": pattern });
        let Value::Object(arguments) = arguments else {
            panic!("an object")
        };
        let call = Call {
            tool: "glob",
            family: Family::Read,
            read_only_tool: true,
            arguments: &arguments,
        };
        let found = subjects(&call);
        (
            found.unclear,
            found
                .paths
                .into_iter()
                .map(|path| path.text)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(base("src/**/*.rs"), (false, vec![".".to_owned()]));
    assert_eq!(base("/etc/*"), (false, vec!["/etc".to_owned()]));
    assert_eq!(base("../../x/*"), (false, vec!["../../x".to_owned()]));
    assert!(base("*/../../etc/*").0);
}

// Postures, layers, problems.

#[test]
fn postures_lift_what_they_say_and_no_more() {
    let edit = json!({"path": "a", "old_string": "a", "new_string": "b"});
    let auto = |rules: &str| scene(rules).posture(Posture::Auto);
    let yolo = |rules: &str| scene(rules).posture(Posture::Yolo);
    assert_eq!(
        auto("").call("edit_file", edit.clone()).verdict,
        Verdict::Allow
    );
    assert_eq!(
        auto("ask Edit").call("edit_file", edit.clone()).verdict,
        Verdict::Ask
    );
    assert_eq!(auto("").bash("make").verdict, Verdict::Ask);
    assert_eq!(
        auto("").sandbox(Sandbox::Partial).bash("make").verdict,
        Verdict::Ask
    );
    assert_eq!(
        auto("").sandbox(Sandbox::Full).bash("make").verdict,
        Verdict::Allow
    );
    assert_eq!(
        auto("ask Bash(make:*)")
            .sandbox(Sandbox::Full)
            .bash("make")
            .verdict,
        Verdict::Ask
    );
    assert_eq!(yolo("").bash("make && make").verdict, Verdict::Allow);
    assert_eq!(
        yolo("ask Bash(make:*)").bash("make").verdict,
        Verdict::Allow
    );
    assert_eq!(
        yolo("deny Bash(make:*)").bash("make").verdict,
        Verdict::Deny
    );
    // A line that is not known, while something is denied.
    assert_eq!(yolo("deny Bash(rm:*)").bash("$X y").verdict, Verdict::Ask);
    assert_eq!(yolo("ask Bash(rm:*)").bash("a; b").verdict, Verdict::Ask);
    assert_eq!(
        yolo("")
            .call("edit_file", json!({"path": "/etc/x", "old_string": "a"}))
            .verdict,
        Verdict::Deny
    );
}

#[test]
fn an_untrusted_layer_only_tightens() {
    let project = read_rules("allow Bash / deny Bash(make:*)");
    let (rules, problems) = RuleSet::parse(&[(Layer::Project, &project, false)]);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].to_string().contains("not trusted"),
        "{}",
        problems[0]
    );
    let scene = scene("");
    let arguments = Map::from_iter([("command".to_owned(), json!("touch x"))]);
    let call = Call {
        tool: "bash",
        family: Family::Bash,
        read_only_tool: false,
        arguments: &arguments,
    };
    assert_eq!(
        decide(&rules, &scene.context(&call), &call).verdict,
        Verdict::Ask
    );
    let arguments = Map::from_iter([("command".to_owned(), json!("make"))]);
    let call = Call {
        arguments: &arguments,
        ..call
    };
    let decision = decide(&rules, &scene.context(&call), &call);
    assert_eq!(
        (decision.verdict, decision.layer.as_str()),
        (Verdict::Deny, "project")
    );
}

#[test]
fn a_rule_that_cannot_be_read_is_reported_and_fails_closed() {
    let deny = |text: &str| {
        RuleSet::parse(&[(
            Layer::User,
            &Rules {
                deny: vec![text.to_owned()],
                ..Rules::default()
            },
            true,
        )])
        .1
        .len()
    };
    for text in [
        "Edit(../x)",
        "Bash()",
        "Foo(x)",
        "Bash(rm",
        "",
        "Grep(x)",
        "WebFetch(example.org)",
        "Task(x)",
        "Edit([)",
    ] {
        assert_eq!(deny(text), 1, "{text}");
    }
    assert_eq!(
        verdict_of_edit("allow Edit / deny Edit(../x)", "a"),
        Verdict::Deny
    );
    assert_eq!(
        verdict_of_edit("allow Edit / deny Foo(x)", "a"),
        Verdict::Ask
    );
    check("allow Bash / deny Bash(rm", "ask | make\n allow | ls");
    for text in [
        "Bash(*)",
        "Bash(a * b:*)",
        "Bash(a && b:*)",
        "Bash($X:*)",
        "Edit(../x)",
        "Foo",
        "Bash( *)",
    ] {
        let rules = Rules {
            allow: vec![text.to_owned()],
            ..Rules::default()
        };
        assert_eq!(
            RuleSet::parse(&[(Layer::User, &rules, true)]).1.len(),
            1,
            "{text}"
        );
    }
}

#[test]
fn the_fallback_is_what_the_mode_says() {
    let scene = scene("");
    let arguments = Map::from_iter([("command".to_owned(), json!("make"))]);
    let call = Call {
        tool: "bash",
        family: Family::Bash,
        read_only_tool: false,
        arguments: &arguments,
    };
    for fallback in [Verdict::Allow, Verdict::Ask, Verdict::Deny] {
        let rules = RuleSet::default().with_fallback(fallback);
        assert_eq!(
            decide(&rules, &scene.context(&call), &call).verdict,
            fallback
        );
    }
}

#[test]
fn rules_for_servers_name_them_exactly() {
    let verdict = |rules: &str, tool: &str| {
        let scene = scene(rules);
        let arguments = Map::new();
        let call = Call {
            tool,
            family: Family::Read,
            read_only_tool: false,
            arguments: &arguments,
        };
        decide(&scene.rule_set(), &scene.context(&call), &call).verdict
    };
    assert_eq!(verdict("allow mcp__srv", "mcp__srv__get"), Verdict::Allow);
    assert_eq!(verdict("allow Mcp(srv)", "mcp__srv__get"), Verdict::Allow);
    assert_eq!(
        verdict("allow Mcp(srv:get)", "mcp__srv__get"),
        Verdict::Allow
    );
    assert_eq!(verdict("allow mcp__srv", "mcp__srv2__get"), Verdict::Ask);
    assert_eq!(
        verdict("allow mcp__srv__get", "mcp__srv__get_all"),
        Verdict::Ask
    );
    assert_eq!(verdict("allow mcp__srv__x", "mcp__srv__x__y"), Verdict::Ask);
    assert_eq!(verdict("allow Read", "mcp__srv__get"), Verdict::Ask);
    assert_eq!(
        verdict("allow Mcp / deny mcp__srv", "mcp__srv__get"),
        Verdict::Deny
    );
}

// Grants and unattended sessions.

#[test]
fn scopes_fit_the_call_and_cover_it() {
    let rules = |decision: &Decision| {
        decision
            .scopes
            .iter()
            .map(|scope| scope.rule.clone())
            .collect::<Vec<_>>()
    };
    for (command, expected) in [
        (
            "cargo test -p x",
            vec!["Bash(cargo test -p x)", "Bash(cargo test:*)"],
        ),
        (
            "npm run lint -- --fix",
            vec!["Bash(npm run lint -- --fix)", "Bash(npm run lint:*)"],
        ),
        ("pytest tests", vec!["Bash(pytest tests)", "Bash(pytest:*)"]),
        ("rm -r build", vec!["Bash(rm -r build)"]),
        ("python x.py", vec!["Bash(python x.py)"]),
        ("sudo cargo test", vec!["Bash(sudo cargo test)"]),
        ("git push", vec!["Bash(git push)"]),
        ("make a && make b", vec!["Bash(make a && make b)"]),
        ("cargo test *", vec![]),
        ("cat <<X\nx\nX", vec![]),
        ("echo 'open", vec![]),
    ] {
        let decision = scene("").bash(command);
        assert_eq!(decision.verdict, Verdict::Ask, "{command}");
        assert_eq!(rules(&decision), expected, "{command}");
        for rule in rules(&decision) {
            assert_eq!(scene(&format!("allow {rule}")).bash(command).verdict, Verdict::Allow, "{command}");
        }
    }
    let edit = scene("").call("write_file", json!({"path": "a", "content": ""}));
    assert_eq!(rules(&edit), ["Edit"]);
    assert!(
        scene("ask Edit")
            .call("write_file", json!({"path": "a", "content": ""}))
            .scopes
            .is_empty()
    );
}

#[test]
fn unattended_sessions_follow_on_ask() {
    let edit = scene("").call("write_file", json!({"path": "a", "content": ""}));
    assert_eq!(edit.confinement, Confinement::Files);
    let command = scene("").bash("make");
    let explicit = scene("ask Edit").call("write_file", json!({"path": "a", "content": ""}));
    let always = scene("").call(
        "write_file",
        json!({"path": "reasonix.toml", "content": ""}),
    );
    let denied = scene("deny Edit").call("write_file", json!({"path": "a", "content": ""}));
    let name = |answer: Unattended| match answer {
        Unattended::Allow => "allow",
        Unattended::Deny(_) => "deny",
        Unattended::Wait => "wait",
    };
    for (decision, on_ask, attached, expected) in [
        (&edit, OnAsk::Sandboxed, false, "allow"),
        (&command, OnAsk::Sandboxed, false, "deny"),
        (&command, OnAsk::Sandboxed, true, "wait"),
        (&explicit, OnAsk::Sandboxed, false, "deny"),
        (&explicit, OnAsk::Allow, false, "allow"),
        (&command, OnAsk::Allow, false, "allow"),
        (&always, OnAsk::Allow, false, "deny"),
        (&always, OnAsk::Allow, true, "wait"),
        (&always, OnAsk::Sandboxed, false, "deny"),
        (&denied, OnAsk::Allow, true, "deny"),
        (&edit, OnAsk::Deny, true, "deny"),
        (&edit, OnAsk::Wait, false, "wait"),
        (&edit, OnAsk::Park, false, "wait"),
    ] {
        assert_eq!(
            name(unattended(decision, on_ask, attached)),
            expected,
            "{} {on_ask:?} {attached}",
            decision.rule
        );
    }
    let Unattended::Deny(words) = unattended(&command, OnAsk::Sandboxed, false) else {
        panic!("denied")
    };
    assert!(
        words.contains("`--allow 'Bash(make)'`") && words.contains("`--on-ask allow`"),
        "{words}"
    );
}

// The bound.

#[test]
fn the_work_is_bounded_for_the_longest_input_and_many_rules() {
    let many = |make: &dyn Fn(usize) -> String| (0..10_000).map(make).collect::<Vec<_>>();
    let lists = [
        many(&|index| format!("Bash(tool-{index}:*)")),
        many(&|index| format!("Bash(*x{index}*)")),
        many(&|index| format!("Bash(a a a a a a {index}*)")),
        many(&|index| format!("Bash(rm -{index})")),
        many(&|index| format!("Edit(a/**/x{index}*/b)")),
        many(&|index| format!("Read(a/b{index}/**)")),
    ];
    let inputs = [
        "a ".repeat(100_000),
        "rm ".repeat(66_000),
        "(".repeat(200_000),
        "'".repeat(199_999),
        "a/".repeat(100_000),
        "a/".repeat(2_000),
        "a ".repeat(4_990),
        "rm -x ".repeat(1_600),
        format!("rm {}", "-a=a:a ".repeat(60)),
    ];
    for list in lists {
        for (allow, deny) in [(Vec::new(), list.clone()), (list, Vec::new())] {
            let rules = Rules {
                allow,
                deny,
                ask: Vec::new(),
            };
            let scene = Scene {
                rules,
                posture: Posture::Yolo,
                sandbox: Sandbox::None,
            };
            let set = scene.rule_set();
            for input in &inputs {
                for (tool, family, key) in [
                    ("bash", Family::Bash, "command"),
                    ("write_file", Family::Edit, "path"),
                ] {
                    let arguments = Map::from_iter([(key.to_owned(), json!(input))]);
                    let call = Call {
                        tool,
                        family,
                        read_only_tool: false,
                        arguments: &arguments,
                    };
                    let context = scene.context(&call);
                    let started = std::time::Instant::now();
                    let decision = decide(&set, &context, &call);
                    let took = started.elapsed();
                    eprintln!("T {tool} {} us {:?} {:?}", took.as_micros(), &input[..4], decision.verdict);
                    // 50 ms is the bound of an optimised build; this one and its machine may be far slower.
                    assert!(took.as_secs() < 5, "`{tool}` with {:?}… took {took:?}", &input[..4]);
                    assert_eq!(decision, decide(&set, &context, &call));
                }
            }
        }
    }
}

#[test]
fn what_is_too_long_for_the_deny_rules_is_denied() {
    let rules = Rules {
        deny: (0..10_000)
            .map(|index| format!("Bash(*x{index}*)"))
            .collect(),
        ..Rules::default()
    };
    let scene = Scene {
        rules,
        posture: Posture::Yolo,
        sandbox: Sandbox::None,
    };
    let decision = scene.bash(&"a ".repeat(100_000));
    assert_eq!(decision.verdict, Verdict::Deny);
    assert!(decision.rule.contains("too long"), "{}", decision.rule);
}

// Properties.

fn a_command() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("rm"),
        Just("-rf"),
        Just("git"),
        Just("push"),
        Just("status"),
        Just("ls"),
        Just("sudo"),
        Just("sh"),
        Just("-c"),
        Just("'"),
        Just("\""),
        Just("\\"),
        Just("$X"),
        Just(";"),
        Just("&&"),
        Just("|"),
        Just("("),
        Just(")"),
        Just("`"),
        Just("\n"),
        Just("{"),
        Just("}"),
        Just("A=1"),
        Just(">x"),
        Just("2>&1"),
        Just("#"),
        Just("é"),
        Just("*"),
    ];
    prop_oneof![
        prop::collection::vec((word, prop_oneof![Just(" "), Just("")]), 0..12).prop_map(|parts| {
            parts
                .into_iter()
                .map(|(word, blank)| format!("{word}{blank}"))
                .collect()
        }),
        any::<String>(),
    ]
}

fn a_rule() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Bash".to_owned()),
        Just("Bash(rm -rf*)".to_owned()),
        Just("Bash(git push:*)".to_owned()),
        Just("Bash(git status:*)".to_owned()),
        Just("Bash(ls)".to_owned()),
        Just("Bash(*push*)".to_owned()),
        Just("Edit(secrets/**)".to_owned()),
        Just("Edit".to_owned()),
        Just("Read(**/*.key)".to_owned()),
        any::<String>(),
        "[A-Za-z_]{1,8}\\([a-z*/. :~-]{0,12}\\)",
    ]
}

fn rules_of() -> impl Strategy<Value = Rules> {
    let list = || prop::collection::vec(a_rule(), 0..4);
    (list(), list(), list()).prop_map(|(allow, ask, deny)| Rules { allow, ask, deny })
}

fn a_call() -> impl Strategy<Value = (&'static str, Family, Value)> {
    prop_oneof![
        a_command().prop_map(|command| ("bash", Family::Bash, json!({ "command": command }))),
        "[a-z./~*]{0,20}".prop_map(|path| (
            "write_file",
            Family::Edit,
            json!({"path": path, "content": ""})
        )),
        any::<String>().prop_map(|path| ("read_file", Family::Read, json!({ "path": path }))),
        "secrets/[a-z.]{0,8}".prop_map(|path| ("edit_file", Family::Edit, json!({ "path": path }))),
    ]
}

fn a_posture() -> impl Strategy<Value = (Posture, Sandbox)> {
    (
        prop_oneof![Just(Posture::Ask), Just(Posture::Auto), Just(Posture::Yolo)],
        prop_oneof![
            Just(Sandbox::None),
            Just(Sandbox::Partial),
            Just(Sandbox::Full)
        ],
    )
}

fn decided(
    rules: &Rules,
    (posture, sandbox): (Posture, Sandbox),
    call: &(&'static str, Family, Value),
) -> Decision {
    let scene = Scene {
        rules: rules.clone(),
        posture,
        sandbox,
    };
    let Value::Object(arguments) = &call.2 else {
        panic!("arguments are an object")
    };
    let call = Call {
        tool: call.0,
        family: call.1,
        read_only_tool: call.1 == Family::Read,
        arguments,
    };
    decide(&scene.rule_set(), &scene.context(&call), &call)
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_input_has_an_answer_and_always_the_same(rules in rules_of(), setting in a_posture(), call in a_call()) {
        let first = decided(&rules, setting, &call);
        prop_assert_eq!(&first, &decided(&rules, setting, &call));
        prop_assert!(first.verdict != Verdict::Deny || first.scopes.is_empty());
    }

    #[test]
    fn a_rule_that_tightens_never_loosens(rules in rules_of(), rule in a_rule(), deny in any::<bool>(), setting in a_posture(), call in a_call()) {
        let before = decided(&rules, setting, &call);
        let mut tighter = rules.clone();
        if deny { tighter.deny.push(rule) } else { tighter.ask.push(rule) };
        let after = decided(&tighter, setting, &call);
        prop_assert!(strictness(after.verdict) >= strictness(before.verdict), "{before:?} became {after:?}");
    }

    #[test]
    fn nothing_lifts_a_denial(rules in rules_of(), allow in a_rule(), sandbox in a_posture(), call in a_call()) {
        let before = decided(&rules, (Posture::Ask, sandbox.1), &call);
        prop_assume!(before.verdict == Verdict::Deny);
        let mut looser = rules.clone();
        looser.allow.push(allow);
        for posture in [Posture::Ask, Posture::Auto, Posture::Yolo] {
            prop_assert_eq!(decided(&looser, (posture, sandbox.1), &call).verdict, Verdict::Deny);
        }
    }

    #[test]
    fn a_bare_deny_always_wins(mut rules in rules_of(), setting in a_posture(), call in a_call()) {
        rules.deny.extend(["Bash".to_owned(), "Edit".to_owned(), "Read".to_owned()]);
        prop_assert_eq!(decided(&rules, setting, &call).verdict, Verdict::Deny);
    }

    #[test]
    fn what_is_always_asked_is_lifted_by_nothing(rules in rules_of(), setting in a_posture()) {
        let call = ("write_file", Family::Edit, json!({"path": "reasonix.toml", "content": ""}));
        prop_assert_ne!(decided(&rules, setting, &call).verdict, Verdict::Allow);
    }

    #[test]
    fn a_denied_command_stays_denied_inside_any_line(before in "[a-z ;&|]{0,12}", after in "[a-z ;&|]{0,12}") {
        let rules = read_rules("allow Bash / deny Bash(rm -rf*)");
        let line = format!("{before}; rm -rf x; {after}");
        let call = ("bash", Family::Bash, json!({ "command": line }));
        prop_assert_eq!(decided(&rules, (Posture::Yolo, Sandbox::Full), &call).verdict, Verdict::Deny);
    }

    #[test]
    fn the_analyser_takes_quotes_away_as_the_shell_does(words in prop::collection::vec("[ -~]{1,12}", 1..5)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let line = format!("tool {}", quoted.join(" "));
        let Analysis::Simple { words: read, .. } = analyse(&line) else { panic!("`{line}` is plain") };
        let read: Vec<String> = read.into_iter().skip(1).map(|word| word.text).collect();
        prop_assert_eq!(read, words);
    }
}
