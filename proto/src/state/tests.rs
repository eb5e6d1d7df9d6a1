use super::*;

#[test]
fn a_posture_has_the_name_that_the_wire_has() {
    for posture in [Posture::Ask, Posture::Auto, Posture::Yolo] {
        assert_eq!(serde_json::to_value(posture).unwrap(), posture.name());
        assert_eq!(Posture::named(posture.name()), Some(posture));
    }
    assert_eq!(Posture::named("YOLO"), None);
}
