//! Searches, compared with `rg` if it is installed.

use std::process::Command;

use super::*;
use crate::workspace::tests::Scene;

fn query(pattern: &str) -> SearchQuery {
    SearchQuery {
        pattern: pattern.to_owned(),
        mode: SearchMode::Content,
        globs: Vec::new(),
        file_type: None,
        before: 0,
        after: 0,
        case_insensitive: false,
        multiline: false,
        include_ignored: false,
        limit: 1000,
        time_max: Duration::from_secs(60),
    }
}

fn tree() -> Scene {
    let scene = Scene::new();
    std::fs::create_dir(scene.ws(".git")).unwrap();
    scene.put(".git/config", "needle\n");
    scene.put(".gitignore", "target/\n*.log\n");
    scene.put("target/out.rs", "needle\n");
    scene.put("a.log", "needle\n");
    scene.put(".hidden/x.rs", "needle\n");
    scene.put(
        "src/main.rs",
        "fn main() {\n    needle();\n}\n\nfn needle() {\n    Needle\n}\n// end\n",
    );
    scene.put("src/lib.rs", "no\nneedle needle\r\nnone\n");
    scene.put("src-old/z.rs", "needle\n");
    scene.put("docs/a.md", "# Needle\n\nneedle in\nhay\n");
    scene.put("sub/.ignore", "skipped.txt\n");
    scene.put("sub/skipped.txt", "needle\n");
    scene.put("sub/.rgignore", "also.txt\n");
    scene.put("sub/also.txt", "needle\n");
    scene.put("sub/kept.txt", "needle at end");
    scene.put("bin.dat", b"needle\n\0\x01needle\n");
    scene.put("latin.txt", b"caf\xe9 needle\n");
    scene.link("link.rs", "src/main.rs");
    scene.link("outlink", scene.top.join("out"));
    scene
}

fn shown(scene: &Scene, query: &SearchQuery) -> String {
    let found = scene
        .workspace
        .search(&scene.reading("."), query, &|| false)
        .unwrap();
    let mut out = String::new();
    for entry in &found.entries {
        let path = scene.workspace.shown(&entry.path);
        match query.mode {
            SearchMode::Files => out.push_str(&format!("{path}\n")),
            SearchMode::Count => out.push_str(&format!("{path}:{}\n", entry.count)),
            SearchMode::Content => {
                for (index, line) in entry.lines.iter().enumerate() {
                    if query.before + query.after > 0 && !out.is_empty() && (index == 0 || line.gap)
                    {
                        out.push_str("--\n");
                    }
                    let mark = if line.matched { ':' } else { '-' };
                    out.push_str(&format!(
                        "{path}{mark}{}{mark}{}\n",
                        line.number,
                        String::from_utf8_lossy(&line.bytes)
                    ));
                }
            }
        }
    }
    out
}

#[test]
fn matches_in_the_order_of_their_paths() {
    let wanted = "docs/a.md:3:needle in\nlatin.txt:1:caf\u{fffd} needle\nsrc/lib.rs:2:needle needle\nsrc/main.rs:2:    needle();\n\
                  src/main.rs:5:fn needle() {\nsrc-old/z.rs:1:needle\nsub/kept.txt:1:needle at end\n";
    assert_eq!(shown(&tree(), &query("needle")), wanted);
}

#[test]
fn the_limit_keeps_the_first_and_counts_the_rest() {
    let scene = tree();
    let all = shown(&scene, &query("needle"));
    for limit in 0..9 {
        let query = SearchQuery {
            limit,
            ..query("needle")
        };
        let wanted: String = all.split_inclusive('\n').take(limit).collect();
        assert_eq!(shown(&scene, &query), wanted);
        let found = scene
            .workspace
            .search(&scene.reading("."), &query, &|| false)
            .unwrap();
        assert_eq!(
            (found.matches, found.files, found.left_out),
            (7, 6, 7_u64.saturating_sub(limit as u64))
        );
    }
}

