//! Commands under rules.

use super::*;

#[test]
fn a_prefix_rule_covers_plain_commands_one_by_one_and_ends_at_a_word() {
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
         allow | cargo test && cargo test
         allow | cargo test; cargo test -p x | head -5 || cargo test
         allow | cd src && cargo test
         ask   | cargo test && make
         ask   | cargo test | tee out
         ask   | cargo test |& cat
         ask   | cargo test & cargo test
         ask   | cargo test > /dev/null
         ask   | cargo test < in
         ask   | cargo test <<< x
         ask   | cargo test $'x'
         ask   | for x in a b; do cargo test $x; done
         ask   | cargo test > out
         ask   | cargo test 2>err
         ask   | cargo test $(touch x)
         ask   | cargo test \"$HOME\"
         ask   | cargo test `touch x`
         ask   | cargo test\\ntouch x
         allow | cargo test # all
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
         ask   | cp x .git/config.worktree
         ask   | cp x .git/commondir
         ask   | cp x .git/worktrees/other/commondir
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
         ask   | git -C x status
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
fn interpreter_is_covered_if_the_rule_names_the_code() {
    check(
        "allow Bash(python -m pytest:*) / allow Bash(node scripts/build.js:*) / allow Bash(git -C sub status:*) / allow Bash(git --no-pager log:*) / allow Bash(sh -c:*)",
        "allow | python -m pytest -x
         allow | git -C sub status -s
         allow | git --no-pager log -1
         ask   | git -C sub -c a=b status
         allow | node scripts/build.js --fast
         ask   | python -m http.server
         ask   | node scripts/other.js
         ask   | sh -c make",
    );
}

#[test]
fn a_launcher_is_covered_where_the_rule_names_what_it_starts() {
    check(
        "allow Bash(timeout 60 cargo test:*) / allow Bash(npx tsc:*) / allow Bash(npx:*) / allow Bash(sudo git log:*)",
        "allow | timeout 60 cargo test -p x
         allow | npx tsc --noEmit
         allow | sudo git log -1
         ask   | timeout 60 cargo test --config x=1
         ask   | timeout 60 cargo build
         ask   | npx other
         ask   | npx tsc --outDir x
         ask   | sudo git log --output=x
         ask   | env A=1 cargo test",
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
fn read_only_commands_are_allowed_without_asking_unless_they_can_do_more() {
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
         allow | node --version
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
fn path_rules_apply_to_unsandboxed_commands() {
    let rules = "allow Bash(cat:*) / allow Bash(cp:*) / allow Bash(cargo test:*) / deny Read(secrets/**) / deny Edit(fixed/**)";
    check(
        rules,
        "deny  | cat secrets/key
         deny  | cat ./a/../secrets/key
         ask   | cat README.md
         deny  | cp a fixed/b
         ask   | head README.md
         ask   | cp s*/a b
         ask   | cp ~+/secrets/a b
         allow | cargo test
         deny  | cargo test secrets/a
         allow | echo hello",
    );
    let held = scene("deny Read(secrets/**)").sandbox(SandboxStrength::Full);
    assert_eq!(held.bash("head README.md").verdict, Verdict::Allow);
    let yolo = scene("deny Read(secrets/**)").approval_mode(ApprovalMode::Yolo);
    assert_eq!(yolo.bash("cp secrets/key /tmp/x").verdict, Verdict::Deny);
    assert_eq!(yolo.bash("cat secrets/key | head").verdict, Verdict::Deny);
    assert_eq!(yolo.bash("cat other/key | head").verdict, Verdict::Ask);
    assert_eq!(
        scene("allow Bash / deny Read(secrets/**)")
            .bash("make")
            .verdict,
        Verdict::Ask
    );
}

#[test]
fn redirection_is_an_edit_of_its_target() {
    let linked = |path: &mut ResolvedPath| {
        if path.text == "notes" && path.access == Access::Edit {
            path.absolute = Some(PathBuf::from(ROOT).join(".git/hooks/pre-commit"));
        }
        if path.text == "other" {
            path.absolute = Some(PathBuf::from(ROOT).join("fixed/other"));
        }
    };
    for (rules, command, expected) in [
        ("allow Bash", "echo x > notes", Verdict::Ask),
        ("allow Bash", "echo x > file", Verdict::Allow),
        ("allow Bash", "echo x > .git/info/exclude", Verdict::Allow),
        (
            "allow Bash / deny Edit(fixed/**)",
            "echo x > other",
            Verdict::Deny,
        ),
        (
            "allow Bash / deny Edit(fixed/**)",
            "echo x >> fixed/a",
            Verdict::Deny,
        ),
        (
            "allow Bash / deny Read(fixed/**)",
            "wc < fixed/a",
            Verdict::Deny,
        ),
        (
            "allow Bash / deny Edit(fixed/**)",
            "cd fixed && echo x > a",
            Verdict::Deny,
        ),
    ] {
        let decision = looked_up(rules, command, linked);
        assert_eq!(decision.verdict, expected, "`{command}`: {}", decision.rule);
    }
    let yolo = scene("").approval_mode(ApprovalMode::Yolo);
    let decision = yolo.call_with("bash", json!({"command": "echo x > notes"}), linked);
    assert_eq!(decision.basis, Basis::AlwaysAsked);
}

#[test]
fn git_asks_after_a_change_of_directory() {
    check(
        "",
        "allow | cd sub && ls
         allow | git status
         ask   | cd sub && git status
         ask   | (cd sub; git log)
         ask   | git -C sub status",
    );
    let scene = scene("");
    let arguments = Map::from_iter([("command".to_owned(), json!("git status"))]);
    let call = Call {
        tool: &tool("bash"),
        arguments: &arguments,
        touches: &[],
    };
    let mut context = scene.context(&call);
    context.cwd = context.root.join("vendor/other");
    assert_eq!(
        decide(&scene.rule_set(), &context, &call).verdict,
        Verdict::Ask
    );
    // It moves the session's shell, so nothing may run in parallel.
    assert!(!scene.bash("cd sub && ls").read_only);
}

/// The decision about a command with its words resolved by text, then changed.
fn looked_up(rules: &str, command: &str, change: impl Fn(&mut ResolvedPath)) -> Decision {
    scene(rules).call_with("bash", json!({ "command": command }), change)
}

#[test]
fn read_only_command_asks_if_a_word_names_a_closed_file() {
    let home = |path: &mut ResolvedPath| {
        let absolute = path.absolute.clone().unwrap_or_default();
        path.denied = absolute.starts_with("/home/someone/.ssh");
        path.masked =
            absolute.starts_with("/home/someone/.reasonix") || absolute.starts_with("/proc/1");
        path.holds_closed = ["/", "/home", "/home/someone", "/proc"]
            .iter()
            .any(|dir| absolute == std::path::Path::new(dir));
    };
    for command in [
        "cat ~/.ssh/id_rsa",
        "cat ../.ssh/id_rsa",
        "cat /home/someone/.ssh/id_rsa",
        "head -n5 src/../../.ssh/id_rsa",
        "sed -n 1p ~/.ssh/id_rsa",
        "grep -f/home/someone/.ssh/id_rsa x",
        "grep -rf/home/someone/.ssh/id_rsa x",
        "grep --file=/home/someone/.ssh/id_rsa x",
        "strings @/home/someone/.ssh/id_rsa",
        "git diff --no-index /dev/null /home/someone/.ssh/id_rsa",
        "git show HEAD:../.ssh/id_rsa",
        "cat /proc/1/environ",
        "cat ~/.reasonix/sessions/1/log.jsonl",
        "cat ~/.reasonix/sessions/*/log.jsonl",
        "cat /proc/*/environ",
        "cat /etc/pass*",
        "cat ../*/x",
        "cat */../../x",
        "cat .*/x",
        "cat ~/*",
        "grep -r KEY ~",
        "grep -dKEY ..",
        "rg KEY ..",
        "find / -name id_rsa",
        "ls -R ~",
        "tree ~",
    ] {
        for rules in ["", "allow Bash"] {
            let decision = looked_up(rules, command, home);
            assert_eq!(decision.verdict, Verdict::Ask, "`{command}`");
        }
        let yolo = scene("").approval_mode(ApprovalMode::Yolo).call_with(
            "bash",
            json!({ "command": command }),
            home,
        );
        assert_eq!(yolo.verdict, Verdict::Ask, "`{command}` in yolo");
        assert!(yolo.scopes.is_empty(), "`{command}`");
    }
    for command in [
        "cat src/main.rs",
        "cat /etc/hosts",
        "cat '~/.ssh/id_rsa'",
        "ls ~",
        "ls *.rs",
        "grep KEY /home/someone/notes",
        "grep -rn KEY src",
        "rg KEY",
        "find . -name '*.rs'",
        "git diff HEAD~1",
        "git log -- src",
    ] {
        let decision = looked_up("", command, home);
        assert_eq!(
            decision.verdict,
            Verdict::Allow,
            "`{command}`: {}",
            decision.rule
        );
    }
}

#[test]
fn read_only_command_with_unresolved_words_asks() {
    let other = |path: &mut ResolvedPath| path.text = "other".to_owned();
    assert_eq!(looked_up("", "cat a", other).verdict, Verdict::Ask);
    let many = format!(
        "cat {}",
        (0..400).map(|n| format!("f{n} ")).collect::<String>()
    );
    assert_eq!(scene("").bash(&many).verdict, Verdict::Ask);
}

#[test]
fn recursive_reading_asks_if_the_directory_contains_closed_files() {
    let here = |path: &mut ResolvedPath| path.holds_closed = path.text == ".";
    for (command, expected) in [
        ("rg KEY", Verdict::Ask),
        ("grep -r KEY", Verdict::Ask),
        ("git grep --no-index KEY", Verdict::Ask),
        ("cat *", Verdict::Ask),
        ("ls", Verdict::Allow),
        ("git status", Verdict::Allow),
        ("cat README.md", Verdict::Allow),
    ] {
        assert_eq!(
            looked_up("", command, here).verdict,
            expected,
            "`{command}`"
        );
    }
}

#[test]
fn options_that_print_environments_or_files_named_in_files_do_more_than_read() {
    check(
        "",
        "allow | ps
         allow | ps aux
         allow | ps -ef
         allow | ps -eo pid,etime,args
         ask   | ps auxeww
         ask   | ps eww
         ask   | ps -E
         ask   | ps -o environ
         ask   | date -f key
         ask   | date --file=key
         ask   | sort --files0-from=list
         ask   | wc --files0-from=list",
    );
    check("allow Bash(ps:*)", "ask | ps auxeww\n allow | ps aux");
}

#[test]
fn version_query_asks_if_the_directory_chooses_the_program() {
    for program in [
        "yarn", "pnpm", "npm", "cargo", "rustc", "rustup", "go", "deno", "bun", "tsc",
    ] {
        let decision = scene("").bash(&format!("{program} --version"));
        assert_eq!(decision.verdict, Verdict::Ask, "{program}");
    }
}

#[test]
fn words_of_a_command_start_at_the_working_directory() {
    let arguments = Map::from_iter([("command".to_owned(), json!("cp key /tmp/x"))]);
    let call = Call {
        tool: &tool("bash"),
        arguments: &arguments,
        touches: &[],
    };
    let scene = scene("allow Bash / deny Read(secrets/**)").approval_mode(ApprovalMode::Yolo);
    let mut context = scene.context(&call);
    let decided = |context: &Context| decide(&scene.rule_set(), context, &call).verdict;
    assert_eq!(decided(&context), Verdict::Ask);
    context.cwd = context.root.join("secrets");
    assert_eq!(decided(&context), Verdict::Deny);
}

#[test]
fn a_command_that_names_the_agents_own_directory_is_asked_about_in_every_approval_mode() {
    for command in [
        "echo '#' >> /agent/home/config.toml",
        "echo '#' >> \"$REASONIX_HOME/config.toml\"",
        "cp x /agent/home/trust.json",
        "tee ${REASONIX_HOME}/config.toml",
    ] {
        let decision = scene("allow Bash")
            .approval_mode(ApprovalMode::Yolo)
            .bash(command);
        assert_eq!(
            decision.verdict,
            Verdict::Ask,
            "{command}: {}",
            decision.rule
        );
        assert_eq!(decision.basis, Basis::AlwaysAsked, "{command}");
    }
    let other = scene("allow Bash")
        .approval_mode(ApprovalMode::Yolo)
        .bash("cp x /agent/homestead");
    assert_eq!(
        other.verdict,
        Verdict::Allow,
        "another directory with a longer name"
    );
}
