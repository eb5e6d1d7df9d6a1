//! Opens the draft in the user's editor.
//!
//! Who calls it has given the terminal back and stopped reading from it, and takes it again afterwards.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;

use crate::effect::ErrorReport;
use crate::messages::Language;
use crate::messages::edge::Msg;

/// Editor to run if no variable names one.
const DEFAULT: &str = "vi";

/// The words of the command: of `$VISUAL`, of `$EDITOR`, or `vi`. Split at blanks.
pub fn command(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let words =
        |value: String| -> Vec<String> { value.split_whitespace().map(str::to_owned).collect() };
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(variable);
    let mut named = named.map(words).filter(|words| !words.is_empty());
    named.next().unwrap_or_else(|| vec![DEFAULT.to_owned()])
}

/// Opens the editor with the draft and waits until it exits. Returns the edited text without the final newline.
/// Interrupts typed in the editor reach this process too and are ordinary events here.
///
/// # Errors
///
/// The editor does not exist, or it failed: then its text is discarded.
pub async fn edit(
    command: &[String],
    draft: &str,
    language: Language,
) -> Result<String, ErrorReport> {
    let say = |message: Msg, values: &[&str]| ErrorReport::new(language.fill(message, values), "");
    let failed = |message: Msg| move |error: io::Error| say(message, &[&error.to_string()]);
    let place = hand_over(draft).map_err(failed(Msg::EditorFile))?;
    let file = place.path().join("prompt.md");
    let (program, arguments) = match command.split_first() {
        Some((program, arguments)) => (program.as_str(), arguments),
        None => (DEFAULT, &[][..]),
    };
    let name = client::text::line(program);
    let status = Command::new(program)
        .args(arguments)
        .arg(&file)
        .status()
        .await
        .map_err(|error| ErrorReport {
            hint: language.say(Msg::EditorMissingHint).to_owned(),
            ..say(Msg::EditorMissing, &[&name, &error.to_string()])
        })?;
    if !status.success() {
        return Err(say(Msg::EditorFailed, &[&name, &status.to_string()]));
    }
    take_back(&file).map_err(failed(Msg::EditorRead))
}

/// Writes the draft into a directory that only this user can read, as the editor may leave files beside it.
fn hand_over(draft: &str) -> io::Result<TempDir> {
    let place = (tempfile::Builder::new().prefix("reasonix-"))
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(place.path().join("prompt.md"))?;
    file.write_all(draft.as_bytes())?;
    Ok(place)
}

fn take_back(file: &Path) -> io::Result<String> {
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let text = text.replace("\r\n", "\n");
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests;
