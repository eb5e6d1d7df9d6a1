//! Output of running calls: the shown text has right offsets, also if some of it was dropped.

use contract::tool::Progress as _;
use tokio::sync::mpsc::unbounded_channel;

use crate::actor::inbox::call_reporter;
use crate::calls::call::Printed;

#[test]
fn offsets_are_right_also_behind_what_was_dropped() {
    let (happened, mut reported) = unbounded_channel();
    let printed = Printed::new(call_reporter(&happened));
    printed.output("one ");
    printed.output("two");
    assert!(
        reported.try_recv().is_ok() && reported.try_recv().is_err(),
        "reported once until it is taken"
    );
    assert_eq!(printed.take(), Some((0, "one two".to_owned())));
    assert_eq!(printed.take(), None);
    printed.output("x");
    printed.output(&"y".repeat(64 * 1024));
    printed.output("z");
    assert_eq!(
        printed.take(),
        Some((7, "x".to_owned())),
        "excess output is dropped, with all that follows it"
    );
    printed.output("end");
    assert_eq!(
        printed.take(),
        Some((7 + 1 + 64 * 1024 + 1, "end".to_owned()))
    );
}
