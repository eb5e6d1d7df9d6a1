//! Folders from text: each file after a line `//- path`.

use std::fs;
use std::io;
use std::path::Path;

/// Writes the files that `text` holds under `root`. What stands before the first `//- path` is refused.
///
/// # Errors
/// A file stands before the first path, a path leaves `root`, or the disk does not want it.
pub fn write(root: &Path, text: &str) -> io::Result<()> {
    for (path, content) in files(text)? {
        let file = root.join(path);
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(file, content)?;
    }
    Ok(())
}

/// Paths and contents, in the order of the text.
fn files(text: &str) -> io::Result<Vec<(&str, String)>> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("//- ") {
            let path = path.trim();
            let inside = Path::new(path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if path.is_empty() || !inside {
                return Err(wrong(format!("`{path}` is no path inside the folder")));
            }
            files.push((path, String::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.push_str(line);
        } else if !line.trim().is_empty() {
            return Err(wrong(format!(
                "`{}` stands before the first `//- path`",
                line.trim()
            )));
        }
    }
    Ok(files)
}

fn wrong(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests;
