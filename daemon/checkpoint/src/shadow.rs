//! A separate git repository of the session, below its directory: saves whole work trees as git trees.
//!
//! Never changes the user's repository; objects that it already contains are shared and take no space. Uses none of its
//! settings, hooks, filters or attributes. Called from threads that may block, inside the runtime.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use contract::{ChildEvent, Command, OWN_GIT_MEMORY_KIB};
use futures::StreamExt;
use workspace::{Survey, SurveyEntry, SurveyedRepository};

use crate::alternates;
use crate::content::{Own, TreeExtras};
use crate::keeper::Keeper;

/// Time limit of a git command.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Maximum bytes of git's output.
const PRINT_MAX: usize = 256 * 1024 * 1024;
/// Maximum bytes of a saved file.
const FILE_MAX: u64 = 50 * 1024 * 1024;
/// Maximum bytes of content to request at once.
const ROUND_MAX: u64 = 32 * 1024 * 1024;
/// Maximum paths of each kind to store besides a tree.
const BESIDE_MAX: usize = 2_000;

/// The state of the repository's index. Only the holder of its lock runs git in the repository.
#[derive(Default)]
pub(crate) struct Shadow {
    last: Option<(Arc<Survey>, String)>,
    /// Number of git commands run.
    runs: u64,
}

/// The name of a tree without entries, which each git knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Whether the repository has the user's objects as at the last tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Borrowing {
    AsBefore,
    Changed,
}

/// A tree's entry at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    /// The object's id.
    pub object: String,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Executable,
    Link,
}

impl Keeper {
    /// Saves a work tree as just surveyed: returns its id, and facts that git does not store.
    ///
    /// # Errors
    /// Why it could not be saved, as text.
    pub(crate) fn take(
        &self,
        repository: &SurveyedRepository,
        tree: &Arc<Survey>,
        path: &str,
    ) -> Result<(String, Own), String> {
        let mut shadow = self.lock();
        // Stays empty if this fails, because the state of the index is then unknown.
        let last = shadow.last.take();
        let beside = self.tree_extras(tree);
        let own = |beside| Own {
            tree: Some(beside),
            ..Own::default()
        };
        // Recently modified files of the last survey were not hashed in either: only git can tell whether they changed.
        if let Some((before, id)) = &last
            && **before == **tree
        {
            let id = id.clone();
            shadow.last = last;
            return Ok((id, own(beside)));
        }
        let borrows = self.create_repository(repository).map_err(unwritable)?;
        let last = last.filter(|_| borrows == Borrowing::AsBefore);
        let whole = last.is_none();
        let paths = match &last {
            // Including recently modified ones: their times do not show whether they changed.
            Some((before, _)) => before.all_differences(tree),
            None => {
                // The index of an earlier daemon process: its state is unknown.
                let _ = std::fs::remove_file(self.git_dir().join("index"));
                let leaves = tree.places.iter();
                let leaves = leaves.filter(|(_, mark)| matches!(mark, SurveyEntry::Leaf(_)));
                leaves.map(|(path, _)| path.clone()).collect()
            }
        };
        let young = tree.places.iter().filter(|(_, mark)| mark.is_young());
        let young = young.map(|(path, _)| path.clone());
        let is_left_out = |path: &Path| beside.left_out.contains(&*path.to_string_lossy());
        let (mut here, mut gone) = (Vec::new(), Vec::new());
        // Each path once: a pack that is written as a stream accepts no object twice.
        let paths: std::collections::BTreeSet<PathBuf> = paths.into_iter().chain(young).collect();
        for path in paths {
            let list = match tree.places.get(&path) {
                Some(SurveyEntry::Leaf(_)) if is_left_out(&path) => continue,
                Some(SurveyEntry::Leaf(_)) => &mut here,
                // A tree contains a directory only through its files.
                Some(SurveyEntry::Directory) | None => &mut gone,
            };
            list.extend_from_slice(path.as_os_str().as_encoded_bytes());
            list.push(0);
        }
        private(&self.git_dir().join("gone"), &gone).map_err(unwritable)?;
        let script = if whole { WHOLE } else { CHANGED };
        let printed = self.git(&mut shadow, path, script, &here)?;
        let id = String::from_utf8_lossy(&printed).trim().to_owned();
        let is_name = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_name {
            return Err("git returned something other than a tree".into());
        }
        shadow.last = Some((Arc::clone(tree), id.clone()));
        Ok((id, own(beside)))
    }

