use super::*;
use crate::workspace::tests::Scene;

/// A tree as text, one name per line.
fn drawn(entries: &[ListEntry], level: usize) -> String {
    let mut text = String::new();
    for ListEntry { name, what } in entries {
        let name = name.to_string_lossy();
        let indent = " ".repeat(level);
        match what {
            EntryKind::File { bytes } => text.push_str(&format!("{indent}{name} {bytes}\n")),
            EntryKind::Link { target } => {
                text.push_str(&format!("{indent}{name} -> {}\n", target.display()));
            }
            EntryKind::Directory(DirContents::Shown { entries, left_out }) => {
                text.push_str(&format!("{indent}{name}/\n{}", drawn(entries, level + 1)));
                if *left_out > 0 {
                    text.push_str(&format!("{indent} +{left_out}\n"));
                }
            }
            EntryKind::Directory(DirContents::Folded { entries }) => {
                text.push_str(&format!("{indent}{name}/ folded {entries}\n"));
            }
            other => text.push_str(&format!("{indent}{name} {other:?}\n")),
        }
    }
    text
}

fn listed(scene: &Scene, path: &str, depth: usize, max: usize) -> (String, usize, usize) {
    let listing = scene
        .workspace
        .list(&scene.reading(path), depth, max)
        .unwrap();
    (
        drawn(&listing.entries, 0),
        listing.left_out,
        listing.unopened,
    )
}

#[test]
fn directories_come_first_noise_is_folded_and_links_are_not_followed() {
    let scene = Scene::with(|_, options| options.deny_read = vec!["secret/**".to_owned()]);
    for (name, text) in [
        ("b.txt", "12345"),
        ("a/x/y/z", "1"),
        ("a/f", ""),
        ("target/debug/x", ""),
        ("target/y", ""),
        ("secret/key", "k"),
    ] {
        scene.put(name, text);
    }
    scene.link("out", scene.top.join("out"));
    scene.link("a/loop", "..");
    let out = scene.top.join("out");
    let wanted = format!(
        "a/\n x/\n  y Directory(NotOpened)\n f 0\n loop -> ..\nsecret Denied\ntarget/ folded 2\nb.txt 5\nout -> {}\n",
        out.display()
    );
    assert_eq!(listed(&scene, ".", 3, 100), (wanted, 0, 0));
    assert_eq!(
        listed(&scene, "target", 1, 100).0,
        "debug Directory(NotOpened)\ny 0\n"
    );
}

#[test]
fn the_limit_cuts_the_depth_before_the_breadth_and_counts_what_it_left_out() {
    let scene = Scene::new();
    for name in ["a/1", "a/2", "a/3", "b/1", "c"] {
        scene.put(name, "");
    }
    assert_eq!(
        listed(&scene, ".", 2, 4),
        (
            "a/\n 1 0\n +2\nb Directory(NotOpened)\nc 0\n".to_owned(),
            2,
            1
        )
    );
    assert_eq!(listed(&scene, ".", 1, 2).1, 1);
}

#[test]
fn a_root_that_is_not_a_directory_is_refused() {
    let scene = Scene::new();
    scene.put("f", "");
    assert!(scene.workspace.list(&scene.reading("f"), 1, 9).is_err());
    let error = scene.workspace.list(&scene.reading("none"), 1, 9);
    assert!(matches!(error, Err(FileError::Missing { .. })), "{error:?}");
}
