//! Scenes.

use proptest::prelude::*;

use super::*;
use crate::scene::Scene;

proptest! {
    #[test]
    fn any_content_of_the_state_file_is_read_or_ignored(bytes in proptest::collection::vec(prop_oneof![Just(0_u8), Just(b'='), Just(b'/'), Just(b'\n'), any::<u8>()], 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn exported_variables_reach_the_next_command(
        base in proptest::collection::btree_map("[A-C]{1,2}", "[a-b]{0,2}", 0..6),
        left in proptest::collection::vec(proptest::collection::btree_map("[A-C]{1,2}", "[a-b]{0,2}", 1..6), 1..5),
    ) {
        let scene = Scene::new();
        let workspace = scene.memory.workspace();
        let mut lasting = PersistentShell::default();
        for env in left {
            let begun = start(workspace.cwd(), &lasting.env(&base));
            let end = ShellEnd { cwd: workspace.cwd().to_owned(), env: env.clone() };
            lasting.take(workspace, &base, &begun, &end);
            prop_assert_eq!(lasting.env(&base), env);
        }
    }
}

fn env(pairs: &[(&str, &str)]) -> Environment {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn start(cwd: &Path, env: &Environment) -> CommandStart {
    CommandStart {
        shell: "/bin/sh".to_owned(),
        cwd: cwd.to_owned(),
        env: env.clone(),
        sandbox: None,
    }
}

#[test]
fn complete_shell_state_is_read_and_a_partial_one_is_not() {
    let whole = b"/a b\n\0A=1\0B=x=y\nz\0\xff=\0";
    let end = read(whole).unwrap();
    assert_eq!(end.cwd, Path::new("/a b"));
    assert_eq!(end.env, env(&[("A", "1"), ("B", "x=y\nz")]));
    for bytes in [
        b"".as_slice(),
        b"/a\n\0",
        b"/a\n\0A=1",
        b"a\n\0A=1\0",
        b"/a\0A=1\0",
        b"\0",
        b"\0\0",
    ] {
        assert_eq!(read(bytes), None, "{bytes:?}");
    }
}

#[test]
fn only_differences_from_the_session_are_kept() {
    let scene = Scene::new();
    let workspace = scene.memory.workspace();
    let base = env(&[("A", "1"), ("GONE", "x")]);
    let begun = start(workspace.cwd(), &base);
    let mut lasting = PersistentShell::default();
    let left = ShellEnd {
        cwd: workspace.cwd().to_owned(),
        env: env(&[
            ("A", "1"),
            ("NEW", "2"),
            ("PWD", "/x"),
            ("SHLVL", "9"),
            ("LD_PRELOAD", "/x.so"),
            ("PAGER", "less"),
            ("BASH_ENV", "/x"),
            ("BASH_FUNC_ls%%", "() { :; }"),
            (command::LINE_VARIABLE, "ls"),
        ]),
    };
    assert!(lasting.take(workspace, &base, &begun, &left).is_empty());
    let now = env(&[("A", "1"), ("NEW", "2")]);
    assert_eq!(lasting.env(&base), now);
    // Back as it was: nothing is left of it.
    let begun = start(workspace.cwd(), &now);
    let left = ShellEnd {
        cwd: workspace.cwd().to_owned(),
        env: base.clone(),
    };
    lasting.take(workspace, &base, &begun, &left);
    assert_eq!(lasting, PersistentShell::default());
}

#[test]
fn parallel_commands_each_keep_their_changes() {
    let scene = Scene::new();
    let workspace = scene.memory.workspace();
    let base = env(&[("A", "1")]);
    let begun = start(workspace.cwd(), &base);
    let mut lasting = PersistentShell::default();
    for pair in [("B", "2"), ("C", "3")] {
        let left = ShellEnd {
            cwd: workspace.cwd().to_owned(),
            env: env(&[("A", "1"), pair]),
        };
        lasting.take(workspace, &base, &begun, &left);
    }
    assert_eq!(
        lasting.env(&base),
        env(&[("A", "1"), ("B", "2"), ("C", "3")])
    );
}

#[test]
fn too_many_or_too_long_variables_are_refused_together() {
    let scene = Scene::new();
    let workspace = scene.memory.workspace();
    let base = env(&[("A", "1")]);
    let begun = start(workspace.cwd(), &base);
    let many = (0..=VARIABLES_MAX).map(|number| (format!("V{number}"), String::new()));
    let long = [("V".to_owned(), "x".repeat(VARIABLE_BYTES_MAX))];
    for env in [many.collect::<Environment>(), long.into_iter().collect()] {
        let mut lasting = PersistentShell::default();
        let left = ShellEnd {
            cwd: workspace.cwd().to_owned(),
            env,
        };
        let notes = lasting.take(workspace, &base, &begun, &left);
        assert!(notes[0].starts_with("exported variables stay as they were: "));
        assert_eq!(lasting, PersistentShell::default());
    }
}
