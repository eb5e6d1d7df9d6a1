//! What a running session takes over of changed settings.

use proptest::prelude::*;

use super::*;

fn settings(deny: &[&str], ask: &[&str], allow: &[&str]) -> Guards {
    let texts = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect();
    Guards {
        layers: vec![RuleLayer {
            layer: Layer::User,
            rules: Rules {
                deny: texts(deny),
                ask: texts(ask),
                allow: texts(allow),
            },
            origin: "config.toml".to_owned(),
            trusted: true,
        }],
        ..Guards::default()
    }
}

fn root() -> &'static Path {
    Path::new("/user/ann/code")
}

#[test]
fn rules_are_listed_with_the_file_that_they_came_from() {
    let of = |origin: &str, deny: &[&str]| {
        let mut guards = settings(deny, &[], &[]);
        guards.layers[0].origin = origin.to_owned();
        guards
    };
    // There was no file when the session began.
    let mut own = of("", &[]);
    own.tighten(&of("/w/reasonix.toml", &["Bash(rm:*)"]), root());
    assert_eq!(own.layers[0].origin, "/w/reasonix.toml");
    // A nearer one counts in its place from now on, and what was denied stays so.
    let nearer = of("/w/sub/reasonix.toml", &["Edit"]);
    own.tighten(&nearer, root());
    own.tighten(&nearer, root());
    let both = "/w/reasonix.toml, /w/sub/reasonix.toml";
    assert_eq!(own.layers[0].origin, both);
    assert_eq!(own.layers[0].rules.deny, ["Bash(rm:*)", "Edit"]);
    // It is gone: the rules are still the session's.
    own.tighten(&of("", &[]), root());
    assert_eq!(own.layers[0].origin, both);
}

#[test]
fn unreadable_settings_keep_rules_and_add_a_deny_until_readable_again() {
    let mut own = settings(&["Bash(rm:*)"], &[], &["Bash(make)"]);
    own.confine.network = true;
    let broken = Guards {
        incomplete: true,
        ..settings(&[Guards::UNREAD], &[], &[])
    };
    assert!(!own.tighten(&broken, root()).is_empty());
    let rules = &own.layers[0].rules;
    assert_eq!(rules.deny, ["Bash(rm:*)", Guards::UNREAD]);
    assert_eq!(rules.allow, ["Bash(make)"]);
    assert!(own.confine.network);
    let mut whole = settings(&[], &[], &["Bash(make)"]);
    whole.confine.network = true;
    assert!(own.tighten(&whole, root()).is_empty());
    assert_eq!(own.layers[0].rules.deny, ["Bash(rm:*)"]);
}

#[test]
fn directory_no_longer_writable_is_denied_unless_otherwise_covered() {
    let mut own = settings(&[], &[], &[]);
    own.allow_write = ["/data", "/opt/big", "/opt/big/in", "/user/ann/code/out"]
        .map(PathBuf::from)
        .into();
    let mut now = settings(&[], &[], &[]);
    now.allow_write = vec!["/opt/big".into()];
    now.deny_read = vec!["~/.secret".into()];
    own.tighten(&now, root());
    assert_eq!(
        own.layers[0].rules.deny,
        ["Read(~/.secret)", "Edit(/data/**)"]
    );
}

#[test]
fn a_directory_with_wildcards_in_its_name_is_denied_and_no_other() {
    for (name, rule) in [
        ("/data/[a]", r"Edit(/data/\[a\]/**)"),
        ("/data/{a,b}", r"Edit(/data/\{a,b\}/**)"),
        ("/data/a*?", r"Edit(/data/a\*\?/**)"),
        (r"/data/a\b", r"Edit(/data/a\\b/**)"),
    ] {
        let mut own = settings(&[], &[], &[]);
        own.allow_write = vec![name.into()];
        own.tighten(&settings(&[], &[], &[]), root());
        assert_eq!(own.layers[0].rules.deny, [rule], "{name}");
    }
}

#[test]
fn a_project_that_is_no_longer_trusted_allows_nothing() {
    let mut own = settings(&[], &[], &["Edit"]);
    let mut now = settings(&[], &[], &["Edit"]);
    now.layers[0].trusted = false;
    assert_eq!(own.tighten(&now, root()), ["no longer allow Edit"]);
    now.layers[0].trusted = true;
    assert!(own.tighten(&now, root()).is_empty());
    assert!(own.layers[0].rules.allow.is_empty() && !own.layers[0].trusted);
}

fn some() -> impl Strategy<Value = Guards> {
    let rules = || prop::sample::subsequence(vec!["Bash", "Edit", "Read", "Edit(a)"], 0..=4);
    let places = prop::sample::subsequence(vec!["/data", "/opt/big"], 0..=2);
    let demand = prop_oneof![
        Just(SandboxDemand::Off),
        Just(SandboxDemand::Warn),
        Just(SandboxDemand::Enforce)
    ];
    (
        rules(),
        rules(),
        rules(),
        places,
        demand,
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(deny, ask, allow, places, demand, [trusted, network, incomplete])| {
                let mut some = settings(&deny, &ask, &allow);
                some.layers[0].trusted = trusted;
                some.allow_write = places.iter().map(PathBuf::from).collect();
                some.confine.sockets.clone_from(&some.allow_write);
                some.confine.demand = demand;
                some.confine.network = network;
                some.incomplete = incomplete;
                some
            },
        )
}

proptest! {
    /// Whatever the settings become, and however often they are looked at: nothing is looser than it was, all that
    /// they forbid is forbidden, and looking twice changes nothing.
    #[test]
    fn only_what_is_stricter_is_taken_over(before in some(), now in some()) {
        let mut own = before.clone();
        own.tighten(&now, root());
        let rules = |guards: &Guards| guards.layers[0].rules.clone();
        let (was, asked, is) = (rules(&before), rules(&now), rules(&own));
        for (was, asked, is) in [(&was.deny, &asked.deny, &is.deny), (&was.ask, &asked.ask, &is.ask)] {
            prop_assert!(was.iter().chain(asked).all(|rule| is.contains(rule)));
        }
        prop_assert!(is.allow.iter().all(|rule| was.allow.contains(rule)));
        prop_assert!(before.layers[0].trusted || !own.layers[0].trusted);
        prop_assert!(before.confine.network || !own.confine.network);
        prop_assert!(own.confine.sockets.iter().all(|open| before.confine.sockets.contains(open)));
        if !now.incomplete {
            prop_assert!(is.allow.iter().all(|rule| asked.allow.contains(rule)));
            prop_assert!(now.confine.network || !own.confine.network);
        }
        let once = own.clone();
        prop_assert!(own.tighten(&now, root()).is_empty());
        prop_assert_eq!(own, once);
    }
}