#[test]
fn modes_and_filters() {
    let scene = tree();
    let count = SearchQuery {
        mode: SearchMode::Count,
        ..query("needle")
    };
    assert_eq!(
        shown(
            &scene,
            &SearchQuery {
                file_type: Some("rust".into()),
                ..count.clone()
            }
        ),
        "src/lib.rs:1\nsrc/main.rs:2\nsrc-old/z.rs:1\n"
    );
    let files = SearchQuery {
        mode: SearchMode::Files,
        globs: vec!["*.{md,txt}".into()],
        ..query("needle")
    };
    // As with `rg`, a glob that names files overrides the ignore files.
    assert_eq!(
        shown(&scene, &files),
        "docs/a.md\nlatin.txt\nsub/also.txt\nsub/kept.txt\nsub/skipped.txt\n"
    );
    let inside = SearchQuery {
        mode: SearchMode::Files,
        globs: vec!["src/**".into()],
        ..query("needle")
    };
    assert_eq!(shown(&scene, &inside), "src/lib.rs\nsrc/main.rs\n");
    let all = SearchQuery {
        mode: SearchMode::Files,
        include_ignored: true,
        ..query("needle")
    };
    let listed = shown(&scene, &all);
    for name in [
        "a.log",
        "target/out.rs",
        ".hidden/x.rs",
        "sub/skipped.txt",
        "sub/also.txt",
    ] {
        assert!(
            listed.lines().any(|line| line == name),
            "{name} in {listed}"
        );
    }
    assert!(!listed.contains(".git/"), "{listed}");
}

#[test]
fn a_search_follows_no_link_outside() {
    let scene = tree();
    assert_eq!(shown(&scene, &query("CANARY")), "");
}

#[test]
fn masked_and_denied_files_are_not_searched() {
    let scene = Scene::with(|top, options| {
        options.masked = vec![top.join("ws/private")];
        options.deny_read = vec!["secrets/**".into()];
    });
    scene.put("private/a", "needle");
    scene.put("secrets/b", "needle");
    scene.put("c", "needle");
    assert_eq!(shown(&scene, &query("needle")), "c:1:needle\n");
    let all = scene
        .workspace
        .search(
            &scene.reading("/".to_owned().as_str()),
            &SearchQuery {
                globs: vec!["private".into()],
                time_max: Duration::ZERO,
                ..query("needle")
            },
            &|| false,
        )
        .unwrap();
    assert!(all.partial && all.entries.is_empty());
    assert!(scene.workspace.resolve("private", Access::Read).is_err());
}

#[test]
fn an_invalid_search_is_an_error() {
    let scene = tree();
    let search = |query: &SearchQuery| {
        scene
            .workspace
            .search(&scene.reading("."), query, &|| false)
    };
    assert!(matches!(
        search(&query("(")),
        Err(SearchError::Pattern { .. })
    ));
    assert!(matches!(
        search(&query("a\\nb")),
        Err(SearchError::Pattern { .. })
    ));
    assert!(matches!(
        search(&SearchQuery {
            globs: vec!["a[".into()],
            ..query("a")
        }),
        Err(SearchError::Glob { .. })
    ));
    assert!(matches!(
        search(&SearchQuery {
            file_type: Some("none".into()),
            ..query("a")
        }),
        Err(SearchError::Type { .. })
    ));
    let missing = scene
        .workspace
        .search(&scene.reading("none"), &query("a"), &|| false);
    assert!(matches!(
        missing,
        Err(SearchError::File(FileError::Missing { .. }))
    ));
}

#[test]
fn a_cancelled_search_reports_it() {
    let scene = tree();
    let found = scene
        .workspace
        .search(&scene.reading("."), &query("needle"), &|| true)
        .unwrap();
    assert!(found.partial);
    let quick = SearchQuery {
        time_max: Duration::ZERO,
        ..query("needle")
    };
    assert!(
        scene
            .workspace
            .search(&scene.reading("."), &quick, &|| false)
            .unwrap()
            .partial
    );
}

