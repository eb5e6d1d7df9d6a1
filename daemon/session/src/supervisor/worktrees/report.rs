//! What is said of a worktree: its changes, and the commands that take it over or delete it.

use proto::Pid;
use proto::params::worktree::{LeftBehind, LeftKind, WorktreeReport, WorktreeState};
use store::worktrees::Worktree;

use super::changes::WorktreeChanges;

/// Maximum number of changed paths in a report.
const CHANGED_MAX: usize = 200;
/// Maximum number of changed paths that the model of a parent reads.
const NAMED_MAX: usize = 20;

/// The report on a worktree, without its changes.
pub(super) fn bare(worktree: &Worktree, state: WorktreeState) -> WorktreeReport {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    WorktreeReport {
        state,
        path: text(&worktree.path),
        branch: worktree.branch.clone(),
        base: worktree.base.clone(),
        origin: text(source(worktree)),
        left_out: worktree.left_out,
        ..WorktreeReport::default()
    }
}

/// The report on a worktree that is there.
pub(super) fn with_changes(
    worktree: &Worktree,
    state: WorktreeState,
    pid: Pid,
    mut changes: WorktreeChanges,
) -> WorktreeReport {
    let more = changes.changed.len().saturating_sub(CHANGED_MAX);
    changes.changed.truncate(CHANGED_MAX);
    let take_over = take_over(worktree, pid, &changes);
    WorktreeReport {
        changed: changes.changed,
        more: u64::try_from(more).unwrap_or(u64::MAX),
        commits: changes.commits,
        unfinished: changes.unfinished,
        take_over,
        left_behind: changes.left_behind,
        delete: Some(delete_command(worktree, !changes.branch_gone)),
        ..bare(worktree, state)
    }
}

/// The commands that bring the changes into the checkout.
fn take_over(worktree: &Worktree, pid: Pid, changes: &WorktreeChanges) -> Vec<String> {
    // They would commit what is half merged.
    if changes.unfinished {
        return Vec::new();
    }
    let path = word(&worktree.path.to_string_lossy());
    let origin = word(&source(worktree).to_string_lossy());
    let mut commands = Vec::new();
    if changes.uncommitted {
        commands.push(format!(
            "git -C {path} add -A && git -C {path} commit -m 'Work of session {pid}'"
        ));
    }
    let has_work = changes.uncommitted || changes.commits > 0;
    if has_work && (changes.on_branch || !changes.elsewhere) {
        let branch = word(&worktree.branch);
        commands.push(format!("git -C {origin} merge {branch}"));
    }
    if has_work && changes.elsewhere {
        // Read when it is merged: what is not committed yet comes with it.
        let head = format!("\"$(git -C {path} rev-parse HEAD)\"");
        commands.push(format!("git -C {origin} merge {head}"));
    }
    commands
}

/// The checkout that it was made from.
fn source(worktree: &Worktree) -> &std::path::Path {
    worktree.source.as_ref().unwrap_or(&worktree.origin)
}

/// The report on a worktree that could not be looked at or removed.
pub(super) fn unknown(worktree: &Worktree, reason: String) -> WorktreeReport {
    let bare = bare(worktree, WorktreeState::Unknown);
    WorktreeReport {
        reason: Some(reason),
        delete: Some(delete_command(worktree, true)),
        ..bare
    }
}

/// In the user's checkout: a worktree that it was made from may be gone by then.
fn delete_command(worktree: &Worktree, has_branch: bool) -> String {
    let path = |path: &std::path::Path| word(&path.to_string_lossy());
    let (path, origin) = (path(&worktree.path), path(&worktree.origin));
    let remove = format!("git -C {origin} worktree remove --force --force {path}");
    match has_branch {
        true => {
            let branch = word(&worktree.branch);
            format!("{remove} && git -C {origin} branch -D {branch}")
        }
        false => remove,
    }
}

/// A text as one word of a shell line.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// For the model of the session that started the agent which worked there.
pub(crate) fn text_for_parent(report: &WorktreeReport) -> String {
    let WorktreeReport {
        path,
        branch,
        base,
        origin,
        left_out,
        ..
    } = report;
    let short = base.get(..10).unwrap_or(base);
    let delete = report.delete.as_deref().unwrap_or_default();
    let mut text = match report.state {
        WorktreeState::Removed => {
            "[worktree] The agent changed nothing in its git worktree, which was removed."
                .to_owned()
        }
        WorktreeState::Unknown => {
            let reason = report.reason.as_deref().unwrap_or_default();
            format!(
                "[worktree] The agent worked in the git worktree `{path}` on branch `{branch}`. Its changes could not be determined ({reason}); it stays there. To delete it: `{delete}`."
            )
        }
        WorktreeState::InUse | WorktreeState::Kept => {
            format!(
                "[worktree] The agent worked in the git worktree `{path}` on branch `{branch}`, made from commit {short}. The files of your checkout are unchanged. Commits: {}. Changed files: {}.\n{}To delete it: `{delete}`.",
                report.commits,
                named(report),
                how_to_take_over(report),
            )
        }
    };
    if !report.left_behind.is_empty() {
        text.push_str(&format!(
            "\nNot in these commits and files: {}.",
            left_behind(report)
        ));
    }
    if *left_out > 0 {
        text.push_str(&format!(
            "\nIt started from the last commit: the uncommitted changes of {left_out} paths in `{origin}` were not in it."
        ));
    }
    text
}

