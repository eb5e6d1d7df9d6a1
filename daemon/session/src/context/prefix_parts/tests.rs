//! Prefixes as the kinds render them, taken apart.

use contract::{InstructionText, PrefixText, SkillText};
use proptest::prelude::*;

use super::*;

fn prefix(system: &str, tools: &str) -> FrozenPrefix {
    FrozenPrefix {
        prefix: Prefix {
            model: "m".into(),
            system: system.into(),
            tools: tools.into(),
            extra: String::new(),
        },
        text: PrefixText::default(),
    }
}

fn names(tools: &str) -> Vec<String> {
    let reported = page("p".into(), &prefix("s", tools), None, 0, true);
    let tools = reported.parts.into_iter().skip(1);
    tools.map(|part| part.name).collect()
}

#[test]
fn tools_are_found_in_the_forms_of_all_kinds() {
    let flat = r#"{"name":"bash","description":"a, {b}","input_schema":{}},{"name":"read"}"#;
    assert_eq!(names(flat), ["bash", "read"]);
    let chat = r#"{"type":"function","function":{"name":"bash","parameters":{"x":"},{"}}}"#;
    assert_eq!(names(chat), ["bash"]);
    assert_eq!(names(""), [""; 0]);
    // Something else is one part.
    assert_eq!(names("<tools>"), [""]);
}

#[test]
fn tokens_are_measured_where_they_can_be() {
    let of =
        |measured| page("p".into(), &prefix("12345678", ""), measured, 0, true).parts[0].tokens;
    assert_eq!(of(None), 2);
    let measure = |bytes, tokens| Some(Measure { bytes, tokens });
    assert_eq!(of(measure(300, 100)), 3);
    assert_eq!(of(measure(0, u64::MAX)), u64::MAX);
}

#[test]
fn each_instruction_file_the_list_of_skills_and_the_facts_are_parts() {
    let file = |name: &str, text: &str| InstructionText {
        name: name.into(),
        text: text.into(),
        file: None,
    };
    let text = PrefixText {
        system: "Be \"brief\".".into(),
        instructions: vec![
            file("AGENTS.md", "Say \"a\".\n"),
            file("b/AGENTS.md", "Use\ttabs."),
        ],
        skills: vec![SkillText {
            name: "pdf".into(),
            description: "Fill \"forms\"".into(),
        }],
        memory: vec!["- a (user): Say \"b\".".into()],
        ..PrefixText::default()
    };
    let system = serde_json::to_string(&system_prompt::render(&text)).unwrap();
    let mut frozen = prefix(&format!("{{\"role\":\"system\",\"content\":{system}}}"), "");
    frozen.text = text;
    let parts = page("p".into(), &frozen, None, 0, true).parts;
    let found: Vec<_> = parts
        .iter()
        .map(|part| (part.kind, part.name.as_str()))
        .collect();
    let (system, instructions) = (PrefixKind::System, PrefixKind::Instructions);
    assert_eq!(
        found,
        [
            (system, ""),
            (instructions, "AGENTS.md"),
            (instructions, "b/AGENTS.md"),
            (PrefixKind::Skills, ""),
            (PrefixKind::Memory, ""),
        ]
    );
    assert!(
        parts[1].text.contains("Say \\\"a\\\"."),
        "{}",
        parts[1].text
    );
    let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(joined, frozen.prefix.system);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Pages join to the parts, and the tools' texts, joined by commas, are the very bytes.
    #[test]
    fn no_byte_is_lost(sizes in prop::collection::vec(0_usize..300_000, 0..6)) {
        let schemas = sizes.iter().enumerate().map(|(n, size)| {
            format!(r#"{{"name":"t{n}","description":"{}"}}"#, "x,".repeat(size / 2))
        });
        let tools = schemas.collect::<Vec<_>>().join(",");
        let prefix = prefix("be brief", &tools);
        let (mut parts, mut at) = (Vec::new(), Some(0));
        while let Some(after) = at {
            let reported = page("p".into(), &prefix, None, after, true);
            let bytes: usize = reported.parts.iter().map(|part| part.text.len()).sum();
            prop_assert!(reported.parts.len() == 1 || bytes <= PAGE_BYTES);
            at = reported.next;
            parts.extend(reported.parts);
        }
        prop_assert_eq!(&parts[0].text, "be brief");
        let texts: Vec<_> = parts[1..].iter().map(|part| part.text.as_str()).collect();
        prop_assert_eq!(texts.join(","), tools);
    }
}
