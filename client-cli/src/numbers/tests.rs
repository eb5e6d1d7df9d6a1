use std::any::TypeId;

use clap::builder::ValueParser;
use clap::{Arg, Command};

use super::*;

/// The options and arguments of a command and all below it that take a number.
fn numeric(command: &Command, path: &str, found: &mut Vec<(String, ValueParser)>) {
    let types = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i64>(),
        TypeId::of::<f64>(),
    ];
    for arg in command.get_arguments() {
        let parser = arg.get_value_parser();
        let takes_value = arg.get_action().takes_values();
        if takes_value && types.iter().any(|one| parser.type_id() == *one) {
            found.push((format!("{path} {}", arg.get_id()), parser.clone()));
        }
    }
    for sub in command.get_subcommands() {
        numeric(sub, &format!("{path} {}", sub.get_name()), found);
    }
}

#[test]
fn every_option_that_takes_a_number_says_what_it_expects_with_an_example() {
    let mut found = Vec::new();
    numeric(&crate::command(), "reasonix", &mut found);
    assert!(found.len() > 20, "{found:?}");
    for (name, parser) in found {
        let command = Command::new("x").arg(Arg::new("n").long("n").value_parser(parser));
        for wrong in ["x", "-1", "1.2.3"] {
            let parsed = command
                .clone()
                .try_get_matches_from(["x", &format!("--n={wrong}")]);
            let error = parsed.expect_err(&name).to_string();
            assert!(error.contains("such as `"), "{name}: {error}");
        }
    }
}

#[test]
fn a_number_outside_of_its_range_is_refused_with_the_range() {
    let samples = whole::<u32>(1..=8, 3);
    assert_eq!(samples("8"), Ok(8));
    for wrong in ["0", "9", "", "three", "99999999999999999999"] {
        assert_eq!(
            samples(wrong),
            Err("expected a whole number from 1 to 8, such as `3`".to_owned()),
            "{wrong}"
        );
    }
    let steps = whole::<u64>(0..=u64::MAX, 50);
    assert_eq!(steps("0"), Ok(0));
    let error = steps("a few");
    assert_eq!(
        error,
        Err("expected a whole number from 0, such as `50`".to_owned())
    );
}
