//! Repositories whose config makes git run other programs.

use proptest::prelude::*;

use super::*;

fn programs(config: &str) -> Vec<String> {
    git_programs(&git_config(config.as_bytes()).expect("a config"), false)
}

#[test]
fn git_config_programs_of_read_only_commands_are_found_in_any_syntax() {
    for config in [
        "[diff]\n\texternal = evil",
        "[diff]external=evil",
        "[DIFF]\r\n  ExTernal = evil\r\n",
        "[diff] ; words\nexternal = \"evil\" # more",
        "[diff]\nexternal = e\\\nvil",
        "[diff \"x\"] textconv = evil",
        "[diff \"a.b \\\"c\"]\ncommand = evil",
        "[diff.x]\ncommand = evil",
        "\u{feff}[filter \"x\"]\nclean = evil",
        "[filter \"x\"]\nsmudge = evil",
        "[filter \"x\"]\nprocess = evil",
        "[filter \"lfs\"]\nclean = \"git-lfs clean -- %f; evil\"",
        "[filter \"lfs\"]\nclean = ./git-lfs clean -- %f",
        "[filter \"LFS\"]\nclean = git-lfs clean -- %f",
        "[merge \"x\"]\ndriver = evil",
        "[gpg]\nprogram = evil",
        "[gpg \"ssh\"]\nprogram = evil",
        "[core]\nalternateRefsCommand = evil",
        "[man \"x\"]\ncmd = evil",
        "[browser \"x\"]\npath = evil",
        "[alias]\nwhatchanged = !evil",
        "[alias]\nStatus = difftool -x evil",
        "[alias \"log\"]\ncommand = !evil",
        "[lfs \"extension.x\"]\nclean = evil",
        "[lfs \"customtransfer.x\"]\npath = evil",
        "[hook \"x\"]\ncommand = evil\nevent = pre-commit\nevent = post-index-change",
        "[core]\nsshCommand = evil\n[remote \"o\"]\npromisor = true",
        "[remote \"o\"]\nuploadpack = evil\n[extensions]\npartialClone = o",
        "[remote \"o\"]\nurl = ext::evil\npromisor = true",
        "[credential \"https://x\"]\nhelper = evil\n[remote \"o\"]\npromisor",
    ] {
        let found = programs(config);
        assert_eq!(found.len(), 1, "{config}: {found:?}");
        assert!(
            found[0].contains("evil") || config.contains("git-lfs"),
            "{found:?}"
        );
    }
}

#[test]
fn settings_that_run_nothing_are_ignored() {
    for config in [
        "",
        "# nothing\n",
        "[core]\nrepositoryformatversion = 0\nbare = false\nfsmonitor = true\npager = less\neditor = vim\nhooksPath = .husky\nsshCommand = ssh -i k",
        "[user]\nname = Ann \"of\" x\n[remote \"origin\"]\nurl = https://example.org/x.git\nfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\nremote = origin",
        "[filter \"lfs\"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nprocess = git-lfs filter-process\nrequired = true",
        "[filter \"git-crypt\"]\nsmudge = \"\\\"git-crypt\\\" smudge\"",
        "[filter \"lfs\"]\nclean =\nprocess = \"\"",
        "[diff \"x\"]\nxfuncname = \"^a\"\nbinary = true",
        "[alias]\nst = status\nfix = !rebase",
        "[hook \"x\"]\ncommand = lint\nevent = pre-commit",
        "[remote \"o\"]\npromisor = true\nurl = https://example.org/x.git\npartialclonefilter = blob:none",
        "[submodule \"x\"]\nupdate = !make\n[sequence]\neditor = x\n[interactive]\ndiffFilter = delta",
    ] {
        assert_eq!(programs(config), [""; 0], "{config}");
    }
    // Git applies the config of a repository inside the other one.
    let inner = |config: &str| git_programs(&git_config(config.as_bytes()).unwrap(), true).len();
    assert_eq!(inner("[core]\nfsmonitor = true"), 0);
    assert_eq!(inner("[core]\nfsmonitor = evil"), 1);
}

#[test]
fn malformed_config_is_reported_with_its_line() {
    for (config, line) in [
        ("[core", 1),
        ("\n[core]\n= x", 3),
        ("[core \"a]\n", 2),
        ("[core]\nx = \"a", 2),
        ("[core]\nx = \\q", 2),
        ("[co_re]", 1),
        ("[core]\nx y", 2),
    ] {
        assert_eq!(
            git_config(config.as_bytes()),
            Err(GitConfigProblem { line }),
            "{config}"
        );
    }
}

