use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use tempfile::TempDir;
use workspace::WorkspaceOptions;

use super::*;

/// A project with a user's file beside it.
struct Project {
    dir: TempDir,
    deny_read: Vec<String>,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("directory");
        fs::create_dir_all(dir.path().join("home")).expect("home");
        fs::create_dir_all(dir.path().join("root/src/core")).expect("root");
        Self {
            dir,
            deny_read: Vec::new(),
        }
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("parent");
        fs::write(path, text).expect("write");
        self
    }

    fn link(&self, name: &str, target: &str) -> &Self {
        symlink(target, self.dir.path().join(name)).expect("link");
        self
    }

    fn find(&self, cwd: &str) -> Instructions {
        let at = |name: &str| self.dir.path().join(name);
        let workspace = Workspace::open(WorkspaceOptions {
            root: at("root"),
            cwd: at(cwd),
            deny_read: self.deny_read.clone(),
            user_home: at("home"),
            ..WorkspaceOptions::default()
        });
        find_instructions(&workspace.expect("workspace"), &at("home/REASONIX.md"))
    }

    /// Names of the files that are found.
    fn names(&self, cwd: &str) -> Vec<String> {
        let found = self.find(cwd);
        let home = self.dir.path().canonicalize().expect("path");
        let home = format!("{}/", home.join("home").display());
        let name = |file: InstructionText| file.name.replace(&home, "~/");
        found.files.into_iter().map(name).collect()
    }
}

fn only_problem(found: &Instructions) -> &str {
    match found.problems.as_slice() {
        [problem] => problem,
        problems => panic!("{problems:?}"),
    }
}

#[test]
fn files_are_read_from_the_root_down_to_the_working_directory() {
    let project = Project::new();
    project
        .put("home/REASONIX.md", "user")
        .put("root/AGENTS.md", "root")
        .put("root/CLAUDE.md", "not used beside AGENTS.md")
        .put("root/.reasonix/instructions.local.md", "local")
        .put("root/src/CLAUDE.md", "src")
        .put("root/src/core/REASONIX.md", "core")
        .put("root/src/core/deeper/AGENTS.md", "below")
        .put("AGENTS.md", "above");
    let names = project.names("root/src/core");
    let user = names.first().expect("the user's file").clone();
    assert!(user.ends_with("REASONIX.md"), "{user}");
    assert_eq!(
        names[1..],
        [
            "AGENTS.md",
            ".reasonix/instructions.local.md",
            "src/CLAUDE.md",
            "src/core/REASONIX.md"
        ]
    );
    let found = project.find("root");
    assert_eq!(found.files[1].text, "root");
    assert_eq!(found.problems, [""; 0]);
    let known = found.files[1].file.as_ref().expect("a whole file");
    assert!(known.path.ends_with("root/AGENTS.md") && known.bytes == 4);
}

#[test]
fn directory_without_files_has_no_instructions() {
    assert_eq!(Project::new().find("root/src"), Instructions::default());
    let blank = Project::new();
    blank.put("root/AGENTS.md", " \n\n");
    assert_eq!(blank.find("root"), Instructions::default());
}

#[test]
fn imports_follow_the_file_that_imports_them_and_each_is_read_once() {
    let project = Project::new();
    project
        .put(
            "root/AGENTS.md",
            "See @docs/style.md and @docs/git.md and @alice.",
        )
        .put("root/docs/style.md", "Style. @./git.md @style.md")
        .put("root/docs/git.md", "Git. Back to @../AGENTS.md")
        .put("root/src/AGENTS.md", "@../docs/git.md");
    assert_eq!(
        project.names("root/src"),
        ["AGENTS.md", "docs/style.md", "docs/git.md", "src/AGENTS.md"]
    );
    assert_eq!(project.find("root/src").problems, [""; 0]);
}

#[test]
fn imports_end_at_depth_five() {
    let project = Project::new();
    project.put("root/AGENTS.md", "@1.md");
    for depth in 1..8 {
        project.put(&format!("root/{depth}.md"), format!("@{}.md", depth + 1));
    }
    let names = project.names("root");
    assert_eq!(names.last().map(String::as_str), Some("5.md"));
    let found = project.find("root");
    assert_eq!(
        only_problem(&found),
        "`5.md:1`: the import `@6.md` is left out: imports end at depth 5."
    );
}

