//! Adapter from a [`FactTool`] to the engine's `Tool`, for the tools that read and change what is remembered beyond a
//! session.

use std::marker::PhantomData;
use std::sync::Arc;

use contract::{CallContext, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use knowledge::memory::{Fact, FactStores, MemoryError, SavedFact};
use proto::item::Display;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};
use crate::files;

/// A tool that works on facts.
pub(crate) trait FactTool: Send + Sync + 'static {
    type Args: Arguments + Send + 'static;

    /// What a person sees before the call runs. Blocks.
    fn preview(args: Self::Args, facts: &FactStores) -> Result<Display, Outcome>;

    /// Runs a call. `session`: the id of the session that calls. Blocks.
    fn run(args: Self::Args, facts: &FactStores, session: &str) -> Result<Outcome, Outcome>;
}

/// The engine's `Tool` for a tool of facts.
pub(crate) fn tool<T: FactTool>(spec: ToolSpec) -> Arc<dyn Tool> {
    let tool = PhantomData;
    Arc::new(Adapter::<T> { spec, tool })
}

struct Adapter<T> {
    spec: ToolSpec,
    tool: PhantomData<T>,
}

impl<T: FactTool> Tool for Adapter<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        arguments::canonical::<T::Args>(&self.spec.schema, arguments)
    }

    fn preview(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Preview, Outcome> {
        let display = T::preview(arguments::checked(arguments.clone())?, &facts(context)?)?;
        Ok(Preview { display })
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        files::blocking(move || {
            let session = context.session_id.to_string();
            T::run(arguments::checked(arguments)?, &facts(&context)?, &session)
        })
    }
}

/// The facts that this session reaches.
fn facts(context: &CallContext) -> Result<FactStores, Outcome> {
    let facts = files::memory(context)?.facts().cloned();
    facts.ok_or_else(|| Outcome::failed("this session keeps no facts; go on without them"))
}

/// An error of the stores, for the model.
pub(crate) fn failed(error: &MemoryError) -> Outcome {
    match error {
        MemoryError::Invalid(_) | MemoryError::NotSuperseding(_) => {
            Outcome::refused(error.to_string())
        }
        MemoryError::NotFound(_)
        | MemoryError::NotArchived(_)
        | MemoryError::Exists(_)
        | MemoryError::Unusable { .. }
        | MemoryError::Disk(_) => Outcome::failed(error.to_string()),
    }
}

/// The file of a fact as a person sees it: in short, and without times, which are those of the run.
pub(crate) fn shown(SavedFact { scope, fact }: &SavedFact) -> (String, String) {
    let name = format!("{}/memory/{}.md", scope.as_str(), fact.name);
    let timeless = Fact {
        created: None,
        updated: None,
        source: None,
        ..fact.clone()
    };
    (name, timeless.render())
}