fn how_to_take_over(report: &WorktreeReport) -> String {
    let commands = report.take_over.iter().map(|line| format!("`{line}`"));
    let commands: Vec<_> = commands.collect();
    match (report.unfinished, commands.is_empty()) {
        (true, _) => format!(
            "A merge, rebase, cherry-pick or revert is not finished there: finish or abort it before you take anything over (`git -C {} status` says how). ",
            word(&report.path)
        ),
        (false, true) => String::new(),
        (false, false) => format!("To take it over: {}. ", commands.join(", then ")),
    }
}

/// What else the agent left, by kind.
fn left_behind(report: &WorktreeReport) -> String {
    let words = |left: &LeftBehind| {
        let name = &left.name;
        match left.kind {
            LeftKind::Commit => format!("commit {name}"),
            LeftKind::Stash => format!("stash {name}"),
            LeftKind::Repository => format!("files in the nested repository `{name}`"),
            LeftKind::Worktree => format!("the worktree `{name}`, which was made from it"),
        }
    };
    let words: Vec<_> = report.left_behind.iter().map(words).collect();
    words.join("; ")
}

/// The first of the changed paths.
fn named(report: &WorktreeReport) -> String {
    if report.changed.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<_> = report.changed.iter().take(NAMED_MAX).cloned().collect();
    let hidden = report.changed.len().saturating_sub(NAMED_MAX);
    let hidden = u64::try_from(hidden).unwrap_or(u64::MAX);
    match hidden.saturating_add(report.more) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worktree() -> Worktree {
        Worktree {
            path: "/home/ann/it's mine.worktrees/1a".into(),
            branch: "reasonix/1a".into(),
            base: "0123456789abcdef".into(),
            origin: "/home/ann/it's mine".into(),
            common: "/home/ann/it's mine/.git".into(),
            source: None,
            left_out: 0,
            search_path: String::new(),
            made_by: proto::RequestId::new(),
            kept: false,
        }
    }

    #[test]
    fn paths_in_commands_are_one_word_of_the_shell() {
        assert_eq!(word("/a/b-c.worktrees/1"), "/a/b-c.worktrees/1");
        assert_eq!(word("/a b/$c"), "'/a b/$c'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word(""), "''");
        let changes = WorktreeChanges {
            changed: vec!["a".into()],
            commits: 0,
            uncommitted: true,
            ..WorktreeChanges::default()
        };
        let report = with_changes(&worktree(), WorktreeState::Kept, Pid(7), changes);
        let path = "'/home/ann/it'\\''s mine.worktrees/1a'";
        assert_eq!(
            report.take_over,
            [
                format!("git -C {path} add -A && git -C {path} commit -m 'Work of session 7'"),
                "git -C '/home/ann/it'\\''s mine' merge reasonix/1a".to_owned()
            ]
        );
        assert!(report.delete.expect("a command").contains(path));
    }

    #[test]
    fn worktree_of_a_worktree_is_merged_into_that_and_deleted_from_the_checkout() {
        let nested = Worktree {
            source: Some("/w/a.worktrees/1".into()),
            origin: "/w/a".into(),
            path: "/w/a.worktrees/2".into(),
            ..worktree()
        };
        let changes = WorktreeChanges {
            changed: vec!["a".into()],
            commits: 1,
            uncommitted: false,
            ..WorktreeChanges::default()
        };
        let report = with_changes(&nested, WorktreeState::Kept, Pid(7), changes);
        assert_eq!(report.origin, "/w/a.worktrees/1");
        assert_eq!(
            report.take_over,
            ["git -C /w/a.worktrees/1 merge reasonix/1a"]
        );
        let delete = report.delete.expect("a command");
        assert!(
            delete.starts_with("git -C /w/a worktree remove"),
            "{delete}"
        );
    }

    #[test]
    fn committed_changes_only_need_a_merge() {
        let changes = WorktreeChanges {
            changed: (0..250).map(|at| format!("f{at:03}")).collect(),
            commits: 2,
            uncommitted: false,
            ..WorktreeChanges::default()
        };
        let report = with_changes(&worktree(), WorktreeState::Kept, Pid(7), changes);
        assert_eq!(report.take_over.len(), 1, "{report:?}");
        assert_eq!((report.changed.len(), report.more), (200, 50));
        let text = text_for_parent(&report);
        assert!(text.contains("f019 and 230 more."), "{text}");
    }
}