    fn tree_extras(&self, tree: &Survey) -> TreeExtras {
        let leaves = || {
            tree.places.iter().filter_map(|(path, mark)| match mark {
                SurveyEntry::Leaf(leaf) if !leaf.link => Some((path, leaf)),
                SurveyEntry::Leaf(_) | SurveyEntry::Directory => None,
            })
        };
        let most = |executable: bool, fallback: u32| {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            let modes = leaves().map(|(_, leaf)| leaf.mode);
            for mode in modes.filter(|mode| (mode & 0o100 != 0) == executable) {
                *counts.entry(mode).or_default() += 1;
            }
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            most.map_or(fallback, |(mode, _)| mode)
        };
        let (plain, executable) = (most(false, 0o644), most(true, 0o755));
        let name = |path: &Path| path.to_string_lossy().into_owned();
        let odd = leaves().filter(|(_, leaf)| leaf.mode != plain && leaf.mode != executable);
        let mut held = std::collections::HashSet::new();
        for path in tree.places.keys() {
            held.extend(path.parent());
        }
        let empty = tree.places.iter().filter(|(path, mark)| {
            matches!(mark, SurveyEntry::Directory) && !held.contains(path.as_path())
        });
        let root = self.workspace.root();
        let closed = |path: &Path| !self.workspace.readable(&root.join(path));
        let left_out = leaves().filter(|(path, leaf)| leaf.bytes > FILE_MAX || closed(path));
        let mut beside = TreeExtras {
            plain,
            executable,
            modes: odd.map(|(path, leaf)| (name(path), leaf.mode)).collect(),
            empty: empty.map(|(path, _)| name(path)).collect(),
            left_out: left_out.map(|(path, _)| name(path)).collect(),
            // Paths that are not valid text cannot be named.
            hidden: tree
                .hidden
                .iter()
                .filter_map(|path| Some(path.to_str()?.to_owned()))
                .collect(),
            cut: false,
        };
        let much = [beside.modes.len(), beside.empty.len(), beside.hidden.len()];
        beside.cut = much.into_iter().any(|count| count > BESIDE_MAX);
        while beside.modes.len() > BESIDE_MAX {
            beside.modes.pop_last();
        }
        for named in [&mut beside.empty, &mut beside.hidden] {
            while named.len() > BESIDE_MAX {
                named.pop_last();
            }
        }
        beside
    }

    /// The entries of a tree, by path from the root.
    ///
    /// # Errors
    /// Why it cannot be read, as text.
    pub fn entries(&self, path: &str, tree: &str) -> Result<BTreeMap<PathBuf, Entry>, String> {
        let is_name = tree.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_name {
            return Err("the log has no tree".into());
        }
        let script = format!("exec git ls-tree -r -l -z --full-tree {tree}");
        let printed = self.git(&mut self.lock(), path, &script, &[])?;
        let lines = printed.split(|byte| *byte == 0);
        Ok(lines.filter_map(entry).collect())
    }

    /// The current entries of the work tree, in the form of a tree.
    ///
    /// # Errors
    /// Why they cannot be read, as text.
    pub fn entries_now(&self, path: &str) -> Result<BTreeMap<PathBuf, Entry>, String> {
        let repository = self.workspace.repository();
        let repository = repository.ok_or("this is not a git work tree")?;
        let tree = self.workspace.survey(crate::keeper::TREE_MAX, None);
        let tree = Arc::new(tree.map_err(|error| error.to_string())?);
        let (id, _) = self.take(&repository, &tree, path)?;
        self.entries(path, &id)
    }

    /// Reads these objects in order, in batches, so that little content is in memory at once. Calls `take` for each;
    /// `None`: git no longer has the object.
    ///
    /// # Errors
    /// Why git cannot be called, as text.
    pub fn read_contents(
        &self,
        path: &str,
        entries: &[Entry],
        mut take: impl FnMut(&Entry, Option<Vec<u8>>),
    ) -> Result<(), String> {
        let mut rest = entries;
        while !rest.is_empty() {
            let mut held = 0;
            let fits = rest.iter().take_while(|entry| {
                let first = held == 0;
                held += entry.bytes.max(1);
                first || held <= ROUND_MAX
            });
            let count = fits.count().max(1);
            let (round, later) = rest.split_at(count);
            let mut list = String::new();
            for entry in round {
                list.push_str(&entry.object);
                list.push('\n');
            }
            let script = "exec git cat-file --batch";
            let printed = self.git(&mut self.lock(), path, script, list.as_bytes())?;
            let contents = objects(&printed, round.len());
            for (entry, content) in round.iter().zip(contents) {
                take(entry, content);
            }
            rest = later;
        }
        Ok(())
    }

