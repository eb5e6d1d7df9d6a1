//! `reasonix rpc`: raw calls.

use serde_json::Value;

use crate::exit::Error;
use crate::messages::daemon::Msg;
use crate::{output, reach, text};

/// Call a method of the daemon protocol, or print its JSON Schema.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the JSON Schema of all methods and events.
    #[arg(long, conflicts_with_all = ["method", "params"])]
    schema: bool,
    /// With `--schema`: describe the `--json` output of each command instead.
    #[arg(long, requires = "schema")]
    cli: bool,
    /// Method, for instance `session.list`.
    #[arg(required_unless_present = "schema")]
    method: Option<String>,
    /// Parameters: a JSON object.
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
            .map_err(|source| Error::io(say!(Msg::DoSchema), source.into()))?;
        output::line(&schema)?;
        return Ok(0);
    };
    let params: Value =
        serde_json::from_str(args.params.as_deref().unwrap_or("{}")).map_err(|error| {
            Error::usage(
                say!(Msg::ParamsNotJson, error),
                say!(Msg::ParamsNotJsonHint),
            )
        })?;
    if !params.is_object() {
        return Err(Error::usage(
            say!(Msg::ParamsNotObject),
            say!(Msg::ParamsNotObjectHint),
        ));
    }
    let client = reach::daemon("rpc").await?;
    let answer = client.call_raw(&method, &params).await?;
    output::line(&text::json(answer.get()))?;
    Ok(0)
}
