//! Other ways to write a subcommand or a host that a rule names.

use super::*;

#[test]
fn rule_for_cargo_covers_no_foreign_subcommand_and_no_linker() {
    check(
        "allow Bash(cargo:*) / allow Bash(cargo rustc:*) / allow Bash(cargo mine:*)",
        "allow | cargo build
         allow | cargo b
         allow | cargo nextest run
         allow | cargo clippy -- -D warnings
         allow | cargo rustc --release
         allow | cargo mine x
         ask   | cargo rustc -- -C linker=./evil
         ask   | cargo rustc --release -- -Clinker=./evil
         ask   | cargo evil
         ask   | cargo +nightly evil
         ask   | cargo install x",
    );
    check(
        "allow Bash(cargo:*)",
        "ask | cargo rustc\n ask | cargo rustdoc -- --x",
    );
}

#[test]
fn deny_rule_may_hold_for_other_names_and_with_options_between() {
    check(
        "allow Bash / deny Bash(gh pr merge:*) / deny Bash(aws s3 rm:*) / deny Bash(docker run:*) / deny Bash(docker push:*) / \
         deny Bash(pip install:*) / deny Bash(git push:*) / deny Bash(kubectl delete ns*)",
        "deny  | gh pr merge 1
         ask   | gh pr -R a/b merge 1
         ask   | gh pr --repo=a/b merge 1
         ask   | gh -R a/b pr merge 1
         ask   | aws s3 --recursive rm x
         ask   | aws --profile p s3 --recursive rm x
         deny  | docker container run x
         ask   | docker image push x
         ask   | pip3 install x
         ask   | pip3.11 install x
         ask   | /usr/lib/git-core/git-push
         ask   | git-push origin
         ask   | kubectl delete -n a ns b
         allow | gh pr list
         allow | gh pr view merge
         allow | gh pr -R a/b list
         allow | aws s3 ls --x rm
         allow | docker container ls
         allow | docker ps -a
         allow | pip3 list
         allow | git commit -m push
         allow | git-log push
         allow | git log --grep push
         allow | kubectl get -n a ns",
    );
}

#[test]
fn address_that_parsers_read_differently_matches_rules_that_tighten() {
    let fetch = |rules: &str, url: &str| {
        scene(rules)
            .call("web_fetch", json!({ "url": url }))
            .verdict
    };
    for url in [
        "https://evil.com",
        "https://user@evil.com/x",
        "HTTPS://EVIL.com.",
        "https:/evil.com",
        "https:evil.com",
        "https:\\\\evil.com",
        "https:///evil.com",
        "https://good.org\\@evil.com",
        "https://%65vil.com",
        "https://evil\u{ff0e}com",
        "https://ev\til.com",
    ] {
        let allowed = "allow WebFetch / deny WebFetch(domain:evil.com)";
        assert_eq!(fetch(allowed, url), Verdict::Deny, "{url}");
        let asked = "allow WebFetch / ask WebFetch(domain:evil.com)";
        assert_eq!(fetch(asked, url), Verdict::Ask, "{url}");
        let domain = "allow WebFetch(domain:good.org)";
        assert_ne!(fetch(domain, url), Verdict::Allow, "{url}");
    }
    let rules = "allow WebFetch / deny WebFetch(domain:evil.com)";
    for url in [
        "https://good.org/a b?c=%20#x",
        "http://a-b.good.org:80/evil.com",
    ] {
        assert_eq!(fetch(rules, url), Verdict::Allow, "{url}");
    }
    assert_eq!(
        fetch("allow WebFetch(domain:good.org)", "https://docs.good.org/x"),
        Verdict::Allow
    );
}
