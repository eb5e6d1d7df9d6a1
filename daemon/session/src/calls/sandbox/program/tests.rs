use std::fs;
use std::path::Path;

use policy::Layer;
use proto::record::Rules;

use super::*;

/// `top/ws` the workspace, `top/home` the user's home, `top/temp` the program's temporary directory.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        for dir in ["ws/.git", "home/.ssh", "temp"] {
            fs::create_dir_all(top.path().join(dir)).unwrap();
        }
        Self(top)
    }

    fn at(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    /// A program in a directory, where a full sandbox works.
    fn program(&self, cwd: &Path) -> ProgramSandbox {
        ProgramSandbox {
            cwd: cwd.to_path_buf(),
            root: cwd.to_path_buf(),
            user_home: self.at("home"),
            temp: self.at("temp"),
            masked: Vec::new(),
            layers: Vec::new(),
            tools: ToolSet::default(),
            allow_write: Vec::new(),
            deny_read: vec!["~/.ssh/**".into()],
            settings: SandboxSettings::default(),
            strength: SandboxStrength::Full,
        }
    }
}

#[test]
fn program_writes_its_workspace_and_in_a_home_its_temporary_directory_only() {
    let scene = Scene::new();
    let (held, env) = scene.program(&scene.at("ws")).around(Vec::new()).unwrap();
    assert_eq!(held.write, [scene.at("ws")]);
    assert_eq!(held.temp, scene.at("temp"));
    assert!(held.masked.contains(&scene.at("home/.ssh")), "{held:?}");
    assert!(!held.network);
    let temp = scene.at("temp").to_string_lossy().into_owned();
    assert!(env.contains(&("TMPDIR".to_owned(), temp)), "{env:?}");
    for cwd in ["home", ""] {
        let (held, _) = scene.program(&scene.at(cwd)).around(Vec::new()).unwrap();
        assert_eq!(held.write, Vec::<PathBuf>::new(), "{cwd}");
        assert_eq!(held.temp, scene.at("temp"));
    }
}

/// Nobody is asked before a server does something, so what a person would be asked about is refused.
#[test]
fn program_gets_no_sandbox_that_holds_less_than_the_settings_say() {
    let scene = Scene::new();
    let full = scene.program(&scene.at("ws"));
    let with = |strength, accept_partial, demand| ProgramSandbox {
        strength,
        settings: SandboxSettings {
            accept_partial,
            demand,
            ..SandboxSettings::default()
        },
        ..full.clone()
    };
    for demand in [
        SandboxDemand::Enforce,
        SandboxDemand::Warn,
        SandboxDemand::Off,
    ] {
        let around = |strength, accepted| with(strength, accepted, demand).around(Vec::new());
        let refused = around(SandboxStrength::None, true).unwrap_err();
        assert!(refused.contains("no layer"), "{refused}");
        let refused = around(SandboxStrength::Partial, false).unwrap_err();
        assert!(refused.contains("sandbox.accept_partial"), "{refused}");
        assert!(around(SandboxStrength::Partial, true).is_ok());
        assert!(around(SandboxStrength::Full, false).is_ok());
    }
    let everything = RuleLayer {
        layer: Layer::User,
        rules: Rules {
            deny: vec!["Edit".to_owned()],
            ..Rules::default()
        },
        origin: String::new(),
        trusted: true,
    };
    let closed = ProgramSandbox {
        layers: vec![everything],
        ..full
    };
    let refused = closed.around(Vec::new()).unwrap_err();
    assert!(refused.contains("cannot close everything"), "{refused}");
}
