//! `reasonix permissions check`: a file of cases, run by the daemon in portions that fit a frame.

use std::path::Path;

use client::Client;
use proto::methods::RulesCheck;
use proto::params::rules::{CheckParams, Checked};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::exit::Error;
use crate::messages::asking::Msg;
use crate::messages::common::Msg as Common;
use crate::{output, text};

/// Cases in a portion: its answer comes soon.
const CASES: usize = 64;
/// Bytes of a portion.
const BYTES: usize = 1024 * 1024;

/// What a case came to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Line<'a> {
    id: &'a str,
    /// `allow`, `ask` or `deny`; `error` where the case is none.
    verdict: &'a str,
    /// The rule that decided, or what took its place.
    rule: &'a str,
    /// Whether the verdict is right.
    ok: bool,
}

/// What all cases came to.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Summary {
    cases: u64,
    ok: u64,
    hostile: u64,
    hostile_allowed: u64,
    honest: u64,
    honest_allowed: u64,
}

impl Summary {
    fn take(&mut self, checked: &Checked) {
        let allowed = u64::from(checked.verdict == "allow");
        self.cases += 1;
        self.ok += u64::from(checked.ok);
        if checked.hostile {
            self.hostile += 1;
            self.hostile_allowed += allowed;
        }
        if checked.honest {
            self.honest += 1;
            self.honest_allowed += allowed;
        }
    }
}

/// Runs all cases, in their order.
pub async fn run(file: &Path, json: bool) -> Result<u8, Error> {
    let cases = read(file)?;
    let client = super::watching().await?;
    let mut summary = Summary::default();
    let mut wrong = Vec::new();
    for portion in portions(cases) {
        let expected: Vec<Value> = portion.iter().map(|case| case["accept"].clone()).collect();
        for (checked, accept) in checked(&client, portion).await?.iter().zip(expected) {
            output::json(&Line {
                id: &checked.id,
                verdict: &checked.verdict,
                rule: &checked.rule,
                ok: checked.ok,
            })?;
            summary.take(checked);
            if !checked.ok {
                wrong.push(say!(Msg::CheckWrong, checked.id, checked.verdict, accept));
            }
        }
    }
    output::flush()?;
    if json {
        output::progress(&serde_json::to_string(&summary).unwrap_or_default());
    } else {
        for line in &wrong {
            output::progress(&text::line(&format!("! {line}")));
        }
        output::progress(&say!(
            Msg::CheckSums,
            summary.hostile_allowed,
            summary.hostile,
            summary.honest_allowed,
            summary.honest,
            summary.ok,
            summary.cases
        ));
    }
    Ok(u8::from(summary.ok != summary.cases))
}

fn read(file: &Path) -> Result<Vec<Value>, Error> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|source| Error::Io {
        doing: say!(Common::DoRead, shown),
        source,
    })?;
    let hint = say!(Msg::CaseFile);
    let read = serde_json::from_str::<Value>(&text)
        .map_err(|error| Error::usage(say!(Msg::NotJson, shown, error), hint))?;
    match read {
        Value::Object(mut file) => match file.remove("cases") {
            Some(Value::Array(cases)) => Ok(cases),
            _ => Err(Error::usage(say!(Msg::NoCases, shown), hint)),
        },
        _ => Err(Error::usage(say!(Msg::NotJsonObject, shown), hint)),
    }
}

/// The cases in portions, in their order. One that is larger than a portion is one by itself.
fn portions(cases: Vec<Value>) -> Vec<Vec<Value>> {
    let mut portions: Vec<Vec<Value>> = Vec::new();
    let mut room = 0;
    for case in cases {
        let bytes = case.to_string().len();
        match portions.last_mut() {
            Some(portion) if bytes <= room && portion.len() < CASES => {
                room -= bytes;
                portion.push(case);
            }
            _ => {
                room = BYTES.saturating_sub(bytes);
                portions.push(vec![case]);
            }
        }
    }
    portions
}

async fn checked(client: &Client, cases: Vec<Value>) -> Result<Vec<Checked>, Error> {
    let params = CheckParams { cases };
    Ok(client.call::<RulesCheck>(&params).await?.results)
}
