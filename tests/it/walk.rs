//! The main way: one prompt through the whole house.

use testkit::Script;
use tests::House;

#[test]
fn smoke() {
    let house = House::playing(&Script::new().runs("echo hi").says("Done."));
    let begun = std::time::Instant::now();
    house.daemon();
    let up = begun.elapsed();
    let done = house.reasonix(&["run", "--on-ask", "allow", "do it"]).expect_code(0);
    let run = begun.elapsed();
    house.stop_daemon();
    house.logs()[0].check();
    panic!("{up:?} {run:?} {:?} {done:?} {:#?}", begun.elapsed(), house.logs()[0].kinds());
}