    /// Waits for other users of the repository: the judging of a call and a rewind may run at the same time. Blocks.
    fn lock(&self) -> MutexGuard<'_, Shadow> {
        self.shadow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn git_dir(&self) -> PathBuf {
        self.dir.join("checkpoint.git")
    }

    /// Creates the repository if it does not exist.
    fn create_repository(&self, repository: &SurveyedRepository) -> std::io::Result<Borrowing> {
        use std::os::unix::fs::DirBuilderExt;
        let dir = self.git_dir();
        let mut make = std::fs::DirBuilder::new();
        make.recursive(true).mode(0o700);
        for below in ["objects/info", "objects/pack", "refs", "info"] {
            make.create(dir.join(below))?;
        }
        // This file has the highest precedence: no attribute of the work tree changes a byte.
        let attributes = "* -text -filter -ident -eol !working-tree-encoding\n";
        private(&dir.join("info/attributes"), attributes.as_bytes())?;
        let objects = alternates::readable(&repository.objects, &dir)?;
        let borrowed = objects
            .to_str()
            .filter(|path| repository.sha1 && !path.contains('\n'));
        let list = dir.join("objects/info/alternates");
        let line = borrowed.map_or_else(String::new, |path| format!("{path}\n"));
        let before = std::fs::read(&list).unwrap_or_default();
        let borrowing = match before == line.as_bytes() {
            true => Borrowing::AsBefore,
            // Objects of the index may be missing now.
            false => Borrowing::Changed,
        };
        if borrowing == Borrowing::Changed {
            private(&list, line.as_bytes())?;
        }
        private(&dir.join("config"), CONFIG.as_bytes())?;
        // Written last: without this file it is not a repository.
        private(&dir.join("HEAD"), b"ref: refs/heads/none\n")?;
        Ok(borrowing)
    }

    /// Replaces the user's objects by links to them, if git would now read a list there that is no small file.
    fn check_borrowed(&self) -> std::io::Result<()> {
        let dir = self.git_dir();
        let list = dir.join("objects/info/alternates");
        let Ok(line) = std::fs::read_to_string(&list) else {
            return Ok(());
        };
        let borrowed = Path::new(line.trim_end_matches('\n'));
        if line.is_empty() || borrowed.starts_with(&dir) {
            return Ok(());
        }
        let readable = alternates::readable(borrowed, &dir)?;
        if readable != borrowed {
            private(&list, format!("{}\n", readable.display()).as_bytes())?;
        }
        Ok(())
    }

    /// Runs a shell line that calls git, and returns its output. Blocks.
    fn git(
        &self,
        shadow: &mut Shadow,
        path: &str,
        script: &str,
        input: &[u8],
    ) -> Result<Vec<u8>, String> {
        let dirs = self.workspace.writable_dirs(&[]);
        let path = dirs.path_from("git", path).ok_or("`git` is not on PATH")?;
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|_| "there is no runtime here".to_owned())?;
        let dir = self.git_dir();
        self.check_borrowed().map_err(unwritable)?;
        // A killed git may have left it; the holder of `shadow` is the only one who works here.
        let _ = std::fs::remove_file(dir.join("index.lock"));
        // A separate file for this run: a killed git may still read its own.
        shadow.runs += 1;
        let list = dir.join(format!("input-{}-{}", std::process::id(), shadow.runs));
        private(&list, input).map_err(unwritable)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let env = [
            ("PATH", path),
            ("HOME", text(&dir)),
            ("LC_ALL", "C".to_owned()),
            ("GIT_DIR", text(&dir)),
            ("GIT_WORK_TREE", text(self.workspace.root())),
            ("GIT_INDEX_FILE", text(&dir.join("index"))),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
            // Attributes of the work tree are not read at all, where git knows how (2.41).
            ("GIT_ATTR_SOURCE", EMPTY_TREE.to_owned()),
            ("GIT_NO_REPLACE_OBJECTS", "1".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        ];
        let script = format!(
            "command -v git >/dev/null || exit 127; umask 077; ulimit -d {OWN_GIT_MEMORY_KIB}; exec <\"$0\"; {script}"
        );
        let argv = ["/bin/sh".to_owned(), "-c".to_owned(), script, text(&list)];
        let command = Command {
            argv: argv.to_vec(),
            cwd: self.workspace.root().to_owned(),
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            title: "git (checkpoint)".into(),
            number: None,
            sandbox: None,
            stdin: contract::Stdin::Empty,
            merge_stderr: false,
        };
        let run = collect(self.spawn.spawn(self.session, command));
        let ended = runtime.block_on(async move { tokio::time::timeout(TIME_MAX, run).await });
        // Best effort: an unused file does no harm.
        let _ = std::fs::remove_file(&list);
        ended.unwrap_or_else(|_| {
            let seconds = TIME_MAX.as_secs();
            Err(format!("git took longer than {seconds} s"))
        })
    }
}

