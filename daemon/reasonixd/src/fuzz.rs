//! What holds for any frame and any config file: targets for fuzzing, see `tests/fuzz/README.md`.

use std::path::{Path, PathBuf};

use futures::FutureExt as _;
use proto::ErrorName;
use serde_json::Value;
use tokio::io::BufReader;

use crate::rpc::frame::{Frame, read};
use crate::settings::{self, KEYS, edit};

/// Frames: lines as they are, up to the first that is too long. The first byte is the size of the pieces, the second
/// the longest line.
pub fn frame(data: &[u8]) {
    let [size, max, stream @ ..] = data else {
        return;
    };
    let max = usize::from(*max);
    let mut reader = BufReader::with_capacity(usize::from(*size).max(1), stream);
    let mut lines = stream.split_inclusive(|byte| *byte == b'\n');
    loop {
        let frame = read(&mut reader, max).now_or_never();
        let frame = frame.expect("bytes that are there").expect("no error");
        let line = lines.next().unwrap_or_default();
        let whole = line.strip_suffix(b"\n");
        if whole.unwrap_or(line).len() > max {
            return assert_eq!(frame, Frame::TooLong);
        }
        let Some(whole) = whole else {
            return assert_eq!(frame, Frame::End);
        };
        assert_eq!(frame, Frame::Line(whole.to_vec()));
    }
}

/// A directory with one config in it, gone when it is dropped.
struct Home(PathBuf);

impl Home {
    fn with(config: &[u8]) -> Self {
        let name = format!("reasonix-fuzz-{}", std::process::id());
        let home = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&home.0).expect("a directory for temporary files");
        std::fs::write(home.config(), config).expect("a place for the config");
        home
    }

    fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.config()).expect("a config that was read")
    }

    /// The values in force but for this one.
    fn others(&self, than: &str) -> Vec<(String, Value)> {
        let loaded = settings::load(&self.0, None, Path::new("/home/ann"), &tools());
        let values = loaded.values.into_iter().filter(|value| value.key != than);
        values.map(|value| (value.key, value.value)).collect()
    }
}

fn tools() -> contract::ToolSet {
    tools::BuiltIn::default().set(tools::Options::default())
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The config: any file is read, and an edit changes only its setting, or says why it cannot. The first byte
/// chooses the setting; the first line after it is the value as JSON; the rest is the file.
pub fn config(data: &[u8]) {
    let [key, rest @ ..] = data else {
        return;
    };
    let end = rest.iter().position(|byte| *byte == b'\n');
    let (value, file) = rest.split_at(end.unwrap_or(rest.len()));
    let key = &KEYS[usize::from(*key) % KEYS.len()];
    let value: Option<Value> = serde_json::from_slice(value).ok();
    let home = Home::with(file.get(1..).unwrap_or_default());
    let before = home.others(key.name);
    let user = Path::new("/home/ann");
    for value in [value.as_ref(), None] {
        match edit::set(&home.config(), key, value, user, &tools()) {
            Ok(()) => {
                let text = home.text();
                assert_eq!(home.others(key.name), before, "{} := {value:?}", key.name);
                let again = edit::set(&home.config(), key, value, user, &tools());
                assert!(again.is_ok(), "{again:?}: {text}");
                assert_eq!(home.text(), text, "{} := {value:?}, twice", key.name);
            }
            Err(failure) => assert_ne!(failure.name, ErrorName::Internal, "{failure:?}"),
        }
    }
    for rule in ["Bash(ls:*)", "Bash"] {
        match edit::forget_rule(&home.config(), rule) {
            Ok(_) => assert!(!edit::allows_rule(&home.config(), rule)),
            Err(failure) => assert_ne!(failure.name, ErrorName::Internal, "{failure:?}"),
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_frame() {
    seeds::each("frame", frame);
}

#[test]
fn seeds_of_config() {
    seeds::each("config", config);
}
