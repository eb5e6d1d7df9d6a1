//! The tool by which a model lists and reads the resources of a server.

use serde_json::{Map, Value};

use crate::client::{Connection, RawResource, ResultPart, ToolResult};
use crate::text::clean;

/// Lists the resources, or reads the one that the arguments name. The error is a text for the model.
pub(crate) async fn call(
    connection: &dyn Connection,
    arguments: &Map<String, Value>,
) -> Result<ToolResult, String> {
    let text = match arguments.get("uri") {
        None | Some(Value::Null) => list(&connection.list_resources().await?),
        Some(Value::String(uri)) => connection.resource(uri).await?,
        Some(_) => return Err("`uri` must be a text".to_owned()),
    };
    Ok(ToolResult {
        parts: vec![ResultPart::Text(text)],
        ..ToolResult::default()
    })
}

/// A line for each resource.
fn list(resources: &[RawResource]) -> String {
    if resources.is_empty() {
        return "It lists no resources.".to_owned();
    }
    let one_line = |text: &str| clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = resources.iter().map(|resource| {
        let size = resource.size.map(|bytes| format!("{bytes} bytes"));
        let about: Vec<_> = resource
            .media_type
            .clone()
            .into_iter()
            .chain(size)
            .collect();
        let about = match about.is_empty() {
            true => String::new(),
            false => format!(" ({})", about.join(", ")),
        };
        let description = match resource.description.trim() {
            "" => String::new(),
            text => format!(": {text}"),
        };
        one_line(&format!(
            "{} {}{about}{description}",
            resource.uri, resource.name
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_is_a_line_without_escapes() {
        let notes = RawResource {
            uri: "example://notes".to_owned(),
            name: "notes".to_owned(),
            description: "What\nwas \u{1b}[31mnoted".to_owned(),
            media_type: Some("text/plain".to_owned()),
            size: Some(7),
        };
        let bare = RawResource {
            uri: "example://logo".to_owned(),
            name: "logo".to_owned(),
            ..RawResource::default()
        };
        assert_eq!(
            list(&[notes, bare]),
            "example://notes notes (text/plain, 7 bytes): What was noted\nexample://logo logo"
        );
        assert_eq!(list(&[]), "It lists no resources.");
    }
}
