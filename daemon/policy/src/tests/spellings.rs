//! Deny rules, and spellings of a command that are easy to overlook.

use super::*;

#[test]
fn file_named_like_an_option_may_replace_a_star_at_the_start() {
    check(
        "allow Bash / deny Bash(rm -rf*) / deny Bash(sort -o*) / deny Bash(git push --force*) / deny Bash(curl --output:*)",
        "ask   | rm *
         ask   | rm *f
         ask   | rm a *
         ask   | rm -f *
         ask   | rm -r *
         ask   | rm **
         ask   | sudo rm *
         ask   | sh -c 'rm *'
         ask   | find . -exec sh -c 'rm *' x
         ask   | sort *.txt
         ask   | sort */x
         ask   | git push *
         ask   | git * push
         ask   | curl *
         allow | rm ./*
         allow | rm -- *
         allow | rm '*'
         allow | rm a*
         allow | rm *.o
         allow | rm */x
         allow | rm -f build/*
         allow | sort ./*.txt
         allow | sort -- *.txt
         allow | git add *
         allow | git add *.rs
         allow | ls *
         deny  | rm -rf *
         deny  | rm -r -f -- *",
    );
    let yolo = scene("deny Bash(rm -rf*)").approval_mode(ApprovalMode::Yolo);
    assert_eq!(yolo.bash("rm *").verdict, Verdict::Ask);
    check("allow Bash / deny Bash(rm x)", "allow | rm *.o");
    check("allow Bash / deny Bash(rm -rf /)", "allow | rm *");
}

#[test]
fn options_between_subcommands_are_skipped_in_a_command_of_any_length() {
    let many = " x".repeat(100);
    let scene = scene("allow Bash / deny Bash(gh pr merge:*)");
    for line in [
        format!("gh pr -R a/b merge 1{many}"),
        format!("gh pr --repo=a/b merge 1{many}"),
        format!("gh pr {} merge 1", "--x ".repeat(100)),
        format!("gh pr {} merge 1", "-R a/b ".repeat(100)),
        format!("gh -R a/b pr -R a/b merge{many}"),
    ] {
        assert_eq!(scene.bash(&line).verdict, Verdict::Ask, "{line}");
    }
    for line in [
        format!("gh pr -R a/b list{many}"),
        format!("gh pr view merge -R a/b{many}"),
    ] {
        assert_eq!(scene.bash(&line).verdict, Verdict::Allow, "{line}");
    }
}

#[test]
fn file_of_a_redirection_counts_in_every_spelling() {
    check(
        "allow Bash / deny Bash(*secret*)",
        r#"deny  | cat < secret
           deny  | cat < se"cr"et
           deny  | cat < s\ecret
           deny  | cat < $'s\x65cret'
           deny  | echo a > s"e"cret
           deny  | { cat; } < se"cr"et
           ask   | cat < s?cret
           ask   | cat < s[e]cret
           ask   | cat 0< dir/se?ret
           ask   | echo a >> s?cret
           ask   | { cat; } < s?cret
           ask   | sh -c 'cat < s?cret'
           ask   | cat < $f
           ask   | cat < "$f"
           allow | cat < other
           allow | cat < o?her
           allow | make > *.log
           allow | echo a 2>&1"#,
    );
    check(
        "allow Bash / deny Bash(git push:*) / deny Bash(rm -rf*)",
        "allow | git log > $f\n allow | git log < p?sh\n allow | rm a > x",
    );
}

#[test]
fn pager_of_git_grep_is_a_program() {
    check(
        "allow Bash / deny Bash(rm:*)",
        "deny  | git grep -O'rm -rf x' y
         deny  | git grep -Orm y
         deny  | git grep -nOrm y
         deny  | git grep '-O sh -c \"rm x\"' y
         deny  | git --no-pager grep -Orm y
         deny  | git grep --open-files-in-pager=rm y
         deny  | git grep --open='r\"m\" -rf x' y
         deny  | git grep y -Orm
         deny  | git -C x grep -Orm y
         ask   | git grep -O y
         ask   | git grep -Oless y
         ask   | git grep -O'$X' y
         allow | git grep -eFOO y
         allow | git grep -n y
         allow | git grep --only-matching y
         allow | git grep y -- -Orm",
    );
    check(
        "",
        "ask | git grep -Oless y\n ask | git grep -O y\n ask | git grep --open-files y\n allow | git grep -n y",
    );
}

#[test]
fn other_name_of_a_program_holds_with_options_too() {
    check(
        "allow Bash / deny Bash(pip install:*) / deny Bash(docker run:*) / deny Bash(docker push:*)",
        "deny  | pip --quiet install x
         deny  | pip -q -v install x
         ask   | pip --log x install y
         ask   | pip3 -q install x
         ask   | pip3 --log x install y
         ask   | pip3.11 --quiet install x
         deny  | python3 -m pip install x
         ask   | python3 -m pip -q install x
         ask   | pip3 instal[l] x
         deny  | docker -H x container run y
         deny  | docker --debug container run y
         ask   | docker -H x container --x run y
         ask   | docker container --x run y
         ask   | docker --context x image push y
         allow | pip3 -q list
         allow | docker -H x container ls
         allow | python3 -m pip list
         allow | docker -H x ps",
    );
}

/// The verdict about a command while `deny_read` closes `.env` in the workspace, and `secrets`.
fn with_closed_files(rules: &str, sandbox: SandboxStrength, command: &str) -> Decision {
    let root = PathBuf::from(ROOT);
    let closed = |path: &mut ResolvedPath| {
        let absolute = path.absolute.clone().unwrap_or_default();
        path.denied = absolute == root.join(".env") || absolute.starts_with(root.join("secrets"));
    };
    let scene = scene(rules).sandbox(sandbox);
    scene.call_with("bash", json!({ "command": command }), closed)
}

#[test]
fn git_does_not_show_a_closed_file_that_the_command_names() {
    for command in [
        "git show HEAD:.env",
        "git show :0:.env",
        "git show :.env",
        "git show 'HEAD^{/a:b}:.env'",
        "git show HEAD:./.env",
        "git show HEAD:project/.env",
        "git show HEAD:a/project/secrets/key",
        "git cat-file -p HEAD:.env",
        "git cat-file blob :0:secrets/key",
        "git diff HEAD -- .env",
        "git diff HEAD:.env",
        "git log -p -- .env",
        "git log -p -- ':(top).env'",
        "git log -p -- ':(top,literal)project/.env'",
        "git log -p -- :/.env",
        "git log -p -- ':^x' secrets",
        "git log -L1,5:.env",
        "git log -L 1,5:.env",
        "git log -L:func:.env",
        "git grep X -- .env",
        "git grep X HEAD -- .env",
        "git blame .env",
        "git --no-pager show HEAD:.env | head",
        "timeout 5 git show HEAD:.env",
    ] {
        for sandbox in [SandboxStrength::None, SandboxStrength::Full] {
            for rules in ["", "allow Bash", "allow Bash(git:*)"] {
                let decision = with_closed_files(rules, sandbox, command);
                let verdict = decision.verdict;
                assert_eq!(verdict, Verdict::Ask, "{command} under `{rules}`");
                assert!(decision.rule.contains("deny_read"), "{}", decision.rule);
            }
        }
    }
    let many: Vec<String> = (0..300).map(|number| format!("f{number}")).collect();
    let after_many_others = format!("git log -p -- {} .env", many.join(" "));
    for command in [
        "cd . && git show HEAD:.env",
        "git show HEAD:.env > x",
        "X=1 git show HEAD:.env",
        "git -C . show HEAD:.env",
        "sh -c 'git show HEAD:.env'",
        "git archive HEAD .env",
        &after_many_others,
    ] {
        for sandbox in [SandboxStrength::None, SandboxStrength::Full] {
            let decision = with_closed_files("allow Bash", sandbox, command);
            assert_eq!(decision.verdict, Verdict::Ask, "{command}");
        }
    }
    for command in [
        "git show HEAD:src/lib.rs",
        "git show HEAD:env",
        "git log -p -- src",
        "git log --format=%h:%s",
        "git diff HEAD",
        "git grep .env:x",
        "git status -- ':!x'",
    ] {
        for sandbox in [SandboxStrength::None, SandboxStrength::Full] {
            let decision = with_closed_files("", sandbox, command);
            assert_eq!(
                decision.verdict,
                Verdict::Allow,
                "{command}: {}",
                decision.rule
            );
        }
    }
    // The kernel keeps other programs away from the file itself.
    let read = with_closed_files("", SandboxStrength::Full, "cat .env");
    assert_eq!(read.verdict, Verdict::Allow);
}

#[test]
fn rule_over_paths_holds_for_files_of_every_revision() {
    check(
        "allow Bash / deny Read(secrets/**) / deny Read(.env)",
        "deny | git show HEAD:.env
         deny | git show :0:.env
         deny | git show :2:secrets/key
         deny | git cat-file -p 'HEAD^{/a:b}:secrets/key'
         deny | git log -L1,5:.env
         deny | git log -p -- ':(top).env'
         deny | git log -p -- :/secrets/key
         deny | git blame .env",
    );
}
