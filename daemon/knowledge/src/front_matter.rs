//! The front matter of a Markdown file: YAML between two lines of `---` at its start. Pure.

use serde::de::DeserializeOwned;

/// Marks the start and the end of front matter.
const FENCE: &str = "---";
const FRONT_MATTER: &str = "its front matter";
/// Letters of a parser's message that are shown.
const REASON_MAX: usize = 160;

/// A file in its two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document<'a> {
    /// Starts with an empty line in place of the fence, so that the lines have their numbers of the file. Empty: the
    /// file has no front matter.
    yaml: String,
    pub body: &'a str,
    /// What the YAML is called in a report.
    yaml_name: &'static str,
}

/// Why front matter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// From 1, in the file.
    pub line: u64,
    pub reason: String,
}

/// Takes a file apart.
pub(crate) fn split(text: &str) -> Result<Document<'_>, Malformed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some(FENCE) {
        return Ok(Document {
            yaml: String::new(),
            body: text,
            yaml_name: FRONT_MATTER,
        });
    }
    let mut yaml = "\n".to_owned();
    let mut at = text.find('\n').map_or(text.len(), |end| end + 1);
    for line in lines {
        at += line.len();
        if line.trim_end() == FENCE {
            let body = text.get(at..).unwrap_or_default();
            return Ok(Document {
                yaml,
                body,
                yaml_name: FRONT_MATTER,
            });
        }
        yaml.push_str(line);
    }
    // A line above a title or a text, rather than front matter.
    let first = yaml.lines().find(|line| !line.trim().is_empty());
    if first.is_some_and(|line| key_of(line).is_none()) {
        return Ok(Document {
            yaml: String::new(),
            body: text,
            yaml_name: FRONT_MATTER,
        });
    }
    Err(Malformed {
        line: 1,
        reason: "its front matter has no end".to_owned(),
    })
}

/// The key that a line of YAML begins with.
fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    (!key.is_empty() && key.chars().all(fits)).then_some(key)
}

impl<'a> Document<'a> {
    /// A definition in two files: one of YAML alone, and one of text.
    pub fn of_files(yaml: &str, body: &'a str) -> Self {
        let yaml = yaml.strip_prefix('\u{feff}').unwrap_or(yaml);
        Self {
            yaml: yaml.to_owned(),
            body,
            yaml_name: "its YAML",
        }
    }

    /// The keys directly below another key, if they are on lines of their own, with their lines in the file.
    pub fn keys_below(&self, key: &str) -> Vec<(u64, String)> {
        let lines = self.yaml.lines().zip(1_u64..);
        let inside = lines.skip_while(|(line, _)| raw_value(line, key).is_none());
        let inside = inside
            .skip(1)
            .take_while(|(line, _)| line.trim().is_empty() || line.starts_with([' ', '\t', '#']));
        let inside: Vec<_> = inside.collect();
        let depth = |line: &str| line.len() - line.trim_start().len();
        let words = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
        let first = inside.iter().find(|(line, _)| words(line));
        let Some(indent) = first.map(|(line, _)| depth(line)) else {
            return Vec::new();
        };
        let keys = inside
            .iter()
            .filter(|(line, _)| words(line) && depth(line) == indent);
        keys.filter_map(|(line, number)| {
            let (key, _) = line.trim().split_once(':')?;
            Some((*number, key.trim_matches(['"', '\'']).to_owned()))
        })
        .collect()
    }

    /// Takes the value of a key as it is written, with the indented lines below it, and out of what is read as YAML:
    /// `[message]` is a hint of arguments for a person, not a list.
    pub fn take_raw(&mut self, key: &str) -> Option<String> {
        let mut values: Vec<Vec<&str>> = Vec::new();
        let mut is_inside = false;
        let mut kept = Vec::new();
        for line in self.yaml.lines() {
            let goes_on = is_inside && line.starts_with([' ', '\t']);
            match (raw_value(line, key), values.last_mut()) {
                (Some(value), _) => values.push(vec![value]),
                (None, Some(value)) if goes_on => value.push(line.trim()),
                (None, _) => {
                    is_inside = is_inside && line.is_empty();
                    kept.push(line);
                    continue;
                }
            }
            is_inside = true;
            // The other lines keep their numbers.
            kept.push("");
        }
        let value = match &**values.first()? {
            // The mark of a text of several lines.
            ["|" | "|-" | "|+" | ">" | ">-" | ">+", rest @ ..] => rest,
            value => value,
        };
        let value = value.join(" ");
        self.yaml = kept.join("\n");
        Some(unquoted(value.trim()).to_owned()).filter(|value| !value.is_empty())
    }

    /// The line of a key in the file, from 1.
    pub fn line_of(&self, key: &str) -> Option<u64> {
        let mut lines = self.yaml.lines().zip(1..);
        lines.find_map(|(line, number)| raw_value(line, key).map(|_| number))
    }

    /// The keys of the outermost level, with their lines in the file.
    pub fn keys(&self) -> Vec<(u64, String)> {
        let key = |(at, line): (usize, &str)| Some((at as u64 + 1, key_of(line)?.to_owned()));
        self.yaml.lines().enumerate().filter_map(key).collect()
    }

