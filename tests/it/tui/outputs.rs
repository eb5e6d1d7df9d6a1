//! What a command printed is all there for whoever reads, however much it was.

use testkit::Script;
use tests::House;

use super::scenes::{TerminalSetup, has_composer, interface};

const LINES: usize = 402;

#[test]
fn a_long_output_is_counted_right_and_read_and_searched_whole() {
    let prints = format!("for i in $(seq 1 {LINES}); do echo \"line $i of many\"; done");
    let house = House::playing(&Script::new().runs(&prints).says("Printed."));
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "print"])
        .expect_code(0);
    let terminal = interface(&house, &["attach", "1"], TerminalSetup::USUAL);
    terminal.wait_for("a line for prompts", |screen| {
        has_composer(screen) && screen.contains("more lines")
    });
    let screen = terminal.screen();
    let shown = screen.matches("│ line ").count();
    let before = format!("… {} more lines", LINES - shown);
    assert!(shown > 0 && screen.contains(&before), "{screen}");

    terminal.type_text("/view\n");
    terminal.wait_text("Esc close");
    terminal.press("a");
    terminal.type_text("/line 7 of");
    terminal.press("enter");
    // Its neighbours, too: nothing is left out.
    terminal.wait_text("line 8 of many");
    let screen = terminal.screen();
    for line in ["line 6 of many", "line 7 of many"] {
        assert!(screen.contains(line), "{screen}");
    }
}
