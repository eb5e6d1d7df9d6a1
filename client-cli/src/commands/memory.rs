//! `reasonix memory`: facts that outlive sessions, as the user sees and changes them.

use clap::Subcommand;
use client::Client;
use proto::hello::Role;
use proto::methods::{
    MemoryForget, MemoryList, MemoryRead, MemoryRestore, MemorySearch, MemoryWrite,
};
use proto::params::memory::{
    FactInfo, FactOutput, FactType, ForgetParams, ListOutput, ListParams, ReadParams,
    RestoreParams, SearchParams, WriteParams,
};

use super::here;
use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::messages::{Head, language};
use crate::{output, reach, text};

/// Show and change memory: facts that later sessions know.
///
/// Facts are Markdown files in `$REASONIX_HOME/memory` (for all projects) and in `$REASONIX_HOME/projects`. New sessions
/// have a line for each. Without a command: the facts that a session here knows.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    /// Print only the id or name of each, one per line.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    #[command(subcommand)]
    what: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List facts by name.
    List {
        /// Include archived versions.
        #[arg(long)]
        archived: bool,
        /// Print only the id or name of each, one per line.
        #[arg(short, long, conflicts_with = "json")]
        quiet: bool,
    },
    /// Print a fact.
    Show {
        /// Name of the fact.
        name: String,
    },
    /// Search facts, best match first.
    Search {
        /// Words to find.
        #[arg(required = true)]
        words: Vec<String>,
        /// Print only the id or name of each, one per line.
        #[arg(short, long, conflicts_with = "json")]
        quiet: bool,
    },
    /// Save a new fact.
    Add(Box<Add>),
    /// Change a fact: with the given options, else its text in `$EDITOR`.
    Edit(Box<Edit>),
    /// Move a fact to the archive.
    Forget {
        /// Name of the fact.
        name: String,
    },
    /// Make an archived version of a fact active again.
    Restore {
        /// Name of the fact.
        name: String,
        /// Version, as `list --archived` shows it [default: the newest].
        #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 2))]
        version: Option<u64>,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// Name: lower-case letters, digits, `-` and `_`.
    name: String,
    /// Text of the fact.
    #[arg(required = true)]
    content: Vec<String>,
    /// One line for the list [default: the start of the text].
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// What it is about: `user` and `feedback` hold in all projects.
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "project", value_parser = fact_type)]
    fact_type: FactType,
    /// Last day on which it holds.
    #[arg(long, value_name = "YYYY-MM-DD")]
    expires: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Edit {
    /// Name of the fact.
    name: String,
    /// New text.
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// New line for the list.
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// New type.
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = fact_type)]
    fact_type: Option<FactType>,
    /// Last day on which it holds; empty: no such day.
    #[arg(long, value_name = "YYYY-MM-DD")]
    expires: Option<String>,
    /// Fact that replaces it; empty: it holds.
    #[arg(long, value_name = "NAME")]
    superseded_by: Option<String>,
}

fn fact_type(word: &str) -> Result<FactType, String> {
    FactType::named(word).ok_or_else(|| FactType::ALL.map(FactType::as_str).join(", "))
}

/// Runs the command.
pub async fn run(args: Args) -> Result<u8, Error> {
    let what = args.what.unwrap_or(Action::List {
        archived: false,
        quiet: args.quiet,
    });
    let role = match what {
        Action::List { .. } | Action::Show { .. } | Action::Search { .. } => Role::Watch,
        Action::Add(_) | Action::Edit(_) | Action::Forget { .. } | Action::Restore { .. } => {
            Role::Drive
        }
    };
    let client = reach::with("memory", |options| options.role = role).await?;
    let cwd = here(true)?;
    let json = args.json;
    match what {
        Action::List { archived, quiet } => {
            let params = ListParams {
                cwd,
                archived,
                ..ListParams::default()
            };
            list(&client.call::<MemoryList>(&params).await?, json, quiet)?;
        }
        Action::Search { words, quiet } => {
            let params = SearchParams {
                cwd,
                query: words.join(" "),
                ..SearchParams::default()
            };
            list(&client.call::<MemorySearch>(&params).await?, json, quiet)?;
        }
        Action::Show { name } => show(&read(&client, cwd, name).await?, json)?,
        Action::Add(add) => {
            let new = WriteParams::new_fact(add.name, add.content.join(" "));
            let params = WriteParams {
                cwd,
                description: add.description.unwrap_or(new.description),
                fact_type: add.fact_type,
                expires: add.expires,
                ..new
            };
            saved(&client.call::<MemoryWrite>(&params).await?, json)?;
        }
        Action::Edit(edit) => saved(&change(&client, cwd, *edit).await?, json)?,
        Action::Forget { name } => {
            let params = ForgetParams {
                cwd,
                name,
                ..ForgetParams::default()
            };
            let gone = client.call::<MemoryForget>(&params).await?;
            done(&gone, json, Msg::FactForgotten)?;
        }
        Action::Restore { name, version } => {
            let params = RestoreParams {
                cwd,
                name,
                version,
                ..RestoreParams::default()
            };
            saved(&client.call::<MemoryRestore>(&params).await?, json)?;
        }
    }
    Ok(0)
}

