//! Versions in their order.

use proptest::prelude::*;

use super::*;

#[test]
fn versions_stand_in_the_order_of_the_standard() {
    let ordered = [
        "0.1.0",
        "0.9.9",
        "0.10.0",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "2.0",
    ];
    for (index, older) in ordered.iter().enumerate() {
        for newer in &ordered[index + 1..] {
            assert_eq!(skew(newer, older), Skew::ClientNewer, "{newer} > {older}");
            assert_eq!(skew(older, newer), Skew::DaemonNewer, "{older} < {newer}");
        }
        assert_eq!(skew(older, older), Skew::None);
    }
}

#[test]
fn builds_and_what_cannot_be_read_are_not_newer() {
    for (one, other) in [
        ("1.0.0+a", "1.0.0+b"),
        ("v1.2.3", "1.2.3"),
        ("1.2", "1.2.0"),
        ("", "1.0.0"),
        ("2.0.0", "of tomorrow"),
        ("1.0.0-", "0.1.0"),
        ("1.2.3.4", "0.1.0"),
        ("99999999999999999999.0.0", "0.1.0"),
    ] {
        assert_eq!(skew(one, other), Skew::None, "{one} {other}");
        assert_eq!(skew(other, one), Skew::None, "{other} {one}");
    }
}

proptest! {
    /// Never are both newer, whatever the two say.
    #[test]
    fn version_skew_is_mirrored_when_the_sides_are_swapped(one in "[0-9a-z.+-]{0,12}", other in "[0-9a-z.+-]{0,12}") {
        let mirrored = match skew(&one, &other) {
            Skew::ClientNewer => Skew::DaemonNewer,
            Skew::DaemonNewer => Skew::ClientNewer,
            Skew::None => Skew::None,
        };
        prop_assert_eq!(skew(&other, &one), mirrored);
    }
}
