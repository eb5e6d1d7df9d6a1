//! Changes in directories, as the kernel reports them. If it cannot, a clock that strikes now and then.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe::Receiver;
use tokio::runtime::Handle;

/// Interval of looks without reports of the kernel: its watches are limited per user.
const INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct DirectoryChanges {
    /// Waits for the watches of the kernel as for any pipe. `None`: there are none left.
    inotify: Option<Receiver>,
}

impl DirectoryChanges {
    pub(super) fn open() -> Self {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let inotify = inotify::init(flags).ok();
        Self {
            inotify: inotify.and_then(|inotify| Receiver::from_owned_fd_unchecked(inotify).ok()),
        }
    }

    /// Watches these directories too. A directory that is watched already costs nothing.
    pub(super) fn add(&self, directories: &BTreeSet<PathBuf>) {
        let Some(inotify) = &self.inotify else {
            return;
        };
        let flags = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            // A new repository may be left in its place, and its config changed later.
            | WatchFlags::CLOSE_WRITE
            // A file that nothing holds any more may be written by a command that keeps it open.
            | WatchFlags::MODIFY
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        for directory in directories {
            // One that is gone or not watched is looked into at the end.
            let _ = inotify::add_watch(inotify, directory.as_path(), flags);
        }
    }

    /// Waits until something came into one of the directories. Cancel-safe.
    pub(super) async fn changed(&self) {
        let ready = match &self.inotify {
            Some(inotify) => inotify.readable().await.ok().map(|()| inotify),
            None => None,
        };
        let Some(inotify) = ready else {
            return tokio::time::sleep(INTERVAL).await;
        };
        let mut buffer = [0; 4096];
        // The look finds out what it was.
        while inotify.try_read(&mut buffer).is_ok_and(|read| read > 0) {}
    }
}

impl Drop for DirectoryChanges {
    fn drop(&mut self) {
        // Takes about 15 ms, as the kernel waits for all readers of the watches. The end of a command does not wait for it.
        if let (Some(inotify), Ok(runtime)) = (self.inotify.take(), Handle::try_current()) {
            runtime.spawn_blocking(move || drop(inotify));
        }
    }
}
