//! `reasonix rpc`: raw calls.

use serde_json::Value;

use crate::exit::Error;
use crate::{output, reach, text};

/// Make a call of the protocol, or print its schema, or that of what commands print with `--json`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON Schema of all methods and events.
    #[arg(long, conflicts_with_all = ["method", "params"])]
    schema: bool,
    /// With `--schema`: of what each command prints with `--json` instead.
    #[arg(long, requires = "schema")]
    cli: bool,
    /// The method, for instance `session.list`.
    #[arg(required_unless_present = "schema")]
    method: Option<String>,
    /// Its parameters, a JSON object.
    #[arg(value_name = "JSON")]
    params: Option<String>,
}

/// Calls, and prints the answer as one line of JSON.
pub async fn run(args: Args) -> Result<u8, Error> {
    let Some(method) = args.method else {
        let schema = if args.cli {
            crate::schema::all()
        } else {
            proto::methods::schema()
        };
        let schema = serde_json::to_string_pretty(&schema)
            .map_err(|source| Error::io("write the schema", source.into()))?;
        output::line(&schema)?;
        return Ok(0);
    };
    let params: Value =
        serde_json::from_str(args.params.as_deref().unwrap_or("{}")).map_err(|error| {
            Error::usage(
                format!("the parameters are not valid JSON: {error}"),
                "quote them for the shell, for example '{\"session\": \"3\"}'",
            )
        })?;
    if !params.is_object() {
        return Err(Error::usage(
            "the parameters are not a JSON object",
            "give them as '{\"name\": value}'",
        ));
    }
    let client = reach::daemon("rpc").await?;
    let answer = client.call_raw(&method, &params).await?;
    output::line(&text::json(answer.get()))?;
    Ok(0)
}
