//! Scenes of `/permissions`.

use proto::params::rules::{InForce, List, ListOutput, Place, RevokeOutput};
use proto::state::ApprovalMode;

use super::*;
use crate::model::Dialog;
use crate::update::scene::fresh as model;

fn rule(list: List, rule: &str, layer: &str, origin: &str) -> InForce {
    InForce {
        list,
        rule: rule.to_owned(),
        layer: layer.to_owned(),
        origin: origin.to_owned(),
        problem: None,
    }
}

#[test]
fn rules_are_shown_list_by_list_with_where_they_stand() {
    let mut model = model();
    let found = ListOutput {
        session: None,
        root: "/proj".to_owned(),
        approval_mode: ApprovalMode::Ask,
        rules: vec![
            rule(List::Deny, "Bash(rm:*)", "user", "/h/config.toml"),
            rule(
                List::Allow,
                "Bash(make:*)",
                "persisted",
                "/h/projects/p/permissions.toml",
            ),
            rule(
                List::Allow,
                "Edit(\u{1b}[31m)",
                "session",
                "answers in session 7",
            ),
        ],
        problems: vec!["/h/config.toml:3: an entry is ignored".to_owned()],
        next: None,
    };
    show(&mut model, &found);
    let Some(Dialog::Pager(pager)) = &model.dialog else {
        panic!("nothing to show: {:?}", model.dialog)
    };
    let PagerContent::Lines { lines, .. } = &pager.what else {
        panic!("no lines")
    };
    let text = lines.join("\n");
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("no {part}: {text}"))
    };
    assert!(place("Bash(rm:*)") < place("Bash(make:*)"), "{text}");
    assert!(
        text.contains("permissions.toml") && text.contains("config.toml:3"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_rule_is_taken_back_by_its_words() {
    let effects = ask(
        "s".to_owned(),
        "/proj".to_owned(),
        "revoke Bash(cargo test:*)",
    );
    assert!(matches!(
        &effects[..],
        [Effect::Call(Call::Revoke(params))]
            if params.rule == "Bash(cargo test:*)" && params.session.as_deref() == Some("s") && params.cwd.is_none()
    ));
    let effects = ask(String::new(), "/proj".to_owned(), "");
    assert!(matches!(
        &effects[..],
        [Effect::Call(Call::Rules(params))] if params.cwd.as_deref() == Some("/proj")
    ));
    for wrong in ["revoke", "revoke ", "allow Bash", "x"] {
        assert!(is_wrong(wrong.trim()), "{wrong}");
    }
    let mut model = model();
    let gone = RevokeOutput {
        place: Place::Persisted,
        origin: "/h/permissions.toml".to_owned(),
    };
    revoked(&mut model, "Bash(make:*)", &gone);
    let toast = model.toast.as_ref().map(|toast| toast.words.clone());
    assert!(toast.is_some_and(|text| text.contains("/h/permissions.toml")));
}
