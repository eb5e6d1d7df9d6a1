use std::fs;

use policy::Layer;
use proto::record::Rules;
use workspace::WorkspaceOptions;

use super::*;

/// `top/ws` the workspace, `top/home` a person's home, `top/base/1` the temporary directory.
struct Scene {
    top: tempfile::TempDir,
    workspace: Workspace,
    confine: SandboxSettings,
}

fn scene(with_temp: bool) -> Scene {
    let top = tempfile::tempdir().unwrap();
    let at = |name: &str| top.path().join(name);
    for dir in ["ws/.git", "ws/src", "home/.ssh", "home/cache", "base/1"] {
        fs::create_dir_all(at(dir)).unwrap();
    }
    fs::write(at("ws/.env"), "K=1").unwrap();
    let workspace = Workspace::open(WorkspaceOptions {
        root: at("ws"),
        cwd: at("ws"),
        user_home: at("home"),
        masked: vec![at("base")],
        temp: with_temp.then(|| at("base/1")),
        deny_read: vec!["~/.ssh/**".into()],
        ..WorkspaceOptions::default()
    })
    .unwrap();
    Scene {
        top,
        workspace,
        confine: SandboxSettings::default(),
    }
}

impl Scene {
    fn at(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.top.path()).unwrap().join(name)
    }

    fn held(&self, strength: SandboxStrength, deny: &[&str]) -> CommandSandbox {
        let rules = Rules {
            deny: deny.iter().map(|rule| (*rule).to_owned()).collect(),
            ..Rules::default()
        };
        let rules = RuleSet::parse(&[(Layer::User, &rules, true)], &[]).0;
        let masked = [self.at("base")];
        let about = SandboxContext {
            workspace: &self.workspace,
            confine: &self.confine,
            masked: &masked,
            strength,
            env: &[],
        };
        around(&about, &rules)
    }

    fn sandbox(&self, deny: &[&str]) -> SandboxSpec {
        let held = self.held(SandboxStrength::Full, deny);
        Arc::unwrap_or_clone(held.sandbox.unwrap())
    }
}

#[test]
fn sandbox_allows_writes_to_the_workspace_but_not_its_configuration() {
    let scene = scene(true);
    let sandbox = scene.sandbox(&[]);
    assert_eq!(sandbox.write, [scene.at("ws")]);
    assert_eq!(sandbox.temp, scene.at("base/1"));
    for place in [
        "ws/.git/hooks",
        "ws/.git/config",
        "ws/.reasonix",
        "ws/reasonix.toml",
        "ws/.mcp.json",
    ] {
        assert!(sandbox.protected.contains(&scene.at(place)), "{place}");
    }
    assert!(
        sandbox.masked.contains(&scene.at("home/.ssh"))
            && sandbox.masked.contains(&scene.at("base"))
    );
    assert!(!sandbox.network);
    assert_eq!(sandbox.sockets, [scene.at("ws")]);
}

#[test]
fn sockets_that_the_user_opens_are_reached_and_not_hidden() {
    let mut scene = scene(true);
    std::fs::create_dir_all(scene.at("home/.docker/run")).unwrap();
    let place = scene.at("home/.docker/run");
    assert!(scene.sandbox(&[]).masked.contains(&place));
    scene.confine.sockets = vec![place.clone(), scene.at("home/none")];
    let sandbox = scene.sandbox(&[]);
    assert!(!sandbox.masked.contains(&place));
    assert_eq!(sandbox.sockets, [place, scene.at("ws")]);
}