/// A long file without a match asks as often as one with many.
#[test]
fn a_cancelled_search_ends_within_a_file() {
    let scene = tree();
    let line = "hay ".repeat(1000) + "\n";
    scene.put("long.txt", line.repeat(1000).as_str());
    let asked = AtomicU64::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 0;
    let found = scene
        .workspace
        .search(&scene.reading("long.txt"), &query("needle"), &stop)
        .unwrap();
    assert!(found.partial);
    assert!(asked.into_inner() < 10);
}

#[test]
fn one_file_is_searched_whatever_ignores_it() {
    let scene = tree();
    let found = scene
        .workspace
        .search(&scene.reading("a.log"), &query("needle"), &|| false)
        .unwrap();
    assert_eq!(found.matches, 1);
}

/// The same bytes as `rg`, for every combination of options of the tool.
#[test]
fn search_output_equals_that_of_ripgrep() {
    if Command::new("rg").arg("--version").output().is_err() {
        // Not required: the tests above work without it.
        return;
    }
    let scene = tree();
    let compare = |query: &SearchQuery, options: &[&str]| {
        let rg = Command::new("rg")
            .args([
                "--no-config",
                "--sort",
                "path",
                "--no-heading",
                "--line-number",
                "--with-filename",
                "--color",
                "never",
                "--no-messages",
            ])
            .args(options)
            .args(["--regexp", &query.pattern])
            .current_dir(scene.ws(""))
            .env_remove("RIPGREP_CONFIG_PATH")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&rg.stdout).replace('\r', "");
        // A file that turns out binary after a match is omitted here. `rg` prints a warning
        // instead.
        let text: String = text
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("bin.dat"))
            .collect();
        assert_eq!(
            shown(&scene, query),
            text,
            "rg {options:?} {}",
            query.pattern
        );
    };
    for pattern in [
        "needle",
        "(?i)NEEDLE",
        "^needle",
        "needle$",
        "\\bn\\w+",
        "none|hay",
        "[}]",
        "nowhere",
        "",
    ] {
        compare(&query(pattern), &[]);
        compare(
            &SearchQuery {
                case_insensitive: true,
                ..query(pattern)
            },
            &["-i"],
        );
        compare(
            &SearchQuery {
                mode: SearchMode::Files,
                ..query(pattern)
            },
            &["-l"],
        );
        compare(
            &SearchQuery {
                mode: SearchMode::Count,
                ..query(pattern)
            },
            &["-c"],
        );
        compare(
            &SearchQuery {
                before: 1,
                ..query(pattern)
            },
            &["-B1"],
        );
        compare(
            &SearchQuery {
                after: 2,
                ..query(pattern)
            },
            &["-A2"],
        );
        compare(
            &SearchQuery {
                before: 1,
                after: 1,
                ..query(pattern)
            },
            &["-C1"],
        );
        compare(
            &SearchQuery {
                file_type: Some("rust".into()),
                ..query(pattern)
            },
            &["-trust"],
        );
        compare(
            &SearchQuery {
                globs: vec!["!src".into()],
                ..query(pattern)
            },
            &["-g", "!src"],
        );
        compare(
            &SearchQuery {
                globs: vec!["*.rs".into(), "!lib.rs".into()],
                ..query(pattern)
            },
            &["-g", "*.rs", "-g", "!lib.rs"],
        );
        compare(
            &SearchQuery {
                include_ignored: true,
                ..query(pattern)
            },
            &["--no-ignore", "--hidden", "-g", "!.git"],
        );
    }
    for pattern in [
        "needle\\(\\);\\n\\}",
        "n\\w+\\s+in\\nhay",
        "(?s)fn.*?\\}",
        "needle",
    ] {
        compare(
            &SearchQuery {
                multiline: true,
                ..query(pattern)
            },
            &["-U"],
        );
        compare(
            &SearchQuery {
                multiline: true,
                mode: SearchMode::Count,
                ..query(pattern)
            },
            &["-U", "-c"],
        );
        compare(
            &SearchQuery {
                multiline: true,
                after: 1,
                ..query(pattern)
            },
            &["-U", "-A1"],
        );
    }
}
