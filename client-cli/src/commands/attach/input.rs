//! What a typed line means. Pure.

/// A line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An empty line.
    Nothing,
    Prompt(String),
    Steer(String),
    Interrupt,
    /// Yes, to the question of this id or to the oldest.
    Approve(Option<String>),
    /// No; the words may begin with an id.
    Deny(String),
    Quit,
    /// A word with a slash that is none of ours.
    Unknown(String),
}

/// Reads a line. One that begins with two slashes is a prompt that begins with one.
pub fn parse(line: &str) -> Said {
    let line = line.trim();
    if line.is_empty() {
        return Said::Nothing;
    }
    if let Some(prompt) = line.strip_prefix("//") {
        return Said::Prompt(format!("/{prompt}"));
    }
    if !line.starts_with('/') {
        return Said::Prompt(line.to_owned());
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "/steer" if !rest.is_empty() => Said::Steer(rest.to_owned()),
        "/interrupt" if rest.is_empty() => Said::Interrupt,
        "/approve" if !rest.contains(char::is_whitespace) => {
            Said::Approve(Some(rest.to_owned()).filter(|id| !id.is_empty()))
        }
        "/deny" => Said::Deny(rest.to_owned()),
        "/quit" if rest.is_empty() => Said::Quit,
        _ => Said::Unknown(line.to_owned()),
    }
}

#[cfg(test)]
mod tests;
