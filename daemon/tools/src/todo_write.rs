//! `todo_write`: the model's task list. Each call replaces the whole list.
//!
//! Only checks it: the session keeps it.

use contract::{CallAction, Family, Outcome, ToolSpec};
use proto::item::ToolKind;
use proto::record::{Todo, TodoStatus};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "Write the list of what is to be done, whole, each time: for work of three steps or more. One item at most is `in_progress`; mark each `completed` as soon as it is. `active_form` is the same in progress (\"Running the tests\").";

/// Items of a list.
const ITEMS_MAX: usize = 100;
/// Characters of an item's text.
const CHARS_MAX: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    todos: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    content: String,
    #[serde(default, alias = "activeForm")]
    active_form: String,
    status: Status,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Args {
    fn todos(&self) -> Vec<Todo> {
        self.todos.iter().map(todo).collect()
    }
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("items", "todos"), ("tasks", "todos"), ("list", "todos")];

    fn check(&self) -> Result<(), Outcome> {
        let todos = self.todos();
        if todos.len() > ITEMS_MAX {
            return Err(Outcome::refused(format!(
                "the list has {} items; {ITEMS_MAX} are the most: put some together",
                todos.len()
            )));
        }
        for (number, todo) in (1..).zip(&todos) {
            if todo.content.is_empty() {
                return Err(Outcome::refused(format!(
                    "item {number} has no `content`; say what is to be done"
                )));
            }
            let longest = todo
                .content
                .chars()
                .count()
                .max(todo.active_form.chars().count());
            if longest > CHARS_MAX {
                return Err(Outcome::refused(format!(
                    "item {number} has {longest} characters; {CHARS_MAX} are the most: say it shorter, or make several of it"
                )));
            }
        }
        let begun = todos
            .iter()
            .filter(|todo| todo.status == TodoStatus::InProgress);
        if begun.clone().count() > 1 {
            let named: Vec<String> = begun.map(|todo| format!("`{}`", todo.content)).collect();
            return Err(Outcome::refused(format!(
                "{} items are `in_progress` ({}); only one may be: make the others `pending` or `completed`",
                named.len(),
                named.join(", ")
            )));
        }
        Ok(())
    }
}

pub(crate) struct TodoWrite;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Todo,
        read_only: true,
        ..arguments::spec::<Args>("todo_write", DESCRIPTION, Family::Session)
            .with_names(Some("TodoWrite"), &[])
    }
}

impl TypedTool for TodoWrite {
    type Args = Args;

    fn preview(args: Args) -> String {
        format!("todo list of {} items", args.todos.len())
    }

    fn action(args: Args) -> CallAction {
        CallAction::UpdateTodos(args.todos())
    }
}

fn todo(item: &Item) -> Todo {
    let content = item.content.trim().to_owned();
    let active_form = match item.active_form.trim() {
        "" => content.clone(),
        form => form.to_owned(),
    };
    Todo {
        content,
        active_form,
        status: match item.status {
            Status::Pending => TodoStatus::Pending,
            Status::InProgress => TodoStatus::InProgress,
            Status::Completed => TodoStatus::Completed,
        },
    }
}

#[cfg(test)]
mod tests;