#[test]
fn includes_and_hooks_are_found_whatever_their_condition() {
    let settings = git_config(
        b"[include]\npath = a\n[includeIf \"gitdir:~/x.path/\"]\npath = b\n[core]\nhooksPath = h\nhooksPath = i",
    );
    let settings = settings.unwrap();
    assert_eq!(git_includes(&settings).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(git_hooks_path(&settings), Some("i"));
    assert_eq!(git_reader_hooks(&settings), ["post-index-change"]);
}

#[test]
fn displayed_program_has_no_control_characters() {
    let long = "x".repeat(500);
    let found = programs(&format!(
        "[diff]\nexternal = \"a\u{1b}[2J`\u{202e}\\n{long}\""
    ));
    assert!(found[0].chars().count() < 130, "{}", found[0]);
    assert!(
        !found[0].contains(['\u{1b}', '\u{202e}', '\n']),
        "{:?}",
        found[0]
    );
}

const READERS: &[&str] = &[
    "git status",
    "git diff --stat HEAD~1",
    "git --no-pager log -p",
    "cd . && git show",
    "timeout 5 git blame a.txt",
    "git log | head -5",
    "ls; git stash list",
    "git status --help",
];

fn beside(rules: &str) -> Scene {
    let mut scene = scene(rules);
    scene.git_programs = programs("[diff]\nexternal = evil");
    scene
}

#[test]
fn git_that_runs_a_configured_program_is_not_read_only_and_names_it() {
    for command in READERS {
        let decision = beside("").bash(command);
        assert_eq!(decision.verdict, Verdict::Ask, "{command}");
        assert!(!decision.read_only, "{command}");
        if !command.starts_with("cd") {
            assert!(
                decision.rule.contains("`diff.external = evil`"),
                "{}",
                decision.rule
            );
        }
        let plan = EffectivePermissions {
            read_only: true,
            ..EffectivePermissions::default()
        };
        let refused = beside("").effective_permissions(plan).bash(command);
        assert_eq!(refused.verdict, Verdict::Deny, "{command}");
    }
    for command in [
        "git --version",
        "git rev-parse --show-toplevel",
        "git branch --show-current",
        "git rev-parse --abbrev-ref HEAD",
        "git remote -v",
        "ls -l",
    ] {
        let decision = beside("").bash(command);
        assert_eq!(
            decision.verdict,
            Verdict::Allow,
            "{command}: {}",
            decision.rule
        );
    }
}

#[test]
fn prefix_rules_of_user_and_project_do_not_cover_git_with_a_diff_program() {
    let rules = "allow Bash(git diff:*)";
    let of = |layer: Layer| {
        let scene = beside(rules);
        let arguments = Map::from_iter([("command".to_owned(), json!("git diff HEAD"))]);
        let call = Call {
            tool: &tool("bash"),
            arguments: &arguments,
            touches: &[],
        };
        let rules = parse(&[(layer, &scene.rules, true)]).0;
        decide(&rules, &scene.context(&call), &call)
    };
    for layer in [Layer::User, Layer::Project] {
        assert_eq!(of(layer).verdict, Verdict::Ask, "{layer}");
    }
    for layer in [Layer::Persisted, Layer::Session, Layer::Run] {
        assert_eq!(of(layer).verdict, Verdict::Allow, "{layer}");
    }
    assert_eq!(
        beside("allow Bash(git diff HEAD)")
            .bash("git diff HEAD")
            .verdict,
        Verdict::Allow
    );
    assert_eq!(
        beside("allow Bash").bash("git diff HEAD").verdict,
        Verdict::Allow
    );
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

proptest! {
    #[test]
    fn git_config_parser_does_not_panic_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(settings) = git_config(&bytes) {
            let _ = git_programs(&settings, true);
        }
    }

    #[test]
    fn config_of_any_pieces_is_read_or_refused(pieces in proptest::collection::vec(
        prop_oneof![Just("[a"), Just("]"), Just("\""), Just("\\"), Just("\n"), Just("="), Just("#"), Just(" "), Just("k"), Just("."), Just("\r")], 0..40)) {
        let _ = git_config(pieces.concat().as_bytes());
    }

    #[test]
    fn written_config_is_read_back(middle in "[^\\x00\\r\\n]{1,12}", value in "[^\\x00\\r]{0,20}") {
        let config = format!("[s {}]\n k = {}\n[t]\nl\n", quoted(&middle), quoted(&value).replace('\n', "\\n"));
        let read = git_config(config.as_bytes());
        let expected = [
            GitSetting { name: format!("s.{middle}.k"), value: Some(value) },
            GitSetting { name: "t.l".to_owned(), value: None },
        ];
        prop_assert_eq!(read, Ok(expected.to_vec()));
    }

    /// A program of the repository never loosens a verdict.
    #[test]
    fn repository_programs_only_tighten(command in proptest::sample::select(READERS), rest in "[-a-z. |;&$'\"]{0,12}") {
        let line = format!("{command} {rest}");
        let rank = |decision: &Decision| (decision.verdict == Verdict::Allow, decision.read_only);
        let free = rank(&scene("allow Bash(git log:*)").bash(&line));
        let tight = rank(&beside("allow Bash(git log:*)").bash(&line));
        prop_assert!(tight.0 <= free.0 && tight.1 <= free.1, "{line}: {free:?} {tight:?}");
    }
}
