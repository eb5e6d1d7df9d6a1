use super::*;

#[test]
fn counts_are_short_and_never_too_much() {
    let shown = |number| count(number);
    assert_eq!(shown(0), "0");
    assert_eq!(shown(999), "999");
    assert_eq!(shown(1_000), "1k");
    assert_eq!(shown(1_290), "1.2k");
    assert_eq!(shown(34_999), "34k");
    assert_eq!(shown(999_999), "999k");
    assert_eq!(shown(1_250_000), "1.2M");
    assert_eq!(shown(u64::MAX), "18446744073G");
}

#[test]
fn times_have_two_units_at_most() {
    let shown = |seconds| duration(Duration::from_secs(seconds));
    assert_eq!(shown(12), "12 s");
    assert_eq!(shown(72), "1m 12s");
    assert_eq!(shown(7_500), "2h 5m");
    assert_eq!(shown(273_700), "3d 4h");
}

#[test]
fn money_says_only_what_is_known() {
    let usage = |requests, cost_micros, unknown_cost_calls| {
        cost(&UsageTotals {
            requests,
            cost_micros,
            unknown_cost_calls,
            ..UsageTotals::default()
        })
    };
    assert_eq!(usage(0, 0, 0), None);
    assert_eq!(usage(2, 0, 2), None);
    assert_eq!(usage(2, 0, 0).as_deref(), Some("$0.00"));
    assert_eq!(usage(2, 4_200, 0).as_deref(), Some("$0.0042"));
    assert_eq!(usage(2, 129_999, 1).as_deref(), Some("$0.12+"));
    assert_eq!(usage(2, 120_500_000, 0).as_deref(), Some("$120"));
}

#[test]
fn a_share_of_nothing_is_not_known() {
    assert_eq!(percent(1, 0), None);
    assert_eq!(percent(1, 3), Some(33));
    assert_eq!(percent(u64::MAX, u64::MAX), Some(100));
}

#[test]
fn a_long_path_keeps_its_end_in_what_room_there_is() {
    let long = "~/code/of/many/years/reasonix";
    assert_eq!(path_within(long, 40), long);
    assert_eq!(path_within(long, 22), "~/…/years/reasonix");
    assert_eq!(path_within(long, 12), "~/…/reasonix");
    assert_eq!(path_within(long, 6), "reaso…");
    assert_eq!(path_within("/srv/数据/项目", 9), "/…/项目");
    assert_eq!(path_within("name", 3), "na…");
}

proptest::proptest! {
    #[test]
    fn a_path_never_takes_more_than_its_room(path in "(/?[a-z数]{0,8}){0,8}", width in 0_usize..40) {
        proptest::prop_assert!(wrap::width(&path_within(&path, width)) <= width);
    }
}

#[test]
fn names_and_paths_are_short() {
    assert_eq!(model("vendor/some-chat"), "some-chat");
    assert_eq!(model("chat"), "chat");
    assert_eq!(model("odd/"), "odd/");
    let home = Some(Path::new("/user/ann"));
    assert_eq!(path("/user/ann", home), "~");
    assert_eq!(path("/user/ann/code/x", home), "~/code/x");
    assert_eq!(path("/user/anna", home), "/user/anna");
    assert_eq!(path("/srv", Some(Path::new("/"))), "/srv");
}
