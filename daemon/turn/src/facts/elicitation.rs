//! The answer to a question of an MCP server: which replies fit its fields, and the values that they give.

use contract::ElicitationAnswer;
use proto::params::elicitation::{
    Elicitation, ElicitationDecision, ElicitationField, FieldType, TextFormat,
};
use proto::params::interaction::Reply;
use serde_json::{Map, Number, Value};

use super::text_format;

/// Why replies do not fit the fields; `None`: they do.
pub(super) fn refusal(
    asked: &Elicitation,
    decision: ElicitationDecision,
    replies: &[Reply],
) -> Option<String> {
    match decision {
        ElicitationDecision::Accept => values(asked, replies).err(),
        ElicitationDecision::Decline | ElicitationDecision::Cancel => None,
    }
}

/// The answer as the call gets it.
pub(super) fn answer(
    asked: &Elicitation,
    decision: ElicitationDecision,
    replies: &[Reply],
) -> ElicitationAnswer {
    match decision {
        ElicitationDecision::Accept => match values(asked, replies) {
            Ok(values) => ElicitationAnswer::Accept(values),
            // Replies are checked before. Only an edited log has others.
            Err(_) => ElicitationAnswer::Cancel,
        },
        ElicitationDecision::Decline => ElicitationAnswer::Decline,
        ElicitationDecision::Cancel => ElicitationAnswer::Cancel,
    }
}

fn values(asked: &Elicitation, replies: &[Reply]) -> Result<Map<String, Value>, String> {
    let fields = &asked.fields;
    if fields.len() != replies.len() {
        return Err(format!(
            "{} values are asked for, but {} answers were given.",
            fields.len(),
            replies.len()
        ));
    }
    let mut values = Map::new();
    for (field, reply) in fields.iter().zip(replies) {
        if let Some(value) = value(field, reply)? {
            values.insert(field.name.clone(), value);
        }
    }
    Ok(values)
}

/// The value that a reply gives; `None`: none, and none is required.
fn value(field: &ElicitationField, reply: &Reply) -> Result<Option<Value>, String> {
    let name = &field.question.header;
    let other = reply.other.as_deref().unwrap_or_default().trim();
    let options = &field.question.options;
    let mut chosen = Vec::new();
    for label in &reply.labels {
        let place = options.iter().position(|option| option.label == *label);
        chosen.push(place.ok_or_else(|| format!("`{name}` has no option `{label}`."))?);
    }
    if chosen.is_empty() && other.is_empty() {
        return match field.required {
            true => Err(format!("There is no answer to `{name}`.")),
            false => Ok(None),
        };
    }
    let choices = chosen.len() + usize::from(!other.is_empty());
    if choices > 1 && !field.question.multi_select {
        return Err(format!("`{name}` takes only one answer."));
    }
    let only_options = || match other.is_empty() {
        true => Ok(()),
        false => Err(format!("`{name}` takes only one of its options.")),
    };
    let words = match reply.labels.first() {
        Some(label) => label,
        None => other,
    };
    let value = match &field.value {
        FieldType::Text {
            min_length,
            max_length,
            format,
        } => {
            let length = u64::try_from(words.chars().count()).unwrap_or(u64::MAX);
            in_bounds(name, "characters", length, *min_length, *max_length)?;
            if let Some(format) = format {
                in_format(name, words, *format)?;
            }
            Value::from(words)
        }
        FieldType::Number { minimum, maximum } => {
            let number: f64 = words
                .parse()
                .map_err(|_| format!("`{name}` must be a number."))?;
            in_bounds(name, "", number, *minimum, *maximum)?;
            let number = Number::from_f64(number);
            Value::from(number.ok_or_else(|| format!("`{name}` must be a number."))?)
        }
        FieldType::Integer { minimum, maximum } => {
            let number: i64 = words
                .parse()
                .map_err(|_| format!("`{name}` must be a whole number."))?;
            in_bounds(name, "", number, *minimum, *maximum)?;
            Value::from(number)
        }
        FieldType::Boolean => {
            only_options()?;
            Value::from(chosen.first() == Some(&0))
        }
        FieldType::Choice { values } => {
            only_options()?;
            let mut values = chosen
                .iter()
                .filter_map(|place| values.get(*place))
                .cloned();
            match field.question.multi_select {
                true => Value::from(values.collect::<Vec<_>>()),
                false => Value::from(values.next().unwrap_or_default()),
            }
        }
    };
    Ok(Some(value))
}

