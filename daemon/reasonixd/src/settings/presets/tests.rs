//! Presets: what files say of them, and the options of each.

use std::path::Path;

use session::EffortChoice;

use super::*;
use crate::settings;

fn loaded(config: &str) -> settings::Loaded {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::write(home.path().join("config.toml"), config).expect("the config");
    settings::load(
        home.path(),
        None,
        Path::new("/nowhere"),
        &crate::settings::tests::known_tools(),
    )
}

#[test]
fn the_shipped_ones_name_no_vendor() {
    let settings = loaded("").settings;
    let of = |name| bundle(&settings, name).expect("a preset");
    assert_eq!(
        (of("fast").model, of("smart").model, of("max").model),
        (None, None, None)
    );
    assert_eq!(
        (of("fast").samples, of("smart").samples, of("max").samples),
        (1, 1, 3)
    );
    let efforts: Vec<_> = ["low", "medium", "high", "max"].map(str::to_owned).into();
    let word = |name| of(name).pace.of(&efforts);
    assert_eq!(
        (word("fast"), word("smart"), word("max")),
        ("low".into(), "high".into(), "max".into())
    );
    // Nothing is known of the model: it thinks as it does by itself.
    assert!(SHIPPED.iter().all(|name| of(name).pace.of(&[]).is_empty()));
    let unknown = bundle(&settings, "quick").expect_err("there is none");
    assert!(
        unknown.hint.contains("fast, smart, max"),
        "{}",
        unknown.hint
    );
}

#[test]
fn the_config_changes_them_and_adds_others() {
    let text = "agent.fast_model = \"cheap\"\n[presets.smart]\neffort = \"medium\"\n[presets.review]\nmodel = \"big\"\nsamples = 2\n";
    let found = loaded(text);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let settings = found.settings;
    assert_eq!(
        bundle(&settings, "fast").expect("fast").model.as_deref(),
        Some("cheap")
    );
    assert_eq!(
        bundle(&settings, "smart").expect("smart").pace,
        EffortChoice::Word("medium".into())
    );
    let review = bundle(&settings, "review").expect("review");
    assert_eq!((review.model.as_deref(), review.samples), (Some("big"), 2));
    assert_eq!(names(&settings), ["fast", "smart", "max", "review"]);
}

#[test]
fn a_wrong_preset_is_reported_and_left_out_alone() {
    let found = loaded(
        "[presets.a]\nsamples = 9\n[presets.b]\ncolour = 1\n[presets.c]\nsamples = 2\n[presets]\nd = 1\n",
    );
    // One table may be written once only: if this is not TOML, everything is reported together.
    assert!(!found.problems.is_empty());
    let found = loaded("presets.d = 1\n[presets.a]\nsamples = 9\n");
    assert!(!found.problems.is_empty());
    let found =
        loaded("[presets.a]\nsamples = 9\n[presets.b]\ncolour = 1\n[presets.c]\nsamples = 2\n");
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    assert_eq!(names(&found.settings), ["fast", "smart", "max", "c"]);
}