/// What git reads or runs because a config names it, by the config that names it.
const NAMED: [(&str, &str, &str); 8] = [
    (
        "ws/.git/config",
        "[core]\n\thooksPath = .husky\n",
        "ws/.husky",
    ),
    (
        "ws/.git/config",
        "[core]\nhookspath=tools/../.githooks",
        "ws/.githooks",
    ),
    (
        "ws/.git/config.worktree",
        "[core]\nhooksPath = ci/hooks",
        "ws/ci/hooks",
    ),
    (
        "ws/.git/config",
        "[include]\npath = ../.gitconfig.shared",
        "ws/.gitconfig.shared",
    ),
    (
        "ws/.git/config",
        "[includeIf \"onbranch:x\"]\npath = ../conf/team",
        "ws/conf/team",
    ),
    (
        "ws/.git/config",
        "[core]\nfsmonitor = ./tools/watch --all",
        "ws/tools/watch",
    ),
    (
        "home/.gitconfig",
        "[core]\nhooksPath = .githooks",
        "ws/.githooks",
    ),
    (
        "home/.config/git/config",
        "[core]\nhooksPath = .githooks",
        "ws/.githooks",
    ),
];

#[test]
fn paths_named_in_git_config_are_protected_even_if_missing() {
    for (config, text, named) in NAMED {
        let scene = scene(true);
        let file = scene.at(config);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let held = scene.held(SandboxStrength::Full, &[]);
        assert!(!held.leaks, "{text}");
        let sandbox = held.sandbox.unwrap();
        for list in [&sandbox.protected, &sandbox.obeyed] {
            assert!(
                list.contains(&scene.at(named)),
                "{config}: {text}: {list:?}"
            );
        }
        let below = format!("{}/x", named.strip_prefix("ws/").unwrap());
        let resolved = scene.workspace.resolve(&below, workspace::Access::Write);
        assert!(resolved.unwrap().protected(), "{config}: {text}");
    }
}

#[test]
fn a_config_of_a_file_that_is_included_counts_and_one_that_cannot_be_read_is_a_leak() {
    let scene = scene(true);
    fs::write(scene.at("ws/.git/config"), "[include]\npath = ../a\n").unwrap();
    fs::write(
        scene.at("ws/a"),
        "[include]\npath = b\n[core]\nhooksPath = h\n",
    )
    .unwrap();
    let sandbox = scene.sandbox(&[]);
    for name in ["ws/a", "ws/b", "ws/h"] {
        assert!(sandbox.protected.contains(&scene.at(name)), "{name}");
    }
    for text in ["[core", "[include]\npath = ~other/config"] {
        fs::write(scene.at("ws/a"), text).unwrap();
        assert!(scene.held(SandboxStrength::Full, &[]).leaks, "{text}");
    }
}

#[test]
fn path_deny_rules_are_applied_by_the_sandbox_or_reported_as_leaks() {
    let scene = scene(true);
    let sandbox = scene.sandbox(&["Read(**/.env)", "Edit(src/**)", "Edit(/etc/**)"]);
    assert!(sandbox.masked.contains(&scene.at("ws/.env")));
    assert!(sandbox.protected.contains(&scene.at("ws/src")));
    assert!(
        !sandbox.protected.contains(&PathBuf::from("/etc")),
        "nothing there can be written anyway"
    );
    assert!(!scene.held(SandboxStrength::Full, &["Read(**/.env)"]).leaks);
    for rule in ["Edit(**/*.lock)", "Read(/**/*.pem)", "Read", "Edit"] {
        assert!(
            scene.held(SandboxStrength::Full, &[rule]).leaks,
            "{rule} cannot be held"
        );
    }
}

/// Without mounts nothing can be closed within what may be written.
#[test]
fn workspace_deny_rules_leak_in_a_partial_sandbox() {
    let scene = scene(true);
    for (rule, leaks) in [
        ("Edit(src/**)", true),
        ("Read(.env)", true),
        ("Edit(/etc/**)", false),
        ("Bash(rm:*)", false),
    ] {
        let held = scene.held(SandboxStrength::Partial, &[rule]);
        assert_eq!(held.leaks, leaks, "{rule}");
    }
}

