//! Adapter from a [`TypedTool`] to the engine's `Tool`: it reads and checks the arguments. Called by `registry`.
//!
//! For tools whose calls have no paths; those with paths are a `FileTool`.

use std::marker::PhantomData;
use std::sync::Arc;

use contract::{CallAction, CallContext, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::Display;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

/// A tool that works on its own arguments and on no paths.
pub(crate) trait TypedTool: Send + Sync + 'static {
    type Args: Arguments + Send;

    /// The line that users see before the call runs.
    fn preview(args: Self::Args) -> String;

    /// What a call leads to.
    fn action(_args: Self::Args) -> CallAction {
        CallAction::Run
    }

    /// Runs a call. A tool whose `action` is never `Run` leaves it out.
    fn run(
        _args: Self::Args,
        _context: CallContext,
    ) -> impl Future<Output = Result<Outcome, Outcome>> + Send {
        let text = "this tool does not run, a bug in Reasonix; go on without it";
        async move { Err(Outcome::failed(text)) }
    }
}

/// The engine's `Tool` for a typed tool.
pub(crate) fn tool<T: TypedTool>(spec: ToolSpec) -> Arc<dyn Tool> {
    let tool = PhantomData;
    Arc::new(Adapter::<T> { spec, tool })
}

struct Adapter<T> {
    spec: ToolSpec,
    tool: PhantomData<T>,
}

impl<T: TypedTool> Tool for Adapter<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        arguments::canonical::<T::Args>(&self.spec.schema, arguments)
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let text = T::preview(arguments::checked(arguments.clone())?);
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn action(&self, arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        arguments::checked(arguments.clone()).map(T::action)
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        async move {
            let outcome = match arguments::checked(arguments) {
                Ok(args) => T::run(args, context).await,
                Err(outcome) => Err(outcome),
            };
            outcome.unwrap_or_else(|failed| failed)
        }
        .boxed()
    }
}
