//! Questions of a server to the user, as the protocol has them: read, bounded and cleaned. Pure. `asker` asks them.

use std::collections::BTreeMap;

use proto::params::elicitation::{
    Elicitation, ElicitationField, ElicitationKind, FieldType, TextFormat,
};
use proto::params::interaction::{Choice, Question};
use rmcp::ErrorData;
use rmcp::model::{
    ElicitRequestParams, ElicitationSchema, EnumSchema, MultiSelectEnumSchema,
    PrimitiveSchemaDefinition, SingleSelectEnumSchema, StringFormat,
};
use serde_json::{Map, Value};

use super::http;
use crate::text::{clean, cut};

/// Links that one call may want opened.
const LINKS_MAX: usize = 5;
/// Values of one question.
const FIELDS_MAX: usize = 32;
/// Choices of one value.
const OPTIONS_MAX: usize = 100;
/// Bytes of a message, and of a description.
const MESSAGE_MAX: usize = 8 * 1024;
/// Bytes of an address.
const URL_MAX: usize = 2_000;
/// Bytes of a title, of a choice and of a name.
const TITLE_MAX: usize = 200;

/// The links in an error that says that the user must open them first.
pub(super) fn wanted_links(error: &ErrorData) -> Result<Vec<ElicitRequestParams>, String> {
    let data = error.data.as_ref();
    let wanted = data.and_then(|data| data.get("elicitations")?.as_array());
    let wanted = wanted.filter(|wanted| (1..=LINKS_MAX).contains(&wanted.len()));
    let wanted = wanted.ok_or("it wants the user to open links, and does not name one to five")?;
    let links = wanted.iter().cloned().map(serde_json::from_value);
    let links: Result<Vec<_>, _> = links.collect();
    links.map_err(|_| "it wants the user to open a link, which cannot be read".to_owned())
}

/// A question as the user is asked. The error is a text for the server.
pub(super) fn read(server: &str, params: ElicitRequestParams) -> Result<Elicitation, String> {
    let (message, fields, kind) = match params {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => (message, fields(requested_schema)?, ElicitationKind::Form),
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            (message, Vec::new(), link(&url)?)
        }
        _ => return Err("only elicitations with a form or a url are supported".to_owned()),
    };
    let message = clean(&message);
    Ok(Elicitation {
        server: server.to_owned(),
        message: cut(message.trim(), MESSAGE_MAX).0.to_owned(),
        fields,
        kind,
    })
}

/// An address that the user is to open: only a page, and only with a host that can be shown.
fn link(url: &str) -> Result<ElicitationKind, String> {
    if url.len() > URL_MAX {
        return Err(format!("an address may have {URL_MAX} bytes"));
    }
    // Writes the host in ASCII, and everything odd in the path as `%…`.
    let url = reqwest::Url::parse(url).map_err(|error| format!("its url: {error}"))?;
    let is_page = url.scheme() == "https" || (url.scheme() == "http" && http::is_local(&url));
    if !is_page {
        return Err("only addresses of HTTPS, or of this machine, can be opened".to_owned());
    }
    // `https://bank.example@other.example/` is at the other one.
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address with a user's name in it is not shown to users".to_owned());
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    Ok(ElicitationKind::Link {
        host: match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host,
        },
        url: url.into(),
    })
}

fn fields(schema: ElicitationSchema) -> Result<Vec<ElicitationField>, String> {
    let required = schema.required.unwrap_or_default();
    let mut properties: BTreeMap<_, _> = schema.properties;
    if properties.len() > FIELDS_MAX {
        return Err(format!("at most {FIELDS_MAX} values can be asked for"));
    }
    let order = match schema.property_order {
        Some(order) => order,
        None => properties.keys().cloned().collect(),
    };
    let mut fields = Vec::new();
    for name in order {
        let Some(property) = properties.remove(&name) else {
            continue;
        };
        let is_required = required.contains(&name);
        fields.push(field(name, property, is_required)?);
    }
    Ok(fields)
}

/// The values that a form proposes: what the user leaves empty.
pub(super) fn defaults(params: &ElicitRequestParams) -> Map<String, Value> {
    let ElicitRequestParams::FormElicitationParams {
        requested_schema, ..
    } = params
    else {
        return Map::new();
    };
    let properties = requested_schema.properties.iter();
    let defaults = properties.filter_map(|(name, value)| Some((name.clone(), default(value)?)));
    defaults.collect()
}

