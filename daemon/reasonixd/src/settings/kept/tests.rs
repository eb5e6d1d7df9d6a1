//! Scenarios of the file of kept rules: additions, text that stays, problems.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use session::PersistedRules as _;
use store::home::Home;

use super::{PermissionFiles, WorkspaceRules};
use crate::settings::tests::known_tools;

struct TestHome {
    _dir: tempfile::TempDir,
    files: PermissionFiles,
}

const ROOT: &str = "/user/ann/code";

impl TestHome {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("home")).unwrap();
        Self {
            files: PermissionFiles::new(Arc::new(home), known_tools()),
            _dir: dir,
        }
    }

    fn kept(&self) -> Arc<WorkspaceRules> {
        self.files.of(Path::new(ROOT))
    }

    fn write(&self, text: &str) -> Arc<WorkspaceRules> {
        let kept = self.kept();
        fs::create_dir_all(kept.file.parent().unwrap()).unwrap();
        fs::write(&kept.file, text).unwrap();
        self.kept()
    }
}

#[test]
fn a_rule_is_added_at_the_end_and_everything_else_stays() {
    for (before, after) in [
        (
            "# mine\n[permissions]\nallow = [\n    \"a\", # why\n    # on its own\n]\nask = [\"b\"]\n",
            "# mine\n[permissions]\nallow = [\n    \"a\", # why\n    # on its own\n    \"Bash(make:*)\",\n]\nask = [\"b\"]\n",
        ),
        (
            "[permissions]\nallow = [\"a\"]\n",
            "[permissions]\nallow = [\"a\", \"Bash(make:*)\"]\n",
        ),
        (
            "[permissions]\nallow = [\"Bash(make:*)\"]\n",
            "[permissions]\nallow = [\"Bash(make:*)\"]\n",
        ),
        (
            "permissions = { deny = [\"x\"] }\n",
            "permissions = { deny = [\"x\"] , allow = [\n    \"Bash(make:*)\",\n] }\n",
        ),
    ] {
        let place = TestHome::new();
        let kept = place.write(before);
        kept.keep("Bash(make:*)").unwrap();
        let text = fs::read_to_string(&kept.file).unwrap();
        assert_eq!(text, after);
        assert!(kept.in_force().1.allow.contains(&"Bash(make:*)".to_owned()));
    }
}

#[test]
fn a_new_file_says_what_it_is_for_and_every_keeper_of_it_knows_of_a_change() {
    let place = TestHome::new();
    let (one, two) = (place.kept(), place.kept());
    let before = two.in_force().0;
    one.keep("Edit(docs/a \"b\".md)").unwrap();
    let (number, rules) = two.in_force();
    assert!(number > before);
    assert_eq!(rules.allow, ["Edit(docs/a \"b\".md)"]);
    let text = fs::read_to_string(&one.file).unwrap();
    assert!(
        text.starts_with("# Rules that you always allowed") && text.contains(ROOT),
        "{text}"
    );
    assert!(one.forget("Edit(docs/a \"b\".md)").unwrap());
    assert!(!one.forget("Edit(docs/a \"b\".md)").unwrap());
    assert!(two.in_force().1.allow.is_empty());
    let text = fs::read_to_string(&one.file).unwrap();
    assert!(text.contains(ROOT), "the header stays: {text}");
}

#[test]
fn what_is_taken_back_leaves_the_comments_of_others() {
    for (before, after) in [
        (
            "[permissions]\nallow = [\n    # one\n    \"a\", # why a\n    # two\n    \"bash\", # why b\n]\n",
            "[permissions]\nallow = [\n    # one\n    # two\n    \"bash\", # why b\n]\n",
        ),
        (
            "[permissions]\nallow = [\"a\", \"bash\"]\n",
            "[permissions]\nallow = [ \"bash\"]\n",
        ),
        (
            "[permissions]\nallow = [\n    \"bash\",\n    \"a\"\n]\n",
            "[permissions]\nallow = [\n    \"bash\",\n]\n",
        ),
        (
            "[permissions]\nallow = [\n    { rule = \"a\", match = [\"a\"] },\n]\n",
            "[permissions]\nallow = [\n]\n",
        ),
    ] {
        let place = TestHome::new();
        let kept = place.write(before);
        assert!(kept.forget("a").unwrap(), "{before}");
        assert_eq!(fs::read_to_string(&kept.file).unwrap(), after);
    }
}

#[test]
fn mistakes_in_the_file_are_reported_by_line_and_the_file_is_unchanged() {
    let place = TestHome::new();
    let kept = place.write("[permissions]\nallow = [\"Grep(x)\", \"bash\"]\nnever = []\n[other]\n");
    let problems = kept.problems();
    for (line, words) in [(2, "another product"), (3, "`never`"), (4, "`other`")] {
        let place = format!("permissions.toml:{line}:");
        assert!(
            problems
                .iter()
                .any(|problem| problem.contains(&place) && problem.contains(words)),
            "{line}: {problems:?}"
        );
    }
    assert_eq!(kept.in_force().1.allow, ["bash"]);

    let kept = place.write("[permissions\n");
    assert!(
        kept.problems()[0].contains("not valid TOML"),
        "{:?}",
        kept.problems()
    );
    assert!(kept.in_force().1.allow.is_empty());
    let refused = kept.keep("bash").unwrap_err();
    assert!(refused.message.contains("line 1"), "{}", refused.message);
    assert_eq!(fs::read_to_string(&kept.file).unwrap(), "[permissions\n");
}

#[test]
fn slow_reader_does_not_restore_a_revoked_rule() {
    let place = TestHome::new();
    // Long enough for others to get in between reading and knowing.
    let long: String = (0..100).map(|n| format!("    \"Edit(a{n})\",\n")).collect();
    let kept = place.write(&format!("[permissions]\nask = [\n{long}]\n"));
    let over = std::sync::atomic::AtomicBool::new(false);
    let mut back = 0;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::SeqCst) {
                    place.kept();
                }
            });
        }
        for _ in 0..8 {
            let kept_and_taken = kept.keep("bash").is_ok() && kept.forget("bash") == Ok(true);
            let known = |_: &i32| {
                std::thread::yield_now();
                !kept.in_force().1.allow.is_empty()
            };
            back += i32::from(!kept_and_taken || (0..2_000).find(known).is_some());
        }
        over.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    assert_eq!(back, 0);
}