#[test]
fn deny_rule_for_a_parent_directory_makes_a_root_unwritable() {
    let mut scene = scene(true);
    let cache = scene.at("home/cache");
    scene.confine.caches = vec![cache.clone()];
    let (ws, top) = (scene.at("ws"), scene.at(""));
    let top = top.display().to_string();
    let top = top.trim_end_matches('/');
    for (rule, ws_written, cache_written) in [
        (format!("Edit({top}/**)"), false, false),
        (format!("Read({top}/**)"), false, false),
        (format!("Edit({top}/w*/**)"), false, true),
        ("Edit(/**)".to_owned(), false, false),
        ("Edit(./**)".to_owned(), false, true),
        ("Edit(~/**)".to_owned(), true, false),
        ("Edit(~/cache/**)".to_owned(), true, false),
        ("Edit(src/**)".to_owned(), true, true),
    ] {
        let sandbox = scene.sandbox(&[&rule]);
        assert_eq!(
            sandbox.write.contains(&ws),
            ws_written,
            "{rule}: {sandbox:?}"
        );
        assert_eq!(
            sandbox.write.contains(&cache),
            cache_written,
            "{rule}: {sandbox:?}"
        );
        assert_eq!(sandbox.temp, scene.at("base/1"), "{rule}");
    }
    let all = scene.held(SandboxStrength::Full, &["Read(/**)"]);
    assert!(all.leaks, "nothing runs where all is masked");
}

#[test]
fn too_many_repositories_in_the_workspace_count_as_a_leak() {
    let scene = scene(true);
    assert!(!scene.held(SandboxStrength::Full, &[]).leaks);
    for number in 0..70 {
        fs::create_dir_all(scene.at(&format!("ws/d{number}/.git"))).unwrap();
    }
    assert!(scene.held(SandboxStrength::Full, &[]).leaks);
}

#[test]
fn enforced_sandbox_without_a_layer_needs_a_user() {
    for (demand, unconfined) in [
        (SandboxDemand::Enforce, true),
        (SandboxDemand::Warn, false),
        (SandboxDemand::Off, false),
    ] {
        let mut scene = scene(true);
        scene.confine.demand = demand;
        let held = scene.held(SandboxStrength::None, &[]);
        assert_eq!(
            (held.sandbox.is_some(), held.unconfined.is_some()),
            (false, unconfined),
            "{demand:?}"
        );
        assert_eq!(held.strength, SandboxStrength::None);
        let partial = scene.held(SandboxStrength::Partial, &[]);
        assert_eq!(
            partial.sandbox.is_some(),
            demand != SandboxDemand::Off,
            "{demand:?}"
        );
    }
    let homeless = scene(false).held(SandboxStrength::Full, &[]);
    assert!(homeless.sandbox.is_none() && homeless.unconfined.is_some());
}

#[test]
fn a_temporary_directory_that_was_cleared_away_is_made_again() {
    let scene = scene(true);
    fs::remove_dir_all(scene.at("base")).unwrap();
    scene.sandbox(&[]);
    assert!(scene.at("base/1").is_dir());
}

#[test]
fn caches_go_into_the_temporary_directory_unless_the_person_has_others() {
    let mut confine = SandboxSettings::default();
    let given = vec![
        ("TMPDIR".to_owned(), "/elsewhere".to_owned()),
        ("GOCACHE".to_owned(), "/mine".to_owned()),
    ];
    let value = |env: &[(String, String)], name: &str| {
        env.iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    let env = environment(given.clone(), Some(Path::new("/t/1")), &confine);
    assert_eq!(value(&env, "TMPDIR").as_deref(), Some("/t/1"));
    assert_eq!(value(&env, "GOCACHE").as_deref(), Some("/mine"));
    assert_eq!(
        value(&env, "PIP_CACHE_DIR").as_deref(),
        Some("/t/1/cache/pip")
    );
    assert_eq!(environment(given.clone(), None, &confine), given);
    confine.caches = vec!["/home/someone/.cache/pip".into()];
    let env = environment(given, Some(Path::new("/t/1")), &confine);
    assert_eq!(value(&env, "PIP_CACHE_DIR"), None);
}