#[test]
fn missing_import_is_reported_with_its_line() {
    let project = Project::new();
    project.put(
        "root/AGENTS.md",
        "a\nb @docs/none.md\n@nobody\n@types/node\n",
    );
    assert_eq!(
        only_problem(&project.find("root")),
        "`AGENTS.md:2`: the import `@docs/none.md` is left out: it does not exist."
    );
}

#[test]
fn import_of_a_directory_is_reported_where_it_is_written_as_one() {
    let project = Project::new();
    project
        .put("root/docs/one.md", "One.")
        .put("root/AGENTS.md", "Ask @docs first.\nSee @docs/ too.\n");
    assert_eq!(
        only_problem(&project.find("root")),
        "`AGENTS.md:2`: the import `@docs/` is left out: it is a directory."
    );
}

#[test]
fn import_that_is_left_out_is_reported_once_where_it_is_first_named() {
    let project = Project::new();
    project
        .put("secret.md", "secret")
        .put(
            "root/AGENTS.md",
            "Rules.\n@../secret.md\n@../secret.md @docs/none.md\n@docs/more.md\n",
        )
        .put("root/docs/more.md", "@none.md and @../../secret.md");
    assert_eq!(
        project.find("root").problems,
        [
            "`AGENTS.md:2`: the import `@../secret.md` is left out: it leads out of the workspace.",
            "`AGENTS.md:3`: the import `@docs/none.md` is left out: it does not exist.",
        ]
    );
}

#[test]
fn file_that_is_not_utf8_is_reported_with_its_first_wrong_line() {
    let project = Project::new();
    project.put("root/AGENTS.md", b"Use tabs.\nCaf\xe9.\n");
    let found = project.find("root");
    assert_eq!(found.files[0].text, "Use tabs.\nCaf\u{fffd}.\n");
    assert_eq!(
        only_problem(&found),
        "`AGENTS.md:2`: it is not UTF-8; the model gets `\u{fffd}` for each wrong byte."
    );
}

#[test]
fn nothing_is_read_from_outside_of_the_workspace() {
    let project = Project::new();
    project
        .put("secret.md", "secret")
        .link("root/AGENTS.md", "../secret.md")
        .put("private.md", "private")
        .put("root/src/AGENTS.md", "@../../private.md")
        .link("root/src/core/AGENTS.md", "../AGENTS.md");
    let found = project.find("root/src/core");
    let names: Vec<_> = found.files.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["src/AGENTS.md"]);
    let outside = "it leads out of the workspace";
    assert!(found.problems.len() == 2, "{:?}", found.problems);
    assert!(
        found
            .problems
            .iter()
            .all(|problem| problem.contains(outside))
    );
}

#[test]
fn link_within_the_workspace_is_followed() {
    let project = Project::new();
    project
        .put("root/docs/rules.md", "Rules.")
        .link("root/AGENTS.md", "docs/rules.md");
    let found = project.find("root");
    assert_eq!(
        (&*found.files[0].name, &*found.files[0].text),
        ("AGENTS.md", "Rules.")
    );
}

#[test]
fn user_may_import_what_tools_may_read() {
    let project = Project::new();
    project
        .put("home/REASONIX.md", "@~/notes/mine.md")
        .put("home/notes/mine.md", "Mine.");
    let found = project.find("root");
    assert_eq!(found.files.len(), 2, "{:?}", found.problems);
    assert_eq!(found.files[1].text, "Mine.");
}

#[test]
fn denied_file_is_not_read() {
    let mut project = Project::new();
    project.put("root/AGENTS.md", "@private/notes.md");
    project.put("root/private/notes.md", "secret");
    project.deny_read = vec!["private/**".to_owned()];
    let found = project.find("root");
    assert_eq!(found.files.len(), 1);
    assert!(
        only_problem(&found).contains("`Read(private/**)` denies it"),
        "{:?}",
        found.problems
    );
}

