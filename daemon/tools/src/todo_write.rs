//! `todo_write`: the list of what the model has set out to do, written anew each time.
//!
//! Here it is only checked: the session keeps it.

use contract::{CallAction, CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use proto::item::{Display, ToolKind};
use proto::record::{Todo, TodoStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

/// Items of a list.
const ITEMS_MAX: usize = 100;
/// Characters of an item's text.
const CHARS_MAX: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
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

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("items", "todos"), ("tasks", "todos"), ("list", "todos")];
}

pub(crate) struct TodoWrite {
    spec: ToolSpec,
}

impl TodoWrite {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                kind: ToolKind::Todo,
                read_only: true,
                ..arguments::spec::<Args>(
                    "todo_write",
                    include_str!("todo_write.md"),
                    Family::Session,
                )
                .with_names(Some("TodoWrite"), &[])
            },
        }
    }
}

impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let arguments = arguments::canonical::<Args>(&self.spec.schema, arguments)?;
        todos(arguments.clone())?;
        Ok(arguments)
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let todos = todos(arguments.clone())?;
        Ok(Preview {
            display: Display::Line {
                text: format!("todo list of {} items", todos.len()),
            },
        })
    }

    fn action(&self, arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        todos(arguments.clone()).map(CallAction::UpdateTodos)
    }
}

/// The list, checked.
fn todos(arguments: Map<String, Value>) -> Result<Vec<Todo>, Outcome> {
    let Args { todos } = arguments::typed(arguments)?;
    if todos.len() > ITEMS_MAX {
        return Err(Outcome::refused(format!(
            "the list has {} items; {ITEMS_MAX} are the most: put some together",
            todos.len()
        )));
    }
    let todos: Vec<Todo> = todos.into_iter().map(todo).collect();
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
    Ok(todos)
}

fn todo(item: Item) -> Todo {
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
