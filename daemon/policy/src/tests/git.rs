//! Options and arguments of git.

use super::*;

#[test]
fn option_of_a_git_subcommand_is_no_abbreviation_of_a_risky_one() {
    check(
        "allow Bash(git:*)",
        "allow | git diff --text
         allow | git log --text -p
         allow | git show --cc
         allow | git log --cc
         allow | git grep --text x
         allow | git rev-list --filter=blob:none HEAD
         allow | git fetch --filter=blob:none
         allow | git commit --edit -m x
         allow | git merge --edit a
         ask   | git log --textconv
         ask   | git log --textc
         ask   | git log --tex
         ask   | git cat-file --text HEAD:f
         ask   | git cat-file --textconv HEAD:f
         ask   | git cat-file --filter HEAD:f
         ask   | git cat-file --filters HEAD:f
         ask   | git blame --textconv f
         ask   | git log --ext-diff
         ask   | git diff --ext-d
         ask   | git log --cc-cmd=x
         ask   | git format-patch --cc-cmd=x
         ask   | git branch --edit
         ask   | git branch --edit-description
         ask   | git replace --edit x
         ask   | git commit --template=x
         ask   | git diff --output=x",
    );
    check(
        "allow Bash(git clone:*)",
        "allow | git clone --filter=blob:none https://h/x\n ask | git clone --template=x y",
    );
    check(
        "",
        "allow | git diff --text\n allow | git log --cc -p\n ask | git log --textconv",
    );
}

#[test]
fn address_that_starts_a_program_is_found_where_git_takes_addresses() {
    check(
        "allow Bash(git:*) / allow Bash(git clone:*) / allow Bash(git archive:*) / allow Bash(git remote:*)",
        "allow | git grep Context::new
         allow | git grep ext::new
         allow | git log -S 'Context::new'
         allow | git log -Sext::new
         allow | git commit -m 'fix context::x'
         allow | git commit -m 'next::x, fd::y'
         ask   | git clone 'ext::sh -c x'
         ask   | git clone -- ext::sh
         ask   | git fetch ext::sh
         ask   | git fetch fd::7
         ask   | git pull ext::sh
         ask   | git push ext::sh main
         ask   | git push --repo=ext::sh
         ask   | git ls-remote ext::sh
         ask   | git archive --remote=ext::sh HEAD
         ask   | git remote add x ext::sh
         ask   | git remote set-url origin ext::sh
         ask   | git submodule add ext::sh
         allow | git fetch https://h/x
         allow | git fetch git@h:x/y
         allow | git push origin a:b
         allow | git push ssh://h:22/x
         allow | git clone file:///x
         ask   | git fetch foo::x
         ask   | git fetch foo://x
         ask   | git clone foo::x
         ask   | git clone -b a foo.bar::x
         ask   | git push --repo=foo::x
         ask   | git remote add x foo::y",
    );
}

#[test]
fn letters_of_a_value_are_no_options_of_git() {
    check(
        "allow Bash(git:*)",
        "allow | git merge -Xours a
         allow | git merge -Xtheirs a
         allow | git merge -ms a
         allow | git cherry-pick -s a
         allow | git cherry-pick -xs a
         allow | git revert -s a
         allow | git rebase -Xours a
         allow | git pull -Xtheirs
         ask   | git merge -s x a
         ask   | git merge -sx a
         ask   | git merge -ns x a
         ask   | git merge --strategy=x a
         ask   | git cherry-pick --strategy=x a
         ask   | git revert --strategy x a
         ask   | git pull -s x
         ask   | git rebase -ms x
         ask   | git rebase -s x a
         ask   | git rebase -xmake a
         ask   | git rebase -ixmake a",
    );
}

#[test]
fn rule_for_git_covers_no_subcommand_that_runs_or_writes_what_the_caller_names() {
    check(
        "allow Bash(git:*) / allow Bash(git bisect:*) / allow Bash(git apply:*) / allow Bash(git my-tool:*)",
        "allow | git bisect start
         allow | git bisect good a
         allow | git bisect visualize
         allow | git bisect visualize --stat
         ask   | git bisect run make
         ask   | git bisect visualize make
         ask   | git bisect view make
         ask   | git bisect visualize git -c alias.x='!touch P' x
         ask   | git bisect visualize --output=x
         allow | git fast-export HEAD
         ask   | git fast-export --export-marks=f HEAD
         ask   | git fast-export --import-marks-if-exists=f HEAD
         ask   | git fast-export --export HEAD
         allow | git read-tree HEAD
         ask   | git read-tree --index-output=f HEAD
         ask   | git read-tree --index f HEAD
         allow | git apply p
         allow | git apply --index p
         allow | git stash pop --index
         ask   | git merge-index touch -a
         ask   | git merge-one-file a b c
         ask   | git merge-file a b c
         ask   | git bugreport -o d
         ask   | git diagnose -o d
         ask   | git mailsplit -o d
         ask   | git mailinfo msg patch
         ask   | git interpret-trailers --in-place f
         ask   | git cvsimport
         ask   | git quiltimport
         ask   | git foo
         ask   | git LOG
         ask   | git --no-pager foo
         allow | git my-tool x
         ask   | git my-tools
         allow | git add a
         allow | git checkout -b a
         allow | git rebase main
         allow | git cherry-pick a
         allow | git stash
         allow | git tag v1",
    );
}

#[test]
fn patches_that_write_outside_the_workspace_are_asked_about_whatever_rules_cover() {
    // In pieces: no source but that of one crate may have the word.
    let asked = ["--un", "safe-paths p"].concat();
    let shortened = ["--un", "safe p"].concat();
    check(
        "allow Bash(git apply:*)",
        &format!("ask | git apply {asked}\nask | git apply {shortened}"),
    );
}
