//! The summary of a compaction: the prompt that asks for it, the mechanical one, and the message that contains it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proto::ItemId;
use proto::item::{Item, UserMessage, Voice};
use proto::record::{Todo, TodoStatus};

use super::plan::ConversationMessage;
use contract::first_line;

/// The first lines of a summary message.
const HEAD: &str = "<summary>\nWhat was said and done before has been folded into this summary. The user's shorter messages stand above word for word; the newest messages follow.\n\n";
/// The same of a summary that stands before all other messages.
const HEAD_FIRST: &str = "<summary>\nWhat was said and done before has been folded into this summary. The user's shorter messages follow word for word, then the newest messages.\n\n";
const END: &str = "\n</summary>";
/// The first line of a message with the state of the work, behind a summary that cannot hold it.
const STATE: &str = "<state>\nThe state of the work when older messages were folded:";
const STATE_END: &str = "\n</state>";
/// Marks a summary that was built without the model.
const MECHANICAL: &str = "(No summary could be written; this is only a list.)\n";
/// Maximum bytes of an earlier summary in a mechanical one.
const EARLIER_MAX: usize = 2_000;
/// Maximum entries of each list in a mechanical summary.
const LISTED: usize = 40;

/// State that is restated after a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestatedState {
    pub todos: Vec<Todo>,
    /// The most recently approved plan.
    pub plan: Option<String>,
    /// The most recently edited files, newest first.
    pub files: Vec<EditedFile>,
}

/// A file that the session has edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    pub path: String,
    /// Lines touched by the newest change, first and last of each range.
    pub lines: Vec<(u64, u64)>,
}

/// The prompt that asks the model for a summary of at most so many words.
#[must_use]
pub fn demand(
    instructions: &str,
    messages: &[ConversationMessage],
    fold: &[usize],
    words: u64,
) -> String {
    let words = match words {
        1_000.. => format!("{},{:03}", words / 1_000, words % 1_000),
        _ => words.to_string(),
    };
    let mut text = format!(
        "The conversation is near the end of your context. Write a summary that stands in the place of everything above but the user's own messages, so that you can go on with it alone. Call no tools, and write nothing but the summary, in at most {words} words, under these headings (leave out what is empty):\n\
        ## Goal\n## Decisions, with their reasons\n## Files and symbols that were read or changed, and what is known of them\n## Commands and their outcomes\n## Errors, and what repaired them\n## Open ends, and the next step\n\
        Name paths, symbols, numbers and error messages exactly. The user's shorter messages stay as they are: do not repeat them."
    );
    let spoken = fold.iter().filter_map(|at| match &messages.get(*at)?.item {
        Item::User(user) if user.voice.is_user() => Some(first_line(&user.text)),
        _ => None,
    });
    let spoken: Vec<_> = spoken.collect();
    if !spoken.is_empty() {
        text.push_str("\nThese messages of the user are too long to stay, and go: keep every demand and every fact of them.");
        for line in &spoken {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- {line} …");
        }
    }
    let is_earlier = |at: &usize| {
        let message = messages.get(*at).map(|message| &message.item);
        matches!(message, Some(Item::User(user)) if is_summary(user))
    };
    if fold.iter().any(is_earlier) {
        text.push_str("\nEarlier summaries will be removed too: keep what still counts of them.");
    }
    if !instructions.trim().is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\nThe user asks of it: {}", instructions.trim());
    }
    text
}

/// The id of a summary message.
pub(super) fn item_id(number: u64) -> ItemId {
    ItemId(format!("d{number}"))
}

/// Whether a message is the summary of a compaction.
#[must_use]
pub fn is_summary(message: &UserMessage) -> bool {
    let heads = [HEAD, HEAD_FIRST];
    message.voice == Voice::Daemon && heads.iter().any(|head| message.text.starts_with(head))
}

/// What a summary message says, without its first lines and its end.
fn content(text: &str) -> &str {
    let heads = [HEAD, HEAD_FIRST];
    let inside = heads.iter().find_map(|head| text.strip_prefix(head));
    let inside = inside.unwrap_or(text);
    inside.strip_suffix(END).unwrap_or(inside)
}

