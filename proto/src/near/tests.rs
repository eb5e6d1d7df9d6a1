//! Names with slips.

use super::*;

#[test]
fn name_with_a_slip_is_near_and_another_word_is_not() {
    let known = ["agent.max_steps", "default_model", "daemon.log", "language"];
    let near = |wanted| nearest(wanted, known);
    assert_eq!(near("defualt_model"), ["default_model"]);
    assert_eq!(near("max_steps"), ["agent.max_steps"]);
    assert_eq!(near("Langage"), ["language"]);
    assert_eq!(near("la"), ["language"]);
    assert!(near("colour").is_empty());
    assert!(near("").is_empty());
    assert!(near(&"language".repeat(20)).is_empty());
}

#[test]
fn best_names_come_first_and_each_once() {
    let known = ["bash_output", "brush", "bash", "bash", "rash", "read_file"];
    assert_eq!(nearest("bash", known), ["bash", "bash_output", "rash"]);
    assert_eq!(nearest("my_bash", known), ["bash"]);
    // Of names that contain it, the one with the least around it.
    let settings = ["agent.compaction_model", "default_model"];
    assert_eq!(nearest("model", settings)[0], "default_model");
}

#[test]
fn a_slip_is_one_letter_or_two_in_the_wrong_order() {
    let commands = ["run", "pin", "attach", "wait"];
    assert_eq!(mistyped("runn", commands), ["run"]);
    assert_eq!(mistyped("rnu", commands), ["run"]);
    assert_eq!(mistyped("Attch", commands), ["attach"]);
    assert!(mistyped("fix", commands).is_empty());
    assert!(mistyped("write", commands).is_empty());
}

#[test]
fn short_name_is_not_near_everything() {
    assert!(nearest("xy", ["ab", "c"]).is_empty());
    assert!(nearest("foo", ["ask", "auto", "yolo"]).is_empty());
    assert_eq!(nearest("yoll", ["ask", "auto", "yolo"]), ["yolo"]);
    assert_eq!(nearest("akc", ["ack", "auto"]), ["ack"]);
}
