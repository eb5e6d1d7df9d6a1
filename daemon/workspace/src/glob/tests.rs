//! Scenes, and the comparison with ripgrep itself.

use std::collections::BTreeSet;
use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::workspace::tests::Scene;

fn found(scene: &Scene, path: &str, pattern: &str, include_ignored: bool) -> GlobResult {
    let query = GlobQuery {
        pattern: pattern.to_owned(),
        include_ignored,
        limit: 1000,
        time_max: Duration::from_secs(20),
    };
    let mut found = scene
        .workspace
        .glob(&scene.reading(path), &query, &|| false)
        .unwrap();
    for path in &mut found.paths {
        *path = path.strip_prefix(scene.ws("")).unwrap().to_owned();
    }
    found
}

fn names(found: &GlobResult) -> BTreeSet<String> {
    found
        .paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

fn planted() -> Scene {
    let scene = Scene::with(|_, options| options.deny_read = vec!["secret/**".to_owned()]);
    for name in [
        "a.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "src/d.txt",
        ".hidden/e.rs",
        ".f.rs",
        "target/g.rs",
        "ignored.rs",
        "x.log",
        "secret/h.rs",
        "src/[odd] name.rs",
        "sub/only.rs",
        ".git/i.rs",
    ] {
        scene.put(name, name);
    }
    scene.put(".gitignore", "target\n*.log\n");
    scene.put(".ignore", "ignored.rs\n");
    scene.put("sub/.rgignore", "only.rs\n");
    scene.link("loop", ".");
    scene.link("src/up", "..");
    scene.link("way-out", scene.top.join("out"));
    scene
}

#[test]
fn the_newest_comes_first_and_of_the_same_time_the_path_decides() {
    let scene = Scene::new();
    for (name, seconds) in [("b", 50), ("a", 50), ("old", 1), ("new", 99)] {
        let path = scene.put(name, "");
        let time = std::time::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }
    let all = found(&scene, ".", "*", false);
    let paths: Vec<_> = all
        .paths
        .iter()
        .map(|path| path.to_str().unwrap())
        .collect();
    assert_eq!(paths, ["new", "a", "b", "old"]);
    let query = GlobQuery {
        pattern: "*".to_owned(),
        include_ignored: false,
        limit: 2,
        time_max: Duration::from_secs(20),
    };
    let few = scene
        .workspace
        .glob(&scene.reading("."), &query, &|| false)
        .unwrap();
    assert_eq!(few.paths, [scene.ws("new"), scene.ws("a")]);
    assert_eq!((few.total, few.partial), (4, false));
}

#[test]
fn ignored_and_hidden_files_are_listed_on_request_and_masked_ones_never() {
    let scene = planted();
    let names = |ignored| names(&found(&scene, "src", "**/*.rs", ignored));
    let plain: BTreeSet<String> = ["src/b.rs", "src/deep/c.rs", "src/[odd] name.rs"]
        .map(str::to_owned)
        .into();
    assert_eq!(names(false), plain);
    let all = super::tests::names(&found(&scene, ".", "*.rs", true));
    for name in [
        "target/g.rs",
        ".hidden/e.rs",
        ".f.rs",
        "ignored.rs",
        "sub/only.rs",
    ] {
        assert!(all.contains(name), "{name}: {all:?}");
    }
    assert!(
        !all.contains("secret/h.rs") && !all.contains(".git/i.rs"),
        "{all:?}"
    );
}

/// The files that ripgrep lists. `None` if it is not installed or refuses the pattern.
#[allow(clippy::print_stderr, reason = "a skip has to be seen")]
fn by_rg(dir: &Path, pattern: &str) -> Option<BTreeSet<String>> {
    let done = Command::new("rg")
        .args(["--no-config", "--files", "-g", pattern])
        .current_dir(dir)
        .output();
    let done = done.ok()?;
    // An older `rg` may refuse a pattern that ours accepts.
    if done.status.code() == Some(2) {
        return None;
    }
    let text = String::from_utf8(done.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn the_files_are_those_of_rg() {
    if testkit::skip::unless(testkit::skip::works(&["rg", "--version"]), "`rg`") {
        return;
    }
    let scene = planted();
    let mut compared = 0;
    for pattern in [
        "*",
        "**",
        "*.rs",
        "**/*.rs",
        "src/*.rs",
        "/*.rs",
        "src/**",
        "*.{rs,txt}",
        "!*.rs",
        "*.log",
        "target/**",
        "**/deep/*",
        "?.rs",
        "[a-b].rs",
        "src/\\[odd\\]*",
        "loop/*",
        ".*",
        "nothing*",
        "a.rs",
        "deep",
        "src/deep/",
    ] {
        let Some(mut wanted) = by_rg(&scene.ws(""), pattern) else {
            continue;
        };
        compared += 1;
        // Denied to tools, which `rg` does not know.
        wanted.retain(|name| !name.starts_with("secret/"));
        assert_eq!(
            names(&found(&scene, ".", pattern, false)),
            wanted,
            "{pattern}"
        );
    }
    assert!(compared >= 20, "only {compared} patterns were compared");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_pattern_finds_what_rg_finds(pattern in "[ab*?/.\\]\\[!-]{1,8}") {
        prop_assume!(!pattern.starts_with('-'));
        let scene = Scene::new();
        for name in ["a", "b", "a.b", "ab/a", "ab/b.a", "b/a/b", ".a"] {
            if !scene.ws(name).exists() && !scene.ws(name).is_dir() {
                let _ = std::fs::create_dir_all(scene.ws(name).parent().unwrap());
                let _ = std::fs::write(scene.ws(name), "");
            }
        }
        let query = GlobQuery {
            pattern: pattern.clone(),
            include_ignored: false,
            limit: 100,
            time_max: Duration::from_secs(20),
        };
        let ours = scene.workspace.glob(&scene.reading("."), &query, &|| false);
        if ours.is_ok() && let Some(wanted) = by_rg(&scene.ws(""), &pattern) {
            prop_assert_eq!(names(&found(&scene, ".", &pattern, false)), wanted);
        }
    }
}

#[test]
fn a_cancelled_walk_reports_it() {
    let scene = planted();
    let query = GlobQuery {
        pattern: "*".to_owned(),
        include_ignored: false,
        limit: 10,
        time_max: Duration::from_secs(20),
    };
    let found = scene
        .workspace
        .glob(&scene.reading("."), &query, &|| true)
        .unwrap();
    assert!(found.partial && found.paths.is_empty());
    let bad = scene.workspace.glob(
        &scene.reading("."),
        &GlobQuery {
            pattern: "a[".to_owned(),
            ..query
        },
        &|| false,
    );
    assert!(matches!(bad, Err(SearchError::Glob { .. })), "{bad:?}");
}
