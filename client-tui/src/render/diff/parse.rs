//! A unified diff, line by line, with the numbers that its lines have.

/// Kinds of diff lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Context,
    Added,
    Removed,
    /// Something about the file or the line before: that it has no newline at its end, that it is binary.
    Note,
    /// Lines that are not shown.
    Gap,
}

/// A line of a diff.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) old: Option<u64>,
    pub(super) new: Option<u64>,
    /// Invisible characters are spelled out, except tabs.
    pub(super) text: String,
}

/// The line numbers of the next line in both files, and how many lines of the hunk are left.
#[derive(Default)]
struct HunkPosition {
    old: u64,
    new: u64,
    old_left: u64,
    new_left: u64,
}

/// The lines to be shown. The names of the files are not: who shows the diff has them.
pub(super) fn rows(diff: &str) -> Vec<Row> {
    let all_cr = carriage_returns(diff);
    let mut rows = Vec::new();
    let mut place: Option<HunkPosition> = None;
    for line in diff.strip_suffix('\n').unwrap_or(diff).split('\n') {
        if let Some(next) = hunk(line, place.as_ref()) {
            if place.is_some() {
                rows.push(Row {
                    kind: Kind::Gap,
                    old: None,
                    new: None,
                    text: String::new(),
                });
            }
            place = Some(next);
            continue;
        }
        let inside = place
            .as_ref()
            .is_some_and(|place| place.old_left + place.new_left > 0);
        if !inside && is_header(line) {
            continue;
        }
        let line = match all_cr {
            true => line.strip_suffix('\r').unwrap_or(line),
            false => line,
        };
        rows.push(row(line, place.as_mut()));
    }
    rows
}

/// The beginning of a hunk: `@@ -1,7 +1,8 @@`.
fn hunk(line: &str, place: Option<&HunkPosition>) -> Option<HunkPosition> {
    if place.is_some_and(|place| place.old_left + place.new_left > 0) {
        return None;
    }
    let ranges = line.strip_prefix("@@ -")?;
    let (old, rest) = ranges.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |range: &str| -> Option<(u64, u64)> {
        match range.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((range.parse().ok()?, 1)),
        }
    };
    let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
    let most = u64::from(u32::MAX);
    let (old_left, new_left) = (old_left.min(most), new_left.min(most));
    Some(HunkPosition {
        old,
        new,
        old_left,
        new_left,
    })
}

/// Whether the line only names the files.
fn is_header(line: &str) -> bool {
    let known = ["--- ", "+++ ", "diff --git ", "index "];
    known.iter().any(|start| line.starts_with(start))
}

fn row(line: &str, place: Option<&mut HunkPosition>) -> Row {
    let note = |text: &str| Row {
        kind: Kind::Note,
        old: None,
        new: None,
        text: safe(text),
    };
    let Some(place) = place else {
        // Outside a hunk there are no line numbers, but the marks still count.
        let kind = match line.chars().next() {
            Some('+') => Kind::Added,
            Some('-') => Kind::Removed,
            Some(' ') | None => Kind::Context,
            Some(_) => return note(line),
        };
        let text = safe(line.get(1..).unwrap_or_default());
        return Row {
            kind,
            old: None,
            new: None,
            text,
        };
    };
    let (kind, text) = match line.chars().next() {
        Some('+') => (Kind::Added, line.get(1..)),
        Some('-') => (Kind::Removed, line.get(1..)),
        Some(' ') => (Kind::Context, line.get(1..)),
        None => (Kind::Context, Some(line)),
        Some(_) => return note(line),
    };
    let old = (kind != Kind::Added).then_some(place.old);
    let new = (kind != Kind::Removed).then_some(place.new);
    if old.is_some() {
        place.old = place.old.saturating_add(1);
        place.old_left = place.old_left.saturating_sub(1);
    }
    if new.is_some() {
        place.new = place.new.saturating_add(1);
        place.new_left = place.new_left.saturating_sub(1);
    }
    let text = safe(text.unwrap_or_default());
    Row {
        kind,
        old,
        new,
        text,
    }
}

/// Whether all lines of the files end in CR LF: then it is not repeated at each of them.
fn carriage_returns(diff: &str) -> bool {
    let mut lines = diff
        .split('\n')
        .filter(|line| line.starts_with([' ', '+', '-']) && !is_header(line))
        .peekable();
    lines.peek().is_some() && lines.all(|line| line.ends_with('\r'))
}

/// The text with invisible characters spelled out. Tabs stay, and become blanks when the line is drawn.
fn safe(text: &str) -> String {
    let (text, end) = match text.strip_suffix('\r') {
        Some(text) => (text, "␍"),
        None => (text, ""),
    };
    let parts: Vec<String> = text.split('\t').map(client::text::exact).collect();
    parts.join("\t") + end
}
