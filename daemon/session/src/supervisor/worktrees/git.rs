//! Git, as the daemon runs it for the worktrees of sessions.
//!
//! Runs nothing that a repository names: no hook, no filter, no monitor, no program of a remote. Its output has no
//! colours and no pager. It reads neither the user's nor the machine's config.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract::{ChildEvent, Command, OWN_GIT_MEMORY_KIB, Spawn, Stdin};
use futures::StreamExt;
use proto::Pid;
use workspace::{SmallFile, read_small};

use crate::tasks;

/// Time limit of a git command: a checkout of a large repository takes its time.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Maximum bytes of git's output: the index of half a million files.
const PRINT_MAX: usize = 64 * 1024 * 1024;
/// Maximum bytes of `.gitattributes`: git itself reads no more.
const ATTRIBUTES_MAX: usize = 100 * 1024 * 1024;
/// Maximum bytes of the name of a directory.
const NAME_MAX: usize = 4 * 1024;
/// Maximum bytes of what git reports as an error.
const REPORT_MAX: usize = 4 * 1024;
/// Settings that would run a program, or reach into other repositories.
const SWITCHED_OFF: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "log.showSignature=false",
];

/// Git in one work tree.
pub(super) struct Git {
    pub spawn: Arc<dyn Spawn>,
    /// The git directory of this work tree. Not looked for in the tree, where a session may write.
    pub git_dir: PathBuf,
    pub tree: PathBuf,
    /// `PATH`, which only has directories that the session cannot write.
    pub search_path: String,
    /// Settings that switch off what the repository's config names.
    quiet: Vec<String>,
}

/// How a git command ended.
struct GitExit {
    code: Option<i32>,
    printed: Vec<u8>,
    reported: String,
}

impl Git {
    /// Reads which filters and hooks the repository's config names, so that they can be switched off.
    ///
    /// # Errors
    /// Why git cannot be used, as text.
    pub async fn open(
        spawn: Arc<dyn Spawn>,
        git_dir: &Path,
        tree: &Path,
        search_path: &str,
    ) -> Result<Self, String> {
        let files = (git_dir.to_owned(), tree.to_owned());
        let checked = tasks::blocking(move || check_files(&files.0, &files.1)).await;
        checked.map_err(|error| error.to_string())??;
        let mut git = Self {
            spawn,
            git_dir: git_dir.to_owned(),
            tree: tree.to_owned(),
            search_path: search_path.to_owned(),
            quiet: Vec::new(),
        };
        let names = ["config", "-z", "--name-only", "--get-regexp"];
        let names = names.iter().copied().chain([r"^(filter|hook)\."]);
        let found = git.exit(names.collect()).await?;
        match found.code {
            // 1: there are none.
            Some(0 | 1) => {}
            _ => return Err(refused(&found.reported)),
        }
        let text = String::from_utf8(found.printed);
        let text = text.map_err(|_| "its config has names that are not valid UTF-8".to_owned())?;
        for key in text.split('\0').filter(|key| !key.is_empty()) {
            git.quiet.extend(off(key)?);
        }
        Ok(git)
    }

    /// The same in another work tree of the repository.
    pub fn in_work_tree(self, git_dir: &Path, tree: &Path) -> Self {
        Self {
            git_dir: git_dir.to_owned(),
            tree: tree.to_owned(),
            ..self
        }
    }

