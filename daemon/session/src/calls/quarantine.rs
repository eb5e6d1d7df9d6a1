//! Protected names that came while commands ran: the report, the question, and putting them back.
//!
//! The spawner finds them and moves them away. Here it is put into words, and handed to the next call that ends, whose
//! question decides about it.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{Outcome, Quarantined, Spawn};
use proto::item::CallStatus;
use proto::record::{Level, Notice};

use crate::tasks;

/// The notice for people about one of them.
pub fn notice(item: &Quarantined) -> Notice {
    let text = match (&item.kept, &item.problem) {
        (Some(kept), _) if item.restored => format!(
            "`{}` was replaced while a command ran, and can run more than before. The command may have done that, so it was moved to `{kept}`, and the original is back. To take it: mv {} {}",
            item.path,
            quoted(kept),
            quoted(&item.path),
        ),
        (None, None) => format!(
            "`{}` was replaced by another program while a command ran, and the command could change it from then on: look at it.",
            item.path,
        ),
        (Some(kept), _) => format!(
            "`{}` appeared while a command ran. It can configure or run something, so it was moved to `{kept}`. To take it back: mv {} {}",
            item.path,
            quoted(kept),
            quoted(&item.path),
        ),
        (None, problem) => format!(
            "`{}` appeared while a command ran. It can configure or run something, and could not be moved away ({}): look at it.",
            item.path,
            problem.as_deref().unwrap_or("unknown"),
        ),
    };
    Notice {
        level: Level::Warning,
        text,
    }
}

/// A word of a shell.
fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// Adds to the outcome of a call what the model must know of them.
pub fn note_for_model(outcome: &mut Outcome, items: &[Quarantined]) {
    let reported = items
        .iter()
        .filter(|item| item.kept.is_some() || item.problem.is_some());
    let paths: Vec<_> = reported
        .map(|item| match item.restored {
            true => format!("`{}` (the original is back)", item.path),
            false => format!("`{}`", item.path),
        })
        .collect();
    if paths.is_empty() {
        return;
    }
    outcome.text = format!(
        "{}\n\n[Reasonix moved away files that appeared or changed while a command ran: {}. They can configure or run something, so only the user decides whether they come back.]\n",
        outcome.text.trim_end_matches('\n'),
        paths.join(", "),
    );
}

/// Puts them back, and says the outcome in words for the model.
pub async fn put_back(spawn: Arc<dyn Spawn>, items: Vec<Quarantined>) -> Outcome {
    let done = tasks::blocking(move || {
        let mut lines = Vec::new();
        let mut status = CallStatus::Ok;
        for item in items {
            lines.push(match spawn.put_back(&item) {
                Ok(()) => format!("The user had `{}` put back.", item.path),
                Err(why) => {
                    status = CallStatus::Failed;
                    let kept = item.kept.unwrap_or_default();
                    format!(
                        "The user had `{}` put back, which failed ({why}): it is still at `{kept}`.",
                        item.path
                    )
                }
            });
        }
        Outcome::with_status(status, lines.join("\n"))
    });
    done.await
        .unwrap_or_else(|_| Outcome::failed("It could not be put back: a bug in Reasonix."))
}

/// Lets a file tool create these paths, which a person has approved. Commands that run have not made them.
pub async fn expect(spawn: Arc<dyn Spawn>, paths: Vec<PathBuf>) {
    // It may wait for a look at the disk.
    let _ = tasks::blocking(move || spawn.expect(&paths)).await;
}

#[cfg(test)]
mod tests;