/// `None`: the SDK knows it, and we do not.
fn format(format: &StringFormat) -> Option<TextFormat> {
    match format {
        StringFormat::Email => Some(TextFormat::Email),
        StringFormat::Uri => Some(TextFormat::Uri),
        StringFormat::Date => Some(TextFormat::Date),
        StringFormat::DateTime => Some(TextFormat::DateTime),
        _ => None,
    }
}

fn default(property: &PrimitiveSchemaDefinition) -> Option<Value> {
    // Each type has its own; all write it under this name.
    let schema = serde_json::to_value(property).ok()?;
    schema.get("default").filter(|it| !it.is_null()).cloned()
}

/// A proposed value as the user reads it.
fn shown_default(default: &Value, value: &FieldType, titles: &[String]) -> String {
    let title = |text: &str| match value {
        FieldType::Choice { values } => {
            let place = values.iter().position(|value| value == text);
            let title = place.and_then(|place| titles.get(place));
            title.cloned().unwrap_or_else(|| text.to_owned())
        }
        _ => text.to_owned(),
    };
    match default {
        Value::String(text) => title(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(values) => {
            let values = values.iter().filter_map(Value::as_str).map(title);
            values.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// What the schema of a value says.
struct Schema {
    title: Option<String>,
    description: Option<String>,
    /// Titles of its choices.
    options: Vec<String>,
    multi_select: bool,
    value: FieldType,
}

impl Schema {
    /// Of a value without choices.
    fn free(title: Text, description: Text, value: FieldType) -> Self {
        Self {
            title: title.map(|title| title.into_owned()),
            description: description.map(|text| text.into_owned()),
            options: Vec::new(),
            multi_select: false,
            value,
        }
    }
}

/// The schema of a value. The error is a text for the model.
fn read_schema(name: &str, property: PrimitiveSchemaDefinition) -> Result<Schema, String> {
    Ok(match property {
        PrimitiveSchemaDefinition::String(schema) => {
            let value = FieldType::Text {
                min_length: schema.min_length.map(u64::from),
                max_length: schema.max_length.map(u64::from),
                format: schema.format.as_ref().and_then(format),
            };
            Schema::free(schema.title, schema.description, value)
        }
        PrimitiveSchemaDefinition::Number(schema) => {
            let value = FieldType::Number {
                minimum: schema.minimum,
                maximum: schema.maximum,
            };
            Schema::free(schema.title, schema.description, value)
        }
        PrimitiveSchemaDefinition::Integer(schema) => {
            let value = FieldType::Integer {
                minimum: schema.minimum,
                maximum: schema.maximum,
            };
            Schema::free(schema.title, schema.description, value)
        }
        PrimitiveSchemaDefinition::Boolean(schema) => Schema {
            options: vec!["yes".to_owned(), "no".to_owned()],
            ..Schema::free(schema.title, schema.description, FieldType::Boolean)
        },
        PrimitiveSchemaDefinition::Enum(schema) => {
            let (title, description, choices, multi_select) = choices(schema)?;
            let (values, options) = choices.into_iter().unzip();
            Schema {
                options,
                multi_select,
                ..Schema::free(title, description, FieldType::Choice { values })
            }
        }
        _ => return Err(format!("`{name}` is of a type that cannot be asked for")),
    })
}

fn field(
    name: String,
    property: PrimitiveSchemaDefinition,
    required: bool,
) -> Result<ElicitationField, String> {
    let default = default(&property);
    let schema = read_schema(&name, property)?;
    let title = schema.title.filter(|title| !title.trim().is_empty());
    let header = short(title.as_deref().unwrap_or(&name));
    let description = schema.description.map(|text| clean(&text));
    let description = description.filter(|text| !text.trim().is_empty());
    let question = match description {
        Some(text) => cut(text.trim(), MESSAGE_MAX).0.to_owned(),
        None => header.clone(),
    };
    // No option: a number that is typed would name it.
    let question = match &default {
        Some(default) => {
            let shown = shown_default(default, &schema.value, &schema.options);
            format!("{question} (default: {})", short(&shown))
        }
        None => question,
    };
    if schema.options.len() > OPTIONS_MAX {
        return Err(format!("`{name}` has more than {OPTIONS_MAX} choices"));
    }
    let options = distinct(&schema.options).into_iter().map(|label| Choice {
        label,
        description: String::new(),
    });
    Ok(ElicitationField {
        question: Question {
            question,
            header,
            options: options.collect(),
            multi_select: schema.multi_select,
        },
        name,
        // What is left empty is as it is proposed.
        required: required && default.is_none(),
        value: schema.value,
    })
}

type Text = Option<std::borrow::Cow<'static, str>>;

/// Title and description of a choice, its values with their titles, and whether several may be chosen.
type Choices = (Text, Text, Vec<(String, String)>, bool);

/// The parts of a choice. The error is a text for the model.
fn choices(schema: EnumSchema) -> Result<Choices, String> {
    let plain = |values: Vec<String>| {
        let pairs = values.into_iter().map(|value| (value.clone(), value));
        pairs.collect::<Vec<_>>()
    };
    let titled = |values: Vec<rmcp::model::ConstTitle>| {
        let pairs = values.into_iter().map(|value| (value.const_, value.title));
        pairs.collect::<Vec<_>>()
    };
    Ok(match schema {
        EnumSchema::Single(SingleSelectEnumSchema::Untitled(schema)) => {
            (schema.title, schema.description, plain(schema.enum_), false)
        }
        EnumSchema::Single(SingleSelectEnumSchema::Titled(schema)) => (
            schema.title,
            schema.description,
            titled(schema.one_of),
            false,
        ),
        EnumSchema::Multi(MultiSelectEnumSchema::Untitled(schema)) => (
            schema.title,
            schema.description,
            plain(schema.items.enum_),
            true,
        ),
        EnumSchema::Multi(MultiSelectEnumSchema::Titled(schema)) => (
            schema.title,
            schema.description,
            titled(schema.items.any_of),
            true,
        ),
        EnumSchema::Legacy(schema) => {
            let names = schema.enum_names.unwrap_or_default();
            let pairs = schema.enum_.into_iter().enumerate().map(|(place, value)| {
                let name = names.get(place).cloned();
                (value.clone(), name.unwrap_or(value))
            });
            (schema.title, schema.description, pairs.collect(), false)
        }
        _ => return Err("a choice is of a kind that cannot be asked for".to_owned()),
    })
}

/// One line of a server's text.
fn short(text: &str) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line, TITLE_MAX).0.to_owned()
}

/// Titles of choices, no two the same: an answer names one by its title.
fn distinct(titles: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (place, title) in titles.iter().enumerate() {
        let title = short(title);
        let title = match title.is_empty() || out.contains(&title) {
            true => format!("{title} ({})", place + 1).trim().to_owned(),
            false => title,
        };
        out.push(title);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(params: Value) -> Result<Elicitation, String> {
        let params = serde_json::from_value(params).map_err(|error| error.to_string())?;
        read("files", params)
    }

    #[test]
    fn server_defaults_fill_empty_form_fields_and_make_them_optional() {
        let params = json!({"message": "?", "requestedSchema": {"type": "object",
        "required": ["name", "city"], "properties": {
            "name": {"type": "string", "default": "Ann"},
            "age": {"type": "integer", "default": 30},
            "part": {"type": "number", "default": 0.5},
            "sure": {"type": "boolean", "default": true},
            "one": {"type": "string", "default": "b", "oneOf": [
                {"const": "a", "title": "Red"}, {"const": "b", "title": "Blue"}]},
            "many": {"type": "array", "default": ["x", "y"],
                "items": {"type": "string", "enum": ["x", "y", "z"]}},
            "city": {"type": "string"},
        }}});
        let params: ElicitRequestParams = serde_json::from_value(params).unwrap();
        assert_eq!(
            Value::Object(defaults(&params)),
            json!({"name": "Ann", "age": 30, "part": 0.5, "sure": true, "one": "b",
                "many": ["x", "y"]})
        );
        let read = read("files", params).unwrap();
        let fields = read.fields.iter();
        let fields = fields.map(|field| (&*field.question.question, field.required));
        assert_eq!(
            fields.collect::<Vec<_>>(),
            [
                ("name (default: Ann)", false),
                ("age (default: 30)", false),
                ("part (default: 0.5)", false),
                ("sure (default: yes)", false),
                ("one (default: Blue)", false),
                ("many (default: x, y)", false),
                ("city", true),
            ]
        );
    }

    #[test]
    fn a_link_names_its_host_and_odd_addresses_are_refused() {
        let asked = |url: &str| {
            asked(
                json!({"mode": "url", "message": "Go on there.", "url": url, "elicitationId": "1"}),
            )
        };
        for (url, host) in [
            ("https://pay.example/a?b=c", "pay.example"),
            ("https://pay.example:8443/", "pay.example:8443"),
            // Not what it looks like.
            ("https://b\u{fc}cher.example/", "xn--bcher-kva.example"),
            ("http://127.0.0.1:9/x", "127.0.0.1:9"),
        ] {
            let ElicitationKind::Link { host: found, url } = asked(url).expect(url).kind else {
                panic!("a link");
            };
            assert_eq!(found, host);
            assert!(url.is_ascii(), "{url}");
        }
        for url in [
            "http://pay.example/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "https://bank.example@evil.example/",
            "not an address",
        ] {
            assert!(asked(url).is_err(), "{url}");
        }
        assert!(asked(&format!("https://a.example/{}", "x".repeat(URL_MAX))).is_err());
    }

    #[test]
    fn a_form_is_read_in_its_order_and_without_escapes() {
        let read = asked(json!({
            "message": "Who\u{1b}]0;x\u{7} are\u{202e} you?",
            "requestedSchema": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "title": "Your\nname", "maxLength": 9},
                "age": {"type": "integer", "minimum": 1, "default": 30},
                "sure": {"type": "boolean"},
                "colour": {"type": "string", "oneOf": [
                    {"const": "r", "title": "Red"}, {"const": "b", "title": "Red"}]},
                "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
                "old": {"type": "string", "enum": ["1", "2"], "enumNames": ["one", "two"]},
                "born": {"type": "string", "format": "date"},
            }},
        }))
        .expect("a form");
        assert_eq!((&*read.server, &*read.message), ("files", "Who are you?"));
        let fields = read.fields.iter().map(|field| {
            let options = field.question.options.iter().map(|option| &*option.label);
            (
                &*field.name,
                &*field.question.header,
                options.collect::<Vec<_>>(),
                field.required,
            )
        });
        assert_eq!(
            fields.collect::<Vec<_>>(),
            [
                ("name", "Your name", vec![], true),
                ("age", "age", vec![], false),
                ("sure", "sure", vec!["yes", "no"], false),
                ("colour", "colour", vec!["Red", "Red (2)"], false),
                ("many", "many", vec!["x", "y"], false),
                ("old", "old", vec!["one", "two"], false),
                ("born", "born", vec![], false),
            ]
        );
        assert_eq!(read.fields[1].question.question, "age (default: 30)");
        let is_date = |field: &ElicitationField| {
            let FieldType::Text { format, .. } = field.value else {
                return false;
            };
            format == Some(TextFormat::Date)
        };
        assert!(is_date(&read.fields[6]) && !is_date(&read.fields[0]));
        let values = read.fields.into_iter().map(|field| field.value);
        assert_eq!(
            values.skip(3).take(3).collect::<Vec<_>>(),
            [["r", "b"], ["x", "y"], ["1", "2"]].map(|values| FieldType::Choice {
                values: values.map(str::to_owned).to_vec()
            })
        );
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_a_reason() {
        let url = json!({"mode": "url", "message": "go", "url": "http://x", "elicitationId": "1"});
        assert_eq!(
            asked(url),
            Err("only addresses of HTTPS, or of this machine, can be opened".to_owned())
        );
        let properties: serde_json::Map<_, _> = (0..40)
            .map(|n| (format!("f{n}"), json!({"type": "boolean"})))
            .collect();
        let many = json!({"message": "all", "requestedSchema": {"type": "object", "properties": properties}});
        assert_eq!(
            asked(many),
            Err("at most 32 values can be asked for".to_owned())
        );
    }
}
