use super::*;

#[test]
fn a_mode_has_the_name_that_the_wire_has() {
    for mode in [Mode::Normal, Mode::Plan] {
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        assert_eq!(Mode::named(mode.name()), Some(mode));
    }
    assert_eq!(Mode::named("Plan"), None);
}

#[test]
fn a_posture_has_the_name_that_the_wire_has() {
    for posture in [Posture::Ask, Posture::Auto, Posture::Yolo] {
        assert_eq!(serde_json::to_value(posture).unwrap(), posture.name());
        assert_eq!(Posture::named(posture.name()), Some(posture));
    }
    assert_eq!(Posture::named("YOLO"), None);
}