fn in_format(name: &str, words: &str, format: TextFormat) -> Result<(), String> {
    if text_format::fits(words, format) {
        return Ok(());
    }
    Err(match format {
        TextFormat::Email => format!("`{name}` must be an email address, like `ann@example.org`."),
        TextFormat::Uri => {
            format!("`{name}` must be an address with its scheme, like `https://example.org/page`.")
        }
        TextFormat::Date => format!("`{name}` must be a date, like `2026-01-31`."),
        TextFormat::DateTime => {
            format!("`{name}` must be a date and time with its zone, like `2026-01-31T09:30:00Z`.")
        }
    })
}

fn in_bounds<T: PartialOrd + std::fmt::Display>(
    name: &str,
    unit: &str,
    value: T,
    minimum: Option<T>,
    maximum: Option<T>,
) -> Result<(), String> {
    let with_unit = |bound: T| format!("{bound} {unit}").trim_end().to_owned();
    match (minimum, maximum) {
        (Some(minimum), _) if value < minimum => {
            Err(format!("`{name}` must be at least {}.", with_unit(minimum)))
        }
        (_, Some(maximum)) if value > maximum => {
            Err(format!("`{name}` must be at most {}.", with_unit(maximum)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proto::params::interaction::{Choice, Question};
    use serde_json::json;

    use super::*;

    fn field(name: &str, options: &[&str], required: bool, value: FieldType) -> ElicitationField {
        let option = |label: &&str| Choice {
            label: (*label).to_owned(),
            description: String::new(),
        };
        ElicitationField {
            name: name.to_owned(),
            question: Question {
                question: format!("{name}?"),
                header: name.to_owned(),
                options: options.iter().map(option).collect(),
                multi_select: name == "many",
            },
            required,
            value,
        }
    }

    fn asked() -> Elicitation {
        let choice = |values: &[&str]| FieldType::Choice {
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        Elicitation {
            server: "s".to_owned(),
            message: "tell me".to_owned(),
            kind: proto::params::elicitation::ElicitationKind::Form,
            fields: vec![
                field(
                    "name",
                    &[],
                    true,
                    FieldType::Text {
                        min_length: Some(2),
                        max_length: Some(4),
                        format: None,
                    },
                ),
                field(
                    "age",
                    &["30"],
                    false,
                    FieldType::Integer {
                        minimum: Some(0),
                        maximum: Some(150),
                    },
                ),
                field(
                    "part",
                    &[],
                    false,
                    FieldType::Number {
                        minimum: None,
                        maximum: Some(1.0),
                    },
                ),
                field("sure", &["yes", "no"], false, FieldType::Boolean),
                field("one", &["Red", "Blue"], false, choice(&["r", "b"])),
                field("many", &["Red", "Blue"], false, choice(&["r", "b"])),
            ],
        }
    }

    /// `=red` is an option, `red` the user's own words, an empty text nothing.
    fn replies(said: [&str; 6]) -> Vec<Reply> {
        let reply = |said: &str| {
            let mut reply = Reply::default();
            for part in said.split(',').filter(|part| !part.is_empty()) {
                match part.strip_prefix('=') {
                    Some(label) => reply.labels.push(label.to_owned()),
                    None => reply.other = Some(part.to_owned()),
                }
            }
            reply
        };
        said.map(reply).to_vec()
    }

    #[test]
    fn replies_become_values_of_the_types_that_were_asked_for() {
        let all = replies(["Ann", "=30", "0.5", "=no", "=Blue", "=Red,=Blue"]);
        assert_eq!(
            answer(&asked(), ElicitationDecision::Accept, &all),
            ElicitationAnswer::Accept(
                json!({"name": "Ann", "age": 30, "part": 0.5, "sure": false, "one": "b", "many": ["r", "b"]})
                    .as_object()
                    .cloned()
                    .unwrap_or_default()
            )
        );
        let few = replies(["Ann", "", "", "", "", ""]);
        assert_eq!(
            answer(&asked(), ElicitationDecision::Accept, &few),
            ElicitationAnswer::Accept(
                json!({"name": "Ann"})
                    .as_object()
                    .cloned()
                    .unwrap_or_default()
            )
        );
    }

    #[test]
    fn replies_that_do_not_fit_are_refused_with_the_name_of_the_value() {
        for (said, why) in [
            (["", "", "", "", "", ""], "There is no answer to `name`."),
            (
                ["A", "", "", "", "", ""],
                "`name` must be at least 2 characters.",
            ),
            (
                ["Annika", "", "", "", "", ""],
                "`name` must be at most 4 characters.",
            ),
            (
                ["Ann", "1.5", "", "", "", ""],
                "`age` must be a whole number.",
            ),
            (["Ann", "151", "", "", "", ""], "`age` must be at most 150."),
            (["Ann", "", "2", "", "", ""], "`part` must be at most 1."),
            (["Ann", "", "NaN", "", "", ""], "`part` must be a number."),
            (
                ["Ann", "", "", "perhaps", "", ""],
                "`sure` takes only one of its options.",
            ),
            (
                ["Ann", "", "", "", "=Green", ""],
                "`one` has no option `Green`.",
            ),
            (
                ["Ann", "", "", "", "=Red,=Blue", ""],
                "`one` takes only one answer.",
            ),
        ] {
            let refused = refusal(&asked(), ElicitationDecision::Accept, &replies(said));
            assert_eq!(refused.as_deref(), Some(why));
        }
        let few = refusal(&asked(), ElicitationDecision::Accept, &[]);
        assert_eq!(
            few.as_deref(),
            Some("6 values are asked for, but 0 answers were given.")
        );
        for decision in [ElicitationDecision::Decline, ElicitationDecision::Cancel] {
            assert_eq!(refusal(&asked(), decision, &[]), None);
        }
    }

    #[test]
    fn text_that_is_not_of_the_format_is_refused_with_an_example_of_it() {
        let refused = |format, said: &str| {
            let value = FieldType::Text {
                min_length: None,
                max_length: None,
                format: Some(format),
            };
            let asked = Elicitation {
                fields: vec![field("value", &[], false, value)],
                ..asked()
            };
            let reply = Reply {
                other: Some(said.to_owned()),
                ..Reply::default()
            };
            refusal(&asked, ElicitationDecision::Accept, &[reply])
        };
        for (format, bad, why) in [
            (
                TextFormat::Email,
                "notmail",
                "`value` must be an email address, like `ann@example.org`.",
            ),
            (
                TextFormat::Uri,
                "notauri",
                "`value` must be an address with its scheme, like `https://example.org/page`.",
            ),
            (
                TextFormat::Date,
                "2020-13-45",
                "`value` must be a date, like `2026-01-31`.",
            ),
            (
                TextFormat::DateTime,
                "2020-12-31",
                "`value` must be a date and time with its zone, like `2026-01-31T09:30:00Z`.",
            ),
        ] {
            assert_eq!(refused(format, bad).as_deref(), Some(why));
            let example = why.split('`').nth(3).unwrap_or_default();
            assert_eq!(refused(format, example), None, "{example}");
            // It is not required.
            assert_eq!(refused(format, " "), None);
        }
    }
}
