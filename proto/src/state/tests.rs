use super::*;

#[test]
fn a_mode_has_the_name_that_the_wire_has() {
    for mode in [Mode::Normal, Mode::Plan] {
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        assert_eq!(Mode::named(mode.as_str()), Some(mode));
    }
    assert_eq!(Mode::named("Plan"), None);
}

#[test]
fn an_approval_mode_has_the_name_that_the_wire_has() {
    for approval_mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo] {
        assert_eq!(
            serde_json::to_value(approval_mode).unwrap(),
            approval_mode.as_str()
        );
        assert_eq!(
            ApprovalMode::named(approval_mode.as_str()),
            Some(approval_mode)
        );
    }
    assert_eq!(ApprovalMode::named("YOLO"), None);
}