    /// Runs a command and returns what it printed.
    ///
    /// # Errors
    /// Why it failed, as text.
    pub async fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let exit = self.exit(arguments.to_vec()).await?;
        match exit.code {
            Some(0) => Ok(exit.printed),
            _ => Err(refused(&exit.reported)),
        }
    }

    /// The same for a command that prints one line.
    pub async fn line(&self, arguments: &[&str]) -> Result<String, String> {
        let printed = self.run(arguments).await?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    /// The same for a command that prints paths, each with a zero byte after it.
    pub async fn paths(&self, arguments: &[&str]) -> Result<Vec<String>, String> {
        let printed = self.run(arguments).await?;
        let paths = printed.split(|byte| *byte == 0);
        let paths = paths.filter(|path| !path.is_empty());
        Ok(paths
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }

    async fn exit(&self, arguments: Vec<&str>) -> Result<GitExit, String> {
        let bounded = format!("ulimit -d {OWN_GIT_MEMORY_KIB}; exec git --no-pager \"$@\"");
        let mut argv = ["/bin/sh", "-c", &bounded, "git"]
            .map(str::to_owned)
            .to_vec();
        let settings = SWITCHED_OFF.iter().map(|setting| (*setting).to_owned());
        for setting in settings.chain(self.quiet.iter().cloned()) {
            argv.extend(["-c".to_owned(), setting]);
        }
        argv.extend(arguments.into_iter().map(str::to_owned));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let env = [
            ("PATH", self.search_path.clone()),
            // Nothing is looked up there.
            ("HOME", text(&self.git_dir)),
            ("XDG_CONFIG_HOME", text(&self.git_dir)),
            ("LC_ALL", "C".to_owned()),
            ("GIT_DIR", text(&self.git_dir)),
            ("GIT_WORK_TREE", text(&self.tree)),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            // A look at the user's checkout does not write its index.
            ("GIT_OPTIONAL_LOCKS", "0".to_owned()),
            // Objects that are missing are not fetched: that would run programs of the remote's settings.
            ("GIT_NO_LAZY_FETCH", "1".to_owned()),
            ("GIT_ALLOW_PROTOCOL", "none".to_owned()),
        ];
        let command = Command {
            argv,
            cwd: self.tree.clone(),
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            title: "git (worktree)".into(),
            number: None,
            sandbox: None,
            stdin: Stdin::Empty,
            merge_stderr: false,
        };
        // Of the daemon: it goes on when the session above is killed, so nothing is left half done.
        let run = collect(self.spawn.spawn(Pid(0), command));
        let ended = tokio::time::timeout(TIME_MAX, run).await;
        ended.unwrap_or_else(|_| Err(format!("git took longer than {} s", TIME_MAX.as_secs())))
    }
}

/// Refuses a repository with a file that git would wait for, or read without an end.
fn check_files(git_dir: &Path, tree: &Path) -> Result<(), String> {
    let attributes = tree.join(".gitattributes");
    if read_small(&attributes, ATTRIBUTES_MAX) == SmallFile::Unusable {
        return Err("`.gitattributes` is not a regular file, or too large".to_owned());
    }
    // A work tree of its own shares the objects of another directory.
    let shared = match read_small(&git_dir.join("commondir"), NAME_MAX) {
        SmallFile::Read(name) => git_dir.join(String::from_utf8_lossy(&name).trim_end()),
        SmallFile::Missing | SmallFile::Unusable => git_dir.to_owned(),
    };
    match checkpoint::objects_are_readable(&shared.join("objects")) {
        true => Ok(()),
        false => Err(
            "a file `objects/info/alternates` of its git directory is not a regular file, or too large"
                .to_owned(),
        ),
    }
}

/// The settings that switch off what a key of the config names.
fn off(key: &str) -> Result<Vec<String>, String> {
    let named = key.rsplit_once('.').and_then(|(section, _)| {
        let (kind, name) = section.split_once('.')?;
        Some((section, kind, name))
    });
    let Some((section, kind, name)) = named else {
        return Ok(Vec::new());
    };
    // `-c` cannot say it.
    if name.contains(['=', '\n']) {
        return Err(format!("its config has a `{kind}` with an unusable name"));
    }
    let settings: &[&str] = match kind {
        "filter" => &["smudge=", "clean=", "process=", "required=false"],
        _ => &["enabled=false", "command=true"],
    };
    let settings = settings.iter();
    Ok(settings
        .map(|setting| format!("{section}.{setting}"))
        .collect())
}

fn refused(reported: &str) -> String {
    let lines = || reported.lines().map(str::trim);
    let said = lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let said = said.or_else(|| lines().find(|line| !line.is_empty()));
    format!("git failed: {}", said.unwrap_or("it gave no reason"))
}

async fn collect(
    start: futures::future::BoxFuture<'static, Result<contract::Child, contract::SpawnError>>,
) -> Result<GitExit, String> {
    let mut child = start.await.map_err(|error| error.to_string())?;
    let (mut printed, mut reported) = (Vec::new(), Vec::new());
    while let Some(event) = child.events.next().await {
        match event {
            ChildEvent::Stdout(bytes) => printed.extend(bytes),
            ChildEvent::Stderr(bytes) if reported.len() < REPORT_MAX => reported.extend(bytes),
            // It has no sandbox, so nothing is quarantined.
            ChildEvent::Stderr(_) | ChildEvent::Quarantined(_) => {}
            ChildEvent::Exited(exit) => {
                return Ok(GitExit {
                    code: exit.code,
                    printed,
                    reported: String::from_utf8_lossy(&reported).into_owned(),
                });
            }
        }
        if printed.len() > PRINT_MAX {
            return Err("git printed too much".into());
        }
    }
    Err("git's end was not reported".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_config_names_is_switched_off() {
        let off = |key: &str| off(key).unwrap();
        let filter = off("filter.a.b.smudge");
        assert_eq!(filter.first().unwrap(), "filter.a.b.smudge=");
        assert!(filter.contains(&"filter.a.b.required=false".to_owned()));
        assert_eq!(
            off("hook.x.command"),
            ["hook.x.enabled=false", "hook.x.command=true"]
        );
        assert!(off("filter.clean").is_empty(), "it names no filter");
        assert!(super::off("filter.a=b.clean").is_err());
    }

    #[test]
    fn the_line_with_gits_reason_is_the_one_that_is_reported() {
        assert_eq!(
            refused("Preparing worktree\nfatal: no space\n"),
            "git failed: fatal: no space"
        );
        assert_eq!(refused(""), "git failed: it gave no reason");
    }
}
