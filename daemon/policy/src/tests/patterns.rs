//! Words that the shell replaces by file names, or by several words.

use super::*;

#[test]
fn deny_rule_holds_for_a_word_that_a_pattern_may_become() {
    for (rule, lines) in [
        (
            "Bash(git push*)",
            "git pus[h]
             git ?ush
             git [p]ush
             git p*
             git *
             git [[:alpha:]]ush
             git []p]ush
             git [!a]ush
             git [a-z]ush
             git -C x pus[h]
             git --no-pager -c a=b p?sh origin
             timeout 5 git pus[h]
             sh -c 'git pus[h]'
             echo a; git pus[h]
             git pus[h]-x",
        ),
        ("Bash(git push:*)", "git pus[h]\n git pus? origin"),
        ("Bash(git push)", "git pus[h]"),
        ("Bash(npm publish:*)", "npm publis[h]\n npm --x publis[h]"),
        (
            "Bash(docker run:*)",
            "docker ru[n] x\n docker --debug ru[n] x",
        ),
        (
            "Bash(rm -rf*)",
            "rm [-]rf x\n rm ?rf x\n rm -r[f] x\n rm -[r]f x\n rm x [-]rf\n rm [-]r -f x\n rm *rf x",
        ),
        (
            "Bash(git push --force*)",
            "git push --forc[e]\n git pus[h] --force\n git push --fo*",
        ),
        ("Bash(*--force*)", "git push --forc[e]\n git push [-]-force"),
        ("Bash(kubectl * delete*)", "kubectl -n a delet[e] pod"),
    ] {
        for line in lines.lines().map(str::trim) {
            let rules = format!("allow Bash / deny {rule}");
            let decision = scene(&rules).bash(line);
            assert_ne!(decision.verdict, Verdict::Allow, "{rule}: {line}");
            let yolo = scene(&rules).approval_mode(ApprovalMode::Yolo).bash(line);
            assert_ne!(yolo.verdict, Verdict::Allow, "{rule}: {line} in yolo");
        }
    }
}

#[test]
fn deny_rule_lets_patterns_pass_that_cannot_become_its_words() {
    check(
        "allow Bash / deny Bash(git push*) / deny Bash(rm -rf*) / deny Bash(*--force*) / deny Bash(npm publish:*)",
        "allow | git add *.rs
         allow | git diff p*
         allow | git commit src/*
         allow | git pul[l]
         allow | git [c]ommit
         allow | rm *.o
         allow | rm [ab].o
         allow | rm [a-z].o
         allow | rm -f build/*
         allow | ls p*
         allow | npm run [t]est
         allow | cp push* x
         deny  | rm -rf *
         deny  | git push origin *",
    );
}

#[test]
fn pattern_of_stars_names_no_protected_file_and_other_patterns_may() {
    check(
        "allow Bash",
        "allow | git add **/*.rs
         allow | git add src/**
         allow | git add **
         allow | git add **/x/*
         allow | prettier --write src/**/*.ts
         allow | chmod a+r *
         ask   | cp x **/reasonix.toml
         ask   | rm .git/**
         ask   | rm **/.git/*
         ask   | rm *.toml
         ask   | rm **/*.toml
         ask   | rm reasonix.*
         ask   | rm reason**
         ask   | rm ?????????????
         ask   | rm **?
         ask   | rm .m**
         ask   | rm -r .r*
         ask   | cp x **/.vscode/**
         ask   | cp x .git/hook*",
    );
}

#[test]
fn braces_without_a_list_or_range_are_plain_text() {
    check(
        "",
        "allow | git log @{u}..HEAD
         allow | git log HEAD@{1}..
         allow | git log ..@{u}
         allow | git diff stash@{0}..HEAD
         allow | git diff HEAD@{1}..HEAD@{0}
         allow | git diff HEAD@{1}...main
         allow | git log HEAD@{1}
         allow | git log @{1},x
         allow | git show HEAD^{/fix}
         allow | rg 'a{1,2}'
         allow | rg \"a{1,2}\"
         allow | rg a{1\\,2}
         allow | ls {a,b}
         ask   | git show x@{a,b}
         ask   | git show x@{a..c}
         ask   | git show x@{1..2}
         ask   | find . {-nam,-delet}e
         ask   | find . {x}-delete,-print}
         ask   | find . {{x}-delete,-print}
         ask   | find . {a{b}c,-delete}
         ask   | find . {a,{b}}
         ask   | find . {{a,b},c}
         ask   | find . @{u}{-a,-b}
         ask   | find . @{u}..{-a,-b}
         ask   | find . {\"a\",-delete}
         ask   | for f in e; do find . {-nam,-delet}$f; done
         ask   | for f in e; do find . $X$f; done",
    );
    let nested = format!("ls {}", "{".repeat(9_000));
    assert_eq!(scene("").bash(&nested).verdict, Verdict::Ask);
}