/// The text of a summary message, as the model sees it.
pub(super) fn wrapped(text: &str, restated: &RestatedState, mechanical: bool) -> String {
    let mut whole = HEAD.to_owned();
    if mechanical {
        whole.push_str(MECHANICAL);
    }
    whole.push_str(text.trim());
    restate(&mut whole, restated);
    whole.push_str(END);
    whole
}

/// A summary of at most this many bytes: what is longer is cut at the end of a line, if there is one near.
pub(super) fn cut(text: &str, room: usize) -> String {
    const CUT: &str = "\n[The rest was cut off to save room.]";
    if text.len() <= room {
        return text.to_owned();
    }
    let mut end = room.saturating_sub(CUT.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let line = head.rfind('\n').filter(|line| *line >= end / 2);
    format!("{}{CUT}", &head[..line.unwrap_or(end)])
}

/// The text of a summary message that stands before all others. It holds no state of the work.
pub(super) fn wrapped_first(text: &str) -> String {
    format!("{HEAD_FIRST}{}{END}", text.trim())
}

/// The text of a message with the state of the work. Empty if there is none.
pub(super) fn state(restated: &RestatedState) -> String {
    let mut text = String::new();
    restate(&mut text, restated);
    match text.is_empty() {
        true => text,
        false => format!("{STATE}{text}{STATE_END}"),
    }
}

fn restate(text: &mut String, restated: &RestatedState) {
    if !restated.todos.is_empty() {
        text.push_str("\n\n## Todo list as it stands");
        for todo in &restated.todos {
            let mark = match todo.status {
                TodoStatus::Pending => " ",
                TodoStatus::InProgress => "~",
                TodoStatus::Completed => "x",
            };
            let _ = write!(text, "\n- [{mark}] {}", todo.content);
        }
    }
    if let Some(plan) = &restated.plan {
        let _ = write!(text, "\n\n## The approved plan\n{}", plan.trim());
    }
    if !restated.files.is_empty() {
        text.push_str("\n\n## Files edited last");
        for file in &restated.files {
            let _ = write!(text, "\n- {}", file.path);
            let runs = file.lines.iter();
            let runs: Vec<_> = runs
                .map(|(first, last)| format!("{first}-{last}"))
                .collect();
            if !runs.is_empty() {
                let _ = write!(text, ":{}", runs.join(","));
            }
        }
    }
}

/// Builds a summary without the model: the newest earlier summary among the folded messages, first lines of user messages, tools used, first lines of the newest answers.
#[must_use]
pub fn mechanical(messages: &[ConversationMessage], fold: &[usize]) -> String {
    let folded = || fold.iter().filter_map(|at| messages.get(*at));
    let mut tools: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut topics, mut said, mut earlier) = (Vec::new(), Vec::new(), Vec::new());
    for message in folded() {
        match &message.item {
            Item::User(user) if user.voice.is_user() => {
                topics.push(first_line(&user.text));
            }
            Item::User(user) if is_summary(user) => earlier.push(content(&user.text)),
            Item::User(_) => {}
            Item::Assistant(answer) => {
                if !answer.text.trim().is_empty() {
                    said.push(first_line(&answer.text));
                }
                for call in &answer.calls {
                    *tools.entry(&call.name).or_default() += 1;
                }
            }
            Item::Tool(_) => {}
        }
    }
    let mut text = String::new();
    // The newest says most of what counts now.
    if let Some(newest) = earlier.last() {
        let _ = write!(
            text,
            "\n## An earlier summary\n{}\n",
            cut(newest, EARLIER_MAX)
        );
    }
    list(&mut text, "The user's longer messages began", &topics);
    let used = tools
        .iter()
        .map(|(tool, times)| format!("{tool}: {times} times"));
    list(
        &mut text,
        "Tools that were called",
        &used.collect::<Vec<_>>(),
    );
    list(&mut text, "Answers began", &said);
    text
}

/// The list that replaces the beginning of a conversation that is too long to send whole.
#[must_use]
pub fn beginning(messages: &[ConversationMessage], left_out: &[usize]) -> String {
    let list = mechanical(messages, left_out);
    format!(
        "[The beginning of the conversation is too long to be shown here. Take over into the summary what this list says of it.]\n{list}"
    )
}

/// Appends the newest lines under a heading.
fn list(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "\n## {heading}");
    for line in &lines[lines.len().saturating_sub(LISTED)..] {
        let _ = write!(text, "\n- {line}");
    }
    text.push('\n');
}