async fn read(client: &Client, cwd: Option<String>, name: String) -> Result<FactOutput, Error> {
    let params = ReadParams {
        cwd,
        name,
        ..ReadParams::default()
    };
    Ok(client.call::<MemoryRead>(&params).await?)
}

async fn change(client: &Client, cwd: Option<String>, edit: Edit) -> Result<FactOutput, Error> {
    let before = read(client, cwd.clone(), edit.name).await?;
    let marks = edit.expires.is_some() || edit.superseded_by.is_some();
    let given = edit.description.is_some() || edit.fact_type.is_some() || marks;
    let content = match edit.content {
        Some(content) => content,
        None if given => before.content,
        None => edited(&before.content).await?,
    };
    let changed = WriteParams::changed(before.fact, content);
    let params = WriteParams {
        cwd,
        description: edit.description.unwrap_or(changed.description),
        fact_type: edit.fact_type.unwrap_or(changed.fact_type),
        expires: edit.expires.or(changed.expires),
        superseded_by: edit.superseded_by.or(changed.superseded_by),
        ..changed
    };
    Ok(client.call::<MemoryWrite>(&params).await?)
}

/// The text as the user's editor left it.
async fn edited(before: &str) -> Result<String, Error> {
    let command = client_tui::editor::command(|name| std::env::var(name).ok());
    let edited = client_tui::editor::edit(&command, before, language()).await;
    edited.map_err(|trouble| Error::usage(trouble.what, trouble.hint))
}

fn list(list: &ListOutput, json: bool, quiet: bool) -> Result<(), Error> {
    if json {
        return output::json(list);
    }
    if quiet {
        return output::names(list.facts.iter().map(|fact| fact.name.as_str()));
    }
    if list.facts.is_empty() {
        output::progress(say!(Msg::NoFacts));
    } else {
        let rows: Vec<_> = list.facts.iter().map(row).collect();
        output::table([Head::Name, Head::What, Head::Kind, Head::State], &rows)?;
    }
    super::print_problems(&list.problems);
    Ok(())
}

fn row(fact: &FactInfo) -> [String; 4] {
    let kind = fact.fact_type.as_str();
    let expires = fact.expires.as_deref().unwrap_or_default();
    let state = match (&fact.archived, &fact.superseded_by) {
        (Some(version), _) => say!(Msg::FactArchived, version),
        (None, Some(by)) => say!(Msg::FactSuperseded, text::line(by)),
        (None, None) if fact.stale => say!(Msg::FactExpired, expires),
        (None, None) => String::new(),
    };
    [
        text::line(&fact.name),
        text::line(&fact.description),
        kind.to_owned(),
        state,
    ]
}

fn show(shown: &FactOutput, json: bool) -> Result<(), Error> {
    if json {
        return output::json(shown);
    }
    let fact = &shown.fact;
    output::line(&text::line(&format!("{}: {}", fact.name, fact.description)))?;
    let source = fact.source.as_deref().map(|id| format!("session {id}"));
    let marks = [
        ("type", Some(fact.fact_type.as_str().to_owned())),
        ("updated", fact.updated.clone()),
        ("source", source),
        ("expires", fact.expires.clone()),
        ("superseded_by", fact.superseded_by.clone()),
        ("file", Some(fact.file.clone())),
    ];
    for (name, value) in marks {
        if let Some(value) = value {
            output::named(name, &text::line(&value))?;
        }
    }
    output::line("")?;
    output::line(&text::Cleaner::default().push(&shown.content))
}

fn saved(saved: &FactOutput, json: bool) -> Result<(), Error> {
    done(saved, json, Msg::FactSaved)
}

fn done(fact: &FactOutput, json: bool, message: Msg) -> Result<(), Error> {
    if json {
        return output::json(fact);
    }
    let name = text::line(&fact.fact.name);
    output::progress(&say!(message, name));
    if let (Some(day), true) = (&fact.fact.expires, fact.fact.stale) {
        output::progress(&say!(Msg::FactIsStale, name, text::line(day)));
    }
    Ok(())
}
