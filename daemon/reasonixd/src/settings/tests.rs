//! Scenarios of the layers: values that count, fall back, or are held back.

use std::fs;
use std::path::PathBuf;

use proto::ErrorName;
use proto::params::config;
use proto::state::ApprovalMode;

use super::{KEYS, Loaded, example, find_model, load};

pub(crate) fn known_tools() -> contract::ToolSet {
    tools::BuiltIn::default().set(tools::Options::default())
}

struct TestHome {
    _dir: tempfile::TempDir,
    home: PathBuf,
    project: PathBuf,
}

impl TestHome {
    fn new(user: &str, project: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (home, place) = (dir.path().join("home"), dir.path().join("project"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(place.join("deep")).unwrap();
        fs::create_dir(place.join(".git")).unwrap();
        fs::write(home.join("config.toml"), user).unwrap();
        if let Some(text) = project {
            fs::write(place.join("reasonix.toml"), text).unwrap();
        }
        Self {
            _dir: dir,
            home,
            project: place,
        }
    }

    fn load(&self) -> Loaded {
        load(
            &self.home,
            Some(&self.project.join("deep")),
            &PathBuf::from("/nonexistent"),
            &known_tools(),
        )
    }

    fn trust(&self) {
        let project = self.load().project.unwrap();
        project.set_trust(&self.home, true).unwrap();
    }
}

fn origin_of(loaded: &Loaded, key: &str) -> String {
    loaded
        .values
        .iter()
        .find(|value| value.key == key)
        .unwrap()
        .origin
        .clone()
}

#[test]
fn the_project_comes_before_the_user_and_the_user_before_the_defaults() {
    let place = TestHome::new(
        "[agent]\nmax_steps = 5\n[daemon]\nlog = \"debug\"",
        Some("[agent]\nmax_steps = 9"),
    );
    place.trust();
    let loaded = place.load();
    assert_eq!(loaded.settings.options.max_steps, Some(9));
    assert!(origin_of(&loaded, "agent.max_steps").ends_with("reasonix.toml"));
    assert!(origin_of(&loaded, "daemon.log").ends_with("config.toml"));
    assert_eq!(origin_of(&loaded, "network.idle_seconds"), "default");
    assert_eq!(loaded.settings.idle_ms, 120_000);
    assert_eq!(loaded.problems, Vec::<String>::new());
}

#[test]
fn a_wrong_value_names_file_line_and_what_is_allowed_and_falls_back_alone() {
    let place = TestHome::new(
        "[agent]\nmax_steps = \"many\"\n\n[permissions]\nmode = \"auto\"\nmdoe = 1\n",
        None,
    );
    let loaded = place.load();
    assert_eq!(loaded.settings.options.max_steps, Some(0));
    assert_eq!(
        loaded.settings.options.approval_mode,
        Some(ApprovalMode::Auto),
        "the others count"
    );
    let [steps, unknown] = loaded.problems.as_slice() else {
        panic!("{:?}", loaded.problems)
    };
    assert!(
        steps.contains("config.toml:2: `agent.max_steps` must be a whole number from 0 to 1000000"),
        "{steps}"
    );
    assert!(
        unknown
            .contains(":6: unknown setting `permissions.mdoe`; did you mean `permissions.mode`?"),
        "{unknown}"
    );
}

#[test]
fn text_that_is_no_toml_disables_that_file_only() {
    let place = TestHome::new("[agent\n", Some("[agent]\nmax_steps = 3"));
    place.trust();
    let loaded = place.load();
    assert_eq!(loaded.settings.options.max_steps, Some(3));
    assert_eq!(loaded.problems.len(), 1);
}

const LOOSE: &str = "default_model = \"evil\"\n[permissions]\nmode = \"yolo\"\nallow = [\"Bash\"]\ndeny = [\"Bash(rm:*)\"]\n\
    [[providers]]\nname = \"evil\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\nmodel = \"m\"\n";

#[test]
fn an_untrusted_project_only_tightens_and_a_trusted_one_counts_as_it_was_shown() {
    let place = TestHome::new("", Some(LOOSE));
    let loaded = place.load();
    assert_eq!(
        loaded.settings.options.approval_mode,
        Some(ApprovalMode::Ask)
    );
    assert!(loaded.settings.project_rules.allow.is_empty());
    assert_eq!(loaded.settings.project_rules.deny, ["Bash(rm:*)"]);
    assert!(loaded.settings.providers.is_empty());
    let project = loaded.project.unwrap();
    assert!(!project.trusted);
    assert_eq!(project.held_back.len(), 4, "{:?}", project.held_back);

    place.trust();
    let loaded = place.load();
    assert_eq!(
        loaded.settings.options.approval_mode,
        Some(ApprovalMode::Yolo)
    );
    assert_eq!(loaded.settings.providers.len(), 1);

    fs::write(
        place.project.join("reasonix.toml"),
        LOOSE.replace("\"m\"", "\"other\""),
    )
    .unwrap();
    assert!(
        !place.load().project.unwrap().trusted,
        "what changes is asked again"
    );
}

#[test]
fn even_a_trusted_project_never_redirects_the_users_provider() {
    let user = "[[providers]]\nname = \"mine\"\nkind = \"openai\"\nbase_url = \"https://a.example\"\nmodel = \"m\"\n";
    let place = TestHome::new(user, Some(&LOOSE.replace("evil", "mine")));
    place.trust();
    let loaded = place.load();
    let [mine] = loaded.settings.providers.as_slice() else {
        panic!()
    };
    assert_eq!(mine.base_url, "https://a.example");
    assert!(
        loaded
            .problems
            .iter()
            .any(|problem| problem.contains("the provider `mine` is already defined"))
    );
}

#[test]
fn the_home_is_never_a_project() {
    let place = TestHome::new("", None);
    fs::write(place.home.join("reasonix.toml"), LOOSE).unwrap();
    let loaded = load(
        &place.home,
        Some(&place.home),
        &PathBuf::from("/nonexistent"),
        &known_tools(),
    );
    assert!(loaded.project.is_none());
}

#[test]
fn misplaced_project_settings_are_reported() {
    let place = TestHome::new("", None);
    assert_eq!(place.load().problems, Vec::<String>::new());
    let file = place.project.join(".reasonix/config.toml");
    fs::create_dir(place.project.join(".reasonix")).unwrap();
    fs::write(&file, "max_steps = 3\n").unwrap();
    let problem = format!(
        "{}: ignored; a project's settings belong in its `reasonix.toml`",
        file.display()
    );
    assert_eq!(place.load().problems, [problem]);
    // The home of a person, which is theirs whichever this daemon's is.
    let loaded = load(
        &place.home,
        Some(&place.project.join("deep")),
        &place.project,
        &known_tools(),
    );
    assert_eq!(loaded.problems, Vec::<String>::new());
}

#[test]
fn a_provider_with_an_unknown_key_is_left_out_and_reported() {
    let place = TestHome::new(
        "[[providers]]\nname = \"a\"\nkind = \"openai\"\nbaseurl = \"x\"\nmodel = \"m\"\n",
        None,
    );
    let loaded = place.load();
    assert!(loaded.settings.providers.is_empty());
    assert!(
        loaded.problems[0].contains("baseurl"),
        "{}",
        loaded.problems[0]
    );
}

#[test]
fn references_find_provider_model_or_both_and_an_ambiguous_one_lists_the_candidates() {
    let user = "[[providers]]\nname = \"a\"\nkind = \"openai\"\nmodels = [\"x\", \"both\"]\ndefault = \"both\"\n\
        [[providers]]\nname = \"b\"\nkind = \"openai\"\nmodels = [\"y\", \"both\", \"a\"]\n";
    let providers = TestHome::new(user, None).load().settings.providers;
    let found = |wanted: &str| {
        find_model(&providers, wanted).map(|(entry, model)| format!("{}/{model}", entry.name))
    };
    assert_eq!(
        found("a").unwrap(),
        "a/both",
        "a provider's name comes before a model's"
    );
    assert_eq!(
        found("b").unwrap(),
        "b/y",
        "without a default the first counts"
    );
    assert_eq!(found("x").unwrap(), "a/x");
    assert_eq!(found("b/both").unwrap(), "b/both");
    let ambiguous = found("both").unwrap_err();
    assert_eq!(ambiguous.name, ErrorName::Ambiguous);
    assert_eq!(
        ambiguous.details["candidates"],
        serde_json::json!(["a/both", "b/both"])
    );
    assert_eq!(found("b/x").unwrap_err().name, ErrorName::NotFound);
    assert_eq!(found("nothing").unwrap_err().name, ErrorName::NotFound);
}

#[test]
fn the_example_is_read_without_a_problem_and_says_what_the_defaults_say() {
    let place = TestHome::new(&example::text(), None);
    let loaded = place.load();
    assert_eq!(loaded.problems, Vec::<String>::new());
    let plain = TestHome::new("", None).load();
    for key in KEYS {
        let value = |loaded: &Loaded| {
            loaded
                .values
                .iter()
                .find(|value| value.key == key.name)
                .map(|value| value.value.clone())
        };
        assert_eq!(value(&loaded), value(&plain), "{}", key.name);
    }
}

#[test]
fn an_untrusted_project_sets_no_model_no_limit_of_steps_and_no_time() {
    let user =
        "default_model = \"mine\"\n[agent]\nmax_steps = 5\n[tools]\nbash_timeout_seconds = 7\n";
    let text =
        "default_model = \"dear\"\n[agent]\nmax_steps = 0\n[tools]\nbash_timeout_seconds = 0\n";
    let place = TestHome::new(user, Some(text));
    let loaded = place.load();
    assert_eq!(loaded.settings.default_model.as_deref(), Some("mine"));
    assert_eq!(loaded.settings.options.max_steps, Some(5));
    assert_eq!(loaded.settings.bash_timeout_ms, 7_000);
    assert_eq!(loaded.project.expect("a project").held_back.len(), 3);
}

#[test]
fn places_are_resolved_where_they_are_set_and_never_become_the_whole_file_system() {
    let text = "[sandbox]\nworkspace_root = \".\"\nallow_write = [\"out\",\n\"\",\n\"/\", \"~/x\",\n\"../../../../../../..\"]\n";
    let place = TestHome::new("", Some(text));
    place.trust();
    let loaded = place.load();
    assert_eq!(
        loaded.settings.workspace_root.as_ref(),
        Some(&place.project)
    );
    let wanted = [place.project.join("out"), PathBuf::from("/nonexistent/x")];
    assert_eq!(loaded.settings.allow_write, wanted);
    let [empty, slash, up] = loaded.problems.as_slice() else {
        panic!("{:?}", loaded.problems)
    };
    assert!(
        empty.contains("reasonix.toml:4: an entry of `sandbox.allow_write`"),
        "{empty}"
    );
    assert!(slash.contains("reasonix.toml:5:"), "{slash}");
    assert!(up.contains("reasonix.toml:6:"), "{up}");

    for root in ["", "/", "/.", "~other"] {
        let place = TestHome::new(&format!("[sandbox]\nworkspace_root = \"{root}\"\n"), None);
        let loaded = place.load();
        assert_eq!(loaded.settings.workspace_root, None, "{root}");
        assert!(
            loaded.problems[0].contains("config.toml:2: `sandbox.workspace_root` must be"),
            "{:?}",
            loaded.problems
        );
    }
}

#[test]
fn a_glob_that_is_none_falls_back_alone() {
    let place = TestHome::new(
        "[sandbox]\ndeny_read = [\"~/.ssh/**\",\n\"[\", \"/x/*\"]\n",
        None,
    );
    let loaded = place.load();
    assert_eq!(loaded.settings.deny_read, ["~/.ssh/**", "/x/*"]);
    let [problem] = loaded.problems.as_slice() else {
        panic!("{:?}", loaded.problems)
    };
    assert!(
        problem.contains(
            "config.toml:3: an entry of `sandbox.deny_read` is ignored: not a valid glob"
        ),
        "{problem}"
    );
}

#[test]
fn a_projects_file_is_regular_and_short_and_its_text_is_not_shown() {
    let place = TestHome::new("", None);
    let file = place.project.join("reasonix.toml");
    let secret = place.home.join("secret");
    fs::write(&secret, "password swordfish\n").unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    let loaded = place.load();
    assert!(loaded.project.is_none());
    assert!(
        loaded.problems[0].contains("it is a link"),
        "{:?}",
        loaded.problems
    );

    fs::remove_file(&file).unwrap();
    fs::write(&file, "# x\n".repeat(300_000)).unwrap();
    assert!(place.load().problems[0].contains("larger than"));

    fs::write(&file, "password swordfish\n").unwrap();
    let problems = place.load().problems;
    assert!(
        problems[0].contains("reasonix.toml:1: not valid TOML"),
        "{problems:?}"
    );
    assert!(!problems[0].contains("swordfish"), "{problems:?}");
}

#[test]
fn minutes_may_have_a_fraction_and_zero_is_never() {
    let life = |text: &str| {
        let loaded = TestHome::new(text, None).load();
        (loaded.settings.life, loaded.problems)
    };
    let (life_by_default, problems) = life("");
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(life_by_default.idle_exit, None);
    assert_eq!(
        life_by_default.evict,
        Some(std::time::Duration::from_secs(600))
    );
    assert_eq!(life_by_default.hello, std::time::Duration::from_secs(10));
    assert_eq!(
        life_by_default.client_stuck,
        std::time::Duration::from_secs(60)
    );
    for (value, seconds) in [("2", 120), ("0.5", 30), ("0.05", 3), ("1.0", 60)] {
        let (life, problems) = life(&format!("[daemon]\nidle_exit_minutes = {value}"));
        assert_eq!(problems, Vec::<String>::new(), "{value}");
        assert_eq!(
            life.idle_exit,
            Some(std::time::Duration::from_secs(seconds)),
            "{value}"
        );
    }
    for value in ["0", "0.0", "-0.0"] {
        let (life, problems) = life(&format!(
            "[daemon]\nidle_exit_minutes = {value}\n[internal]\nevict_minutes = 0"
        ));
        assert_eq!((life.idle_exit, life.evict), (None, None), "{value}");
        assert_eq!(problems, Vec::<String>::new(), "{value}");
    }
    for value in ["-1", "nan", "inf", "1e9", "\"soon\"", "525601"] {
        let (life, problems) = life(&format!("[daemon]\nidle_exit_minutes = {value}"));
        assert_eq!(life.idle_exit, None, "{value} falls back");
        assert!(
            problems
                .iter()
                .any(|problem| problem.contains("idle_exit_minutes")),
            "{value}"
        );
    }
}

#[test]
fn internal_pacing_is_read_and_neither_listed_nor_offered() {
    let text = "[internal]\nretry_base_ms = 7\nretry_tries = 0\nretry_bas_ms = 1\n";
    let loaded = TestHome::new(text, None).load();
    assert_eq!(loaded.settings.retry_base_ms, 7);
    assert_eq!(loaded.settings.retry_tries, 8);
    let listed = |value: &config::Value| value.key.starts_with("internal");
    assert!(!loaded.values.iter().any(listed));
    let problems = loaded.problems.join("\n");
    assert!(problems.contains("must be a whole number from 1 to 100; 8 counts"));
    assert!(problems.contains("unknown setting `internal.retry_bas_ms`; it is ignored"));
}

#[test]
fn a_project_does_not_say_how_the_daemon_lives() {
    let place = TestHome::new(
        "",
        Some(
            "[daemon]\nidle_exit_minutes = 0.1\n[internal]\nevict_minutes = 0\nhello_seconds = 1\n",
        ),
    );
    place.trust();
    let loaded = place.load();
    assert_eq!(
        loaded.settings.life,
        TestHome::new("", None).load().settings.life
    );
    assert_eq!(origin_of(&loaded, "daemon.idle_exit_minutes"), "default");
}

#[test]
fn only_the_user_chooses_the_layer_of_the_sandbox() {
    let chosen = |user: &str, project: Option<&str>| {
        let place = TestHome::new(user, project);
        if place.load().project.is_some() {
            place.trust();
        }
        place.load().settings.layers
    };
    let words = [
        ("auto", procs::BackendChoice::Auto),
        ("bubblewrap", procs::BackendChoice::Bubblewrap),
        ("direct", procs::BackendChoice::Direct),
        ("landlock", procs::BackendChoice::Landlock),
        // Nothing that switches it off: that is `sandbox.bash`.
        ("off", procs::BackendChoice::Auto),
    ];
    for (word, layers) in words {
        let text = format!("[sandbox]\nlayer = \"{word}\"\n");
        assert_eq!(chosen(&text, None), layers, "{word}");
        assert_eq!(
            chosen("", Some(&text)),
            procs::BackendChoice::Auto,
            "{word}"
        );
    }
}

const NAMED: &str = "[[providers]]\nname = \"a\"\nkind = \"openai\"\nbase_url = \"https://a.example\"\nmodels = [\"m\"]\napi_key_env = \"A_KEY\"\n";

/// The names of the keys that count.
fn keys(loaded: &Loaded) -> Vec<&str> {
    loaded.env_keys.keys().map(String::as_str).collect()
}

#[test]
fn a_key_of_an_env_file_counts_only_where_it_is_trusted_and_as_it_was() {
    let place = TestHome::new(NAMED, None);
    let env = place.project.join("deep/.env");
    fs::write(&env, "OTHER=x\nA_KEY=canary-one\nPATH=/evil\n").unwrap();
    let loaded = place.load();
    assert_eq!(keys(&loaded), Vec::<&str>::new());
    let project = loaded.project.clone().unwrap();
    assert_eq!((project.trusted, project.config_trusted), (false, true));
    assert_eq!(project.directory, place.project.join("deep"));
    let [line] = project.held_back.as_slice() else {
        panic!("{:?}", project.held_back)
    };
    assert!(line.contains("A_KEY") && line.contains(".env"), "{line}");
    assert!(!format!("{loaded:?}").contains("canary"), "no key is shown");
    place.trust();
    let loaded = place.load();
    assert_eq!(keys(&loaded), ["A_KEY"]);
    assert!(!format!("{loaded:?}").contains("canary"));
    fs::write(&env, "A_KEY=canary-two\n").unwrap();
    assert_eq!(
        keys(&place.load()),
        Vec::<&str>::new(),
        "another key asks again"
    );
    fs::write(&env, "OTHER=x\n").unwrap();
    assert!(
        place.load().project.is_none(),
        "nothing is left to be trusted"
    );
}

#[test]
fn a_key_that_comes_to_a_trusted_project_takes_no_trust_from_its_config() {
    let entry = NAMED.replace("\"a\"", "\"b\"").replace("A_KEY", "B_KEY");
    let place = TestHome::new(NAMED, Some(&format!("[agent]\nmax_steps = 9\n{entry}")));
    place.trust();
    fs::write(place.project.join("deep/.env"), "A_KEY=k\nB_KEY=k\n").unwrap();
    let loaded = place.load();
    assert_eq!(loaded.settings.options.max_steps, Some(9));
    assert_eq!(keys(&loaded), Vec::<&str>::new());
    let project = loaded.project.unwrap();
    assert_eq!(
        project.without_effect().len(),
        2,
        "{:?}",
        project.without_effect()
    );
    place.trust();
    let loaded = place.load();
    assert_eq!(keys(&loaded), ["A_KEY", "B_KEY"]);
    assert_eq!(loaded.settings.options.max_steps, Some(9));
    assert_eq!(
        loaded.project.unwrap().without_effect(),
        Vec::<String>::new()
    );
}

#[test]
fn an_untrusted_project_names_no_variable_whose_key_would_count() {
    let place = TestHome::new("", Some(NAMED));
    fs::write(place.project.join("deep/.env"), "A_KEY=k\n").unwrap();
    let loaded = place.load();
    assert_eq!(keys(&loaded), Vec::<&str>::new());
    assert!(!loaded.project.unwrap().config_trusted);
    place.trust();
    assert_eq!(
        keys(&place.load()),
        ["A_KEY"],
        "one yes is for all that was shown"
    );
}

#[test]
fn a_wrong_provider_names_its_line_its_key_and_the_nearest() {
    let place = TestHome::new(
        "[[providers]]\nname = \"a\"\nkind = \"openai\"\nbase_ulr = \"https://a.example\"\n\n\
         [[providers]]\nname = \"b\"\nkind = \"opnai\"\nmodels = [\"m\"]\n",
        None,
    );
    let loaded = place.load();
    let [unknown, kind] = loaded.problems.as_slice() else {
        panic!("{:?}", loaded.problems)
    };
    assert!(
        unknown
            .contains("config.toml:4: a provider has no key `base_ulr`; did you mean `base_url`?"),
        "{unknown}"
    );
    assert!(
        kind.contains("config.toml:8: `kind` of the provider `b` must be one of openai"),
        "{kind}"
    );
    assert_eq!(&loaded.providers_lost, std::slice::from_ref(unknown));
}

#[test]
fn of_a_provider_a_wrong_price_is_left_out_alone() {
    let place = TestHome::new(
        "[[providers]]\nname = \"own\"\nkind = \"openai\"\nbase_url = \"http://x\"\nmodel = \"m\"\n\
         efforts = \"low\"\ncontext_window = 5\nprice = { input = -1, output = 1 }\n",
        None,
    );
    let loaded = place.load();
    let entry = &loaded.settings.providers[0];
    assert_eq!(
        (
            entry.price.as_ref(),
            entry.efforts.len(),
            entry.context_window
        ),
        (None, 0, 5)
    );
    assert_eq!(loaded.providers_lost, [""; 0]);
    let problems = loaded.problems.join("\n");
    assert!(
        problems.contains("config.toml:6: `efforts` of the provider `own` is ignored"),
        "{problems}"
    );
    assert!(
        problems.contains("config.toml:8: `price` of the provider `own` is ignored"),
        "{problems}"
    );
    assert!(
        problems.contains("a price is 0 to 1000000 dollars"),
        "{problems}"
    );
}

#[test]
fn a_setting_below_a_provider_is_reported_with_its_right_place() {
    let place = TestHome::new(
        "[[providers]]\nname = \"a\"\nkind = \"openai\"\nbase_url = \"https://a.example\"\nsandbox.layer = \"direct\"\n",
        None,
    );
    let loaded = place.load();
    assert_eq!(loaded.providers_lost, loaded.problems);
    let problem = &loaded.problems[0];
    assert!(
        problem.contains("config.toml:5: a provider has no key `sandbox`; put settings above the first `[[providers]]`"),
        "{problem}"
    );
}

#[test]
fn an_unknown_pinned_tool_is_reported_with_the_nearest_and_ignored_alone() {
    let place = TestHome::new("[tools]\npinned = [\n  \"grep\",\n  \"grpe\",\n]\n", None);
    let loaded = place.load();
    assert_eq!(loaded.settings.pinned, ["grep"]);
    let [problem] = loaded.problems.as_slice() else {
        panic!("{:?}", loaded.problems)
    };
    assert!(
        problem.contains("config.toml:4: an entry of `tools.pinned` is ignored: unknown tool `grpe`; did you mean `grep`?"),
        "{problem}"
    );
}

#[test]
fn interface_settings_reach_clients_and_projects_cannot_set_them() {
    let value = |loaded: &Loaded, key: &str| {
        let mut values = loaded.values.iter();
        let value = values.find(|value| value.key == key);
        value.map(|value| value.value.clone()).unwrap_or_default()
    };
    let user = "language = \"zh\"\n[tui]\ntheme = 16\nvim = true\nmouse = \"yes\"\n";
    let project = "language = \"en\"\n[tui]\ntheme = \"none\"\nbell = false\n";
    let place = TestHome::new(user, Some(project));
    place.trust();
    let loaded = place.load();
    for (key, wanted) in [
        ("language", "\"zh\""),
        ("tui.theme", "\"16\""),
        ("tui.vim", "true"),
        ("tui.fullscreen", "false"),
        ("tui.mouse", "false"),
        ("tui.bell", "true"),
    ] {
        assert_eq!(value(&loaded, key).to_string(), wanted, "{key}");
    }
    let problem = loaded
        .problems
        .iter()
        .find(|problem| problem.contains("tui.mouse"));
    let problem = problem.expect("a word is not a flag");
    let said = "config.toml:5: `tui.mouse` must be true or false; false counts";
    assert!(problem.contains(said), "{problem}");
}

/// What tightens holds, however it is written; what allows has to be written as it should be.
#[test]
fn a_rule_without_brackets_is_a_list_of_one_where_it_tightens() {
    let place = TestHome::new(
        "[permissions]\ndeny = \"Bash(rm:*)\"\nask = \"Edit\"\nallow = \"Bash\"\n",
        None,
    );
    let loaded = place.load();
    let rules = &loaded.settings.user_rules;
    assert_eq!(rules.deny, ["Bash(rm:*)"]);
    assert_eq!(rules.ask, ["Edit"]);
    assert!(rules.allow.is_empty());
    let problems = loaded.problems.join("\n");
    assert!(
        problems.contains("`permissions.allow` must be a list"),
        "{problems}"
    );
    assert_eq!(loaded.problems.len(), 1, "{problems}");
}

/// The same rules and settings, as TOML lets them be written.
fn forms(deny: &[String], network: bool, minutes: u64) -> Vec<String> {
    let list = format!("{deny:?}");
    let lines: String = deny
        .iter()
        .map(|rule| format!("  {rule:?}, # why\n"))
        .collect();
    vec![
        format!(
            "[permissions]\ndeny = {list}\n[sandbox]\nnetwork = {network}\n[budget.session]\nminutes = {minutes}\n"
        ),
        format!(
            "permissions = {{ deny = {list} }}\nsandbox = {{ network = {network} }}\nbudget = {{ session = {{ minutes = {minutes} }} }}\n"
        ),
        format!(
            "permissions.deny = {list}\nsandbox.network = {network}\nbudget.session.minutes = {minutes}\n"
        ),
        format!(
            "\"permissions\".'deny' = [\n{lines}]\n[sandbox]\n\"network\" = {network}\n[budget]\nsession.minutes = {minutes}\n"
        ),
        format!(
            "budget.session = {{ minutes = {minutes} }}\n[permissions]\ndeny = [\n{lines}]\n[sandbox]\nnetwork = {network}\n"
        ),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(32))]

    #[test]
    fn the_same_settings_are_the_same_in_every_form_of_toml(
        deny in proptest::collection::vec("(Bash|Edit)\\([a-z]{1,8}\\)", 0..4),
        network: bool,
        minutes in 0_u64..1_000,
    ) {
        let mut first = None;
        for form in forms(&deny, network, minutes) {
            let loaded = TestHome::new(&form, None).load();
            proptest::prop_assert!(loaded.problems.is_empty(), "{form}: {:?}", loaded.problems);
            proptest::prop_assert_eq!(&loaded.settings.user_rules.deny, &deny, "{}", form);
            let said: Vec<_> = loaded.values.iter().map(|value| format!("{} {}", value.key, value.value)).collect();
            let first = first.get_or_insert_with(|| said.clone());
            proptest::prop_assert_eq!(first, &said, "{}", form);
        }
    }
}

#[test]
fn where_rules_cannot_be_read_every_change_is_asked_about() {
    for text in [
        "permissions = { deny = [\"Bash\" }\n",
        "permissions = 3\n",
        "[[permissions]]\ndeny = [\"Bash\"]\n",
        "[permissions]\nask = 3\n",
        "permissions = { deny = [7] }\n",
    ] {
        for (user, project) in [(text, None), ("", Some(text))] {
            let loaded = TestHome::new(user, project).load();
            assert!(loaded.rules_lost && !loaded.problems.is_empty(), "{text}");
            // It is listed with the file that is to be fixed.
            let (lost, read) = match project {
                None => (&loaded.settings.user_rules, &loaded.settings.project_rules),
                Some(_) => (&loaded.settings.project_rules, &loaded.settings.user_rules),
            };
            assert_eq!(lost.deny, [session::Guards::UNREAD], "{text}");
            assert!(read.deny.is_empty(), "{text}");
        }
    }
    for text in ["permissions = { allow = 3 }\n", "[permissions]\nmode = 3\n"] {
        assert!(!TestHome::new(text, None).load().rules_lost, "{text}");
    }
}

#[test]
fn old_spelling_of_a_setting_counts_unless_the_new_one_is_there() {
    let old = TestHome::new("[skills]\ndisabled_skills = [\"pdf\"]\n", None).load();
    assert_eq!(old.settings.skills.disabled, ["pdf"]);
    assert!(old.problems.is_empty(), "{:?}", old.problems);
    let both = "[skills]\ndisabled = [\"doc\"]\ndisabled_skills = [\"pdf\"]\n";
    let both = TestHome::new(both, None).load();
    assert_eq!(both.settings.skills.disabled, ["doc"]);
    let problem = both.problems.join("\n");
    assert!(
        problem.contains(":3: `skills.disabled_skills` is the old name of `skills.disabled`"),
        "{problem}"
    );
}

#[test]
fn old_spelling_in_an_untrusted_project_is_shown_and_has_no_effect() {
    let project = "[skills]\ndisabled_skills = [\"pdf\"]\n";
    let files = TestHome::new("", Some(project));
    let before = files.load();
    assert!(before.settings.skills.disabled.is_empty());
    let shown = before
        .project
        .expect("a project")
        .without_effect()
        .join("\n");
    assert!(
        shown.contains("skills.disabled_skills = [\"pdf\"]"),
        "{shown}"
    );
    files.trust();
    assert_eq!(files.load().settings.skills.disabled, ["pdf"]);
}

#[test]
fn only_the_user_turns_memory_off() {
    let off = TestHome::new("[memory]\nenabled = false\n", None).load();
    assert!(!off.settings.memory.enabled);
    let files = TestHome::new("", Some("[memory]\nenabled = false\n"));
    let problems = files.load().problems.join("\n");
    assert!(
        problems.contains("reasonix.toml:2: `memory.enabled` is the user's own setting; it is ignored in a project's file"),
        "{problems}"
    );
    files.trust();
    assert!(files.load().settings.memory.enabled);
}