#[test]
fn long_file_is_cut_at_a_line_and_reported() {
    let project = Project::new();
    project.put("root/AGENTS.md", "0123456789 rule\n".repeat(3000));
    let found = project.find("root");
    let file = &found.files[0];
    let shown = file.text.strip_suffix(CUT_MARK).expect("the mark");
    assert!(shown.len() <= FILE_BYTES_MAX && shown.ends_with("rule\n"));
    assert!(shown.len() > FILE_BYTES_MAX - 16);
    let known = file.file.as_ref().expect("a state");
    assert!(known.partial && known.bytes == 48_000, "{known:?}");
    assert_eq!(
        only_problem(&found),
        "`AGENTS.md:2048`: only its first 32768 bytes are used, up to this line."
    );
}

#[test]
fn all_files_together_are_bounded() {
    let project = Project::new();
    let names: String = (0..20).map(|n| format!("@{n}.md\n")).collect();
    project.put("root/AGENTS.md", names);
    for n in 0..20 {
        project.put(&format!("root/{n}.md"), "a line of text\n".repeat(2000));
    }
    let found = project.find("root");
    let bytes: usize = found.files.iter().map(|file| file.text.len()).sum();
    assert!(bytes <= ALL_BYTES_MAX && found.files.len() == 9, "{bytes}");
    assert_eq!(found.problems.len(), 12);
}

#[test]
fn whatever_is_no_text_file_is_reported() {
    type Make = fn(&Project);
    let cases: [(&str, Make); 5] = [
        ("a directory", |project| {
            fs::create_dir(project.dir.path().join("root/AGENTS.md")).expect("directory");
        }),
        ("a named pipe", |project| {
            let path = project.dir.path().join("root/AGENTS.md");
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.expect("mkfifo").success());
        }),
        ("not a text file", |project| {
            project.put("root/AGENTS.md", [b'a', 0, 1]);
        }),
        ("leads out of the workspace", |project| {
            project.link("root/AGENTS.md", "/dev/zero");
        }),
        ("symbolic links", |project| {
            project.link("root/AGENTS.md", "AGENTS.md");
        }),
    ];
    for (reason, make) in cases {
        let project = Project::new();
        project.put("root/src/AGENTS.md", "src");
        make(&project);
        let found = project.find("root/src");
        assert_eq!(found.files.len(), 1, "{reason}");
        assert!(
            only_problem(&found).contains(reason),
            "{:?}",
            found.problems
        );
    }
}

#[test]
fn sparse_file_of_many_bytes_costs_no_memory() {
    let project = Project::new();
    let file = fs::File::create(project.dir.path().join("root/AGENTS.md")).expect("file");
    file.set_len(10 * 1024 * 1024 * 1024).expect("sparse");
    assert!(only_problem(&project.find("root")).contains("the limit is"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever files import each other: the search ends, no file is there twice, and the same files give the same bytes.
    #[test]
    fn any_web_of_imports_is_read_once_and_the_same_again(
        edges in prop::collection::vec((0_usize..6, 0_usize..7), 0..20),
    ) {
        let project = Project::new();
        for from in 0..6 {
            let imports = edges.iter().filter(|(start, _)| *start == from);
            let text: String = imports.map(|(_, to)| format!("@{to}.md\n")).collect();
            project.put(&format!("root/{from}.md"), format!("file {from}\n{text}"));
        }
        project.put("root/AGENTS.md", "@0.md @1.md");
        let found = project.find("root");
        let mut names: Vec<_> = found.files.iter().map(|file| file.name.clone()).collect();
        prop_assert_eq!(&found, &project.find("root"));
        let count = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), count);
    }
}

#[test]
fn one_long_line_is_cut_between_letters_and_a_byte_order_mark_is_left_out() {
    let project = Project::new();
    project.put("root/AGENTS.md", format!("\u{feff}{}", "中".repeat(20_000)));
    let found = project.find("root");
    let problem = only_problem(&found);
    assert!(
        problem.contains("only its first 32768 bytes are used"),
        "{problem}"
    );
    let text = &found.files[0].text;
    let shown = text.strip_suffix(CUT_MARK).expect("the mark");
    assert!(shown.starts_with('中') && shown.ends_with("中\n") && !shown.contains('\u{fffd}'));
}