fn unwritable(error: std::io::Error) -> String {
    format!("the session's directory cannot be written: {error}")
}

/// Writes a file that no other user can read (I32), whatever the umask is.
fn private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(bytes)
}

/// Adds the changes since the last tree: few files, each as a separate object.
const CHANGED: &str = "git update-index -z --force-remove --stdin <\"$GIT_DIR/gone\" && \
    git update-index -z --add --remove --replace --stdin && exec git write-tree";

/// Adds all files: in one pack if git can do that, instead of thousands of objects that are synced one by one. Before
/// 2.37, each would become a separate pack; those versions sync nothing.
const WHOLE: &str = "case $(git version) in \
    *' 2.'[0-9].*|*' 2.'[12][0-9].*|*' 2.3'[0-6].*|*' 1.'*) at=512m;; *) at=1;; esac; \
    git -c core.bigFileThreshold=$at update-index -z --add --remove --replace --stdin && \
    exec git write-tree";

const CONFIG: &str = "[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tsymlinks = true
\tautocrlf = false
\tignorecase = false
\tprotectNTFS = false
\tprotectHFS = false
\tfsmonitor = false
\thooksPath = /dev/null
\tlooseCompression = 1
\tfsync = pack,pack-metadata
[gc]
\tauto = 0
";

async fn collect(
    start: futures::future::BoxFuture<'static, Result<contract::Child, contract::SpawnError>>,
) -> Result<Vec<u8>, String> {
    let mut child = start.await.map_err(|error| error.to_string())?;
    let (mut printed, mut reported) = (Vec::new(), Vec::new());
    while let Some(event) = child.events.next().await {
        match event {
            ChildEvent::Stdout(bytes) => printed.extend(bytes),
            ChildEvent::Stderr(bytes) if reported.len() < 4096 => reported.extend(bytes),
            // It has no sandbox, so nothing is quarantined.
            ChildEvent::Stderr(_) | ChildEvent::Quarantined(_) => {}
            ChildEvent::Exited(exit) => {
                return match exit.code {
                    Some(0) => Ok(printed),
                    Some(127) => Err("`git` is not on PATH".into()),
                    _ => {
                        let reported = String::from_utf8_lossy(&reported);
                        let line = reported
                            .lines()
                            .next()
                            .unwrap_or("it gave no reason")
                            .trim();
                        Err(format!("git failed: {line}"))
                    }
                };
            }
        }
        if printed.len() > PRINT_MAX {
            return Err("git printed too much".into());
        }
    }
    Err("git's end was not reported".into())
}

/// `100644 blob 8ab686eafeb1f44702738c8b0f24f2567c36da6d      12<TAB>path`; if git has lost the object, `BAD` replaces
/// its length, but the path existed.
fn entry(line: &[u8]) -> Option<(PathBuf, Entry)> {
    let text = std::str::from_utf8(line).ok()?;
    let (head, path) = text.split_once('\t')?;
    let mut words = head.split_ascii_whitespace();
    let kind = match words.next()? {
        "120000" => Kind::Link,
        "100755" => Kind::Executable,
        "100644" => Kind::Plain,
        _ => return None,
    };
    let object = words.nth(1)?.to_owned();
    let bytes = words.next()?.parse().unwrap_or(0);
    let entry = Entry {
        kind,
        object,
        bytes,
    };
    Some((PathBuf::from(path), entry))
}

/// Parses the output of `cat-file --batch`: `<name> blob <bytes>`, the bytes, a newline; or `<name> missing`.
fn objects(printed: &[u8], count: usize) -> Vec<Option<Vec<u8>>> {
    let mut rest = printed;
    let mut next = || {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let (head, after) = rest.split_at(end);
        rest = after.get(1..)?;
        let head = std::str::from_utf8(head).ok()?;
        let bytes: usize = head.rsplit(' ').next()?.parse().ok()?;
        let content = rest.get(..bytes)?.to_vec();
        rest = rest.get(bytes + 1..)?;
        Some(content)
    };
    (0..count).map(|_| next()).collect()
}