    /// Reads the front matter. Keys that `T` does not have are ignored.
    pub fn fields<T: DeserializeOwned + Default>(&self) -> Result<T, Malformed> {
        if is_blank(&self.yaml) {
            return Ok(T::default());
        }
        serde_saphyr::from_str(&self.yaml).map_err(|error| {
            let line = error.location().map_or(1, |location| location.line());
            let message = error.without_snippet().to_string();
            let message: String = message.lines().take(1).collect();
            let printable = message.chars().filter(|letter| !letter.is_control());
            let message: String = printable.take(REASON_MAX).collect();
            Malformed {
                line: line.max(1),
                reason: format!("{} is not valid: {message}", self.yaml_name),
            }
        })
    }
}

/// Fields with a description.
pub(crate) trait Described: DeserializeOwned + Default {
    /// Replaces the description.
    fn describe(&mut self, description: String);
}

impl Document<'_> {
    /// Reads the front matter. Many files have a description that is no YAML, with a colon or a bracket in it: that is
    /// taken as it is written.
    pub fn described_fields<T: Described>(&mut self) -> Result<T, Malformed> {
        let error = match self.fields::<T>() {
            Ok(fields) => return Ok(fields),
            Err(error) => error,
        };
        let Some(raw) = self.take_raw("description") else {
            return Err(error);
        };
        let mut fields: T = self.fields()?;
        fields.describe(raw.replace("\\n", " "));
        Ok(fields)
    }
}

/// Whether there is nothing in it but comments.
fn is_blank(yaml: &str) -> bool {
    let mut lines = yaml.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

fn raw_value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    Some(line.strip_prefix(key)?.strip_prefix(':')?.trim())
}

fn unquoted(value: &str) -> &str {
    let quoted = ['"', '\''].iter().find_map(|quote| {
        value
            .strip_prefix(*quote)
            .and_then(|rest| rest.strip_suffix(*quote))
    });
    quoted.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    struct Fields {
        description: Option<String>,
    }

    fn fields(text: &str) -> Result<Fields, Malformed> {
        split(text)?.fields()
    }

    #[test]
    fn file_is_split_into_front_matter_and_body() {
        let text = "---\ndescription: Say it\nother: [1, 2]\n---\nBody\n---\nmore\n";
        assert_eq!(split(text).expect("document").body, "Body\n---\nmore\n");
        let read = fields(text).expect("fields");
        assert_eq!(read.description.as_deref(), Some("Say it"));
        assert_eq!(split("Body\n---\n").expect("document").body, "Body\n---\n");
        assert_eq!(fields("---\n---\n"), Ok(Fields::default()));
        assert_eq!(split("---\r\n---\r\nBody").expect("document").body, "Body");
    }

    #[test]
    fn fault_is_told_with_its_line_in_the_file() {
        assert_eq!(fields("---\ndescription: x\n").unwrap_err().line, 1);
        let error = fields("---\nname: a\ndescription: [x\n---\nBody").unwrap_err();
        assert!(error.line >= 3, "{error:?}");
        let error = fields("---\nname: a\ndescription: {a: b}\n---\nBody").unwrap_err();
        assert_eq!(error.line, 3, "{error:?}");
        assert!(!error.reason.contains('\n'));
    }

    #[test]
    fn hint_is_taken_as_it_is_written() {
        let text = "---\nargument-hint: [number] [priority]\ndescription: d\n---\n";
        let mut document = split(text).expect("document");
        let hint = document.take_raw("argument-hint");
        assert_eq!(hint.as_deref(), Some("[number] [priority]"));
        let read: Fields = document.fields().expect("fields");
        assert_eq!(read.description.as_deref(), Some("d"));
    }

    #[test]
    fn lines_below_a_description_belong_to_no_other_key() {
        #[derive(Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        struct Narrow {
            name: Option<String>,
            allowed_tools: Option<String>,
            description: Option<String>,
        }
        impl Described for Narrow {
            fn describe(&mut self, description: String) {
                self.description = Some(description);
            }
        }
        for (before, after) in [
            ("name: wide\nallowed-tools: looking\n", ""),
            ("allowed-tools: looking\n", "name: wide\n"),
        ] {
            let text = format!(
                "---\n{before}description: Use this when: the user wants\n  bash is not\n\n\tneeded\n{after}---\nBody"
            );
            let mut document = split(&text).expect("document");
            let read: Narrow = document.described_fields().expect("fields");
            let expected = Narrow {
                name: Some("wide".to_owned()),
                allowed_tools: Some("looking".to_owned()),
                description: Some("Use this when: the user wants bash is not needed".to_owned()),
            };
            assert_eq!(read, expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(---\n)?[a-z:\\[\\]{}&*!\"'\n -]{0,80}(---\n)?.{0,20}") {
            if let Ok(mut document) = split(&text) {
                document.take_raw("a");
                let _ = document.fields::<Fields>();
            }
        }
    }
}
