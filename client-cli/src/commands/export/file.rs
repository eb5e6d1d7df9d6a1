//! A file that is there whole or not at all: written beside its place, private, and put there at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::exit::Error;
use crate::messages::common::Msg as Common;
use crate::messages::stored::Msg;
use crate::{output, text};

/// The file, until it is finished. Dropped before that, it removes itself.
pub struct Target {
    path: PathBuf,
    part: PathBuf,
    file: File,
    force: bool,
    bytes: u64,
    finished: bool,
}

impl Target {
    /// Begins. Without `force` a file that exists is not replaced.
    ///
    /// # Errors
    /// It exists, or cannot be made.
    pub fn open(path: PathBuf, force: bool) -> Result<Self, Error> {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {
                return Err(Error::usage(
                    say!(Msg::IsDirectory, path.display()),
                    say!(Msg::GiveFile),
                ));
            }
            Ok(_) if !force => return Err(exists(&path)),
            _ => {}
        }
        let Some(name) = path.file_name() else {
            return Err(Error::usage(
                say!(Msg::NoFileName, path.display()),
                say!(Msg::GiveFile),
            ));
        };
        let part = path.with_file_name(format!(
            ".{}.{}.part",
            name.to_string_lossy(),
            Uuid::now_v7()
        ));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)
            .map_err(|source| Error::io(say!(Common::DoCreate, path.display()), source))?;
        Ok(Self {
            path,
            part,
            file,
            force,
            bytes: 0,
            finished: false,
        })
    }

    /// Writes more of it.
    ///
    /// # Errors
    /// The disk is full, and the like.
    pub fn write(&mut self, text: &str) -> Result<(), Error> {
        self.bytes += text.len() as u64;
        self.file
            .write_all(text.as_bytes())
            .map_err(|source| self.failed(source))
    }

    /// Puts it in its place; returns what to say.
    ///
    /// # Errors
    /// A file of that name has appeared meanwhile, or the system refuses.
    pub fn finish(mut self) -> Result<String, Error> {
        self.file.sync_all().map_err(|source| self.failed(source))?;
        let placed = if self.force {
            fs::rename(&self.part, &self.path)
        } else {
            // A link refuses a name that is taken; renaming would not.
            match fs::hard_link(&self.part, &self.path) {
                // Without links there is only looking first.
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    if fs::symlink_metadata(&self.path).is_ok() {
                        return Err(exists(&self.path));
                    }
                    fs::rename(&self.part, &self.path)
                }
                linked => linked.and_then(|()| fs::remove_file(&self.part)),
            }
        };
        match placed {
            Ok(()) => self.finished = true,
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {
                return Err(exists(&self.path));
            }
            Err(source) => return Err(self.failed(source)),
        }
        let path = text::exact(&self.path.display().to_string());
        Ok(say!(Msg::WrittenTo, output::bytes(self.bytes), path))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::io(say!(Common::DoWrite, self.path.display()), source)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.finished {
            // Where even that is refused, nothing more can be done about it.
            let _ = fs::remove_file(&self.part);
        }
    }
}

fn exists(path: &Path) -> Error {
    Error::usage(
        say!(Msg::FileExists, path.display()),
        say!(Msg::ForceOverwrites),
    )
}

#[cfg(test)]
mod tests;
