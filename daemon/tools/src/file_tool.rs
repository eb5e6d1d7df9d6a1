//! The common part of all file tools: their specs, the parsing of their arguments, the binding of a call to its paths,
//! and blocking work outside the async runtime.
//!
//! Each file tool implements `FileTool`. Called by `registry`, which uses the `Tool` that `tool` makes of it.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

use contract::tool::Touch;
use contract::{CallContext, FileWorker, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use serde_json::{Map, Value};
use workspace::ResolvedPath;

use crate::arguments::{self, Arguments};
use crate::files::{self, CallPath};
use crate::memory::Memory;

/// The part that each file tool implements.
pub(crate) trait FileTool: Send + Sync + 'static {
    type Args: Arguments;
    /// The plan of a call before anything is done: its resolved paths and, for a change, the new content.
    type Plan;

    /// The spec of the tool.
    fn spec() -> ToolSpec;

    /// Resolves the paths of a call and plans its changes. Changes nothing.
    ///
    /// # Errors
    /// An outcome if it is already certain that the call must fail.
    fn plan(args: &Self::Args, call: &Call<'_>) -> Result<Self::Plan, Outcome>;

    /// What a person should see before a yes. Changes nothing.
    ///
    /// # Errors
    /// As `plan`.
    fn shown(args: &Self::Args, plan: &Self::Plan, call: &Call<'_>) -> Result<Display, Outcome>;

    /// Does it. Blocks.
    ///
    /// # Errors
    /// An outcome that is a failure.
    fn act(args: &Self::Args, plan: Self::Plan, call: &Call<'_>) -> Result<Outcome, Outcome>;

    /// Whether a call at these places is quick, as `FileWorker::is_quick` says.
    fn is_quick(_places: &[PathBuf]) -> bool {
        false
    }

    /// Paths of a call that are no arguments of their own.
    fn touches(_arguments: &Map<String, Value>) -> Vec<Touch> {
        Vec::new()
    }
}

/// A call of a file tool, while it is looked at or runs.
pub(crate) struct Call<'a> {
    pub(crate) memory: Arc<Memory>,
    pub(crate) context: &'a CallContext,
    stage: Stage,
}

/// How far a call is.
#[derive(Clone, Copy)]
enum Stage {
    /// It is looked at before it runs: it is bound to the places that are found.
    Look,
    /// It runs: its paths must lead to the places that it was bound to.
    Run,
}

impl<'a> Call<'a> {
    fn new(context: &'a CallContext, stage: Stage) -> Result<Self, Outcome> {
        Ok(Self {
            memory: files::memory(context)?,
            context,
            stage,
        })
    }

    /// Where the only path of the call leads.
    pub(crate) fn place(&self, spot: CallPath<'_>) -> Result<ResolvedPath, Outcome> {
        files::only(self.places(&[spot])?)
    }

    /// Where all the paths of the call lead. Asked once: what the call is bound to is used up by it.
    pub(crate) fn places(&self, spots: &[CallPath<'_>]) -> Result<Vec<ResolvedPath>, Outcome> {
        match self.stage {
            Stage::Look => files::places_shown(&self.memory, self.context, spots),
            Stage::Run => files::places(&self.memory, self.context, spots),
        }
    }

    /// A place as it is named to model and person.
    pub(crate) fn name(&self, at: &ResolvedPath) -> String {
        self.memory.workspace().shown(at.path())
    }
}

/// The `Tool` that a file tool is.
pub(crate) fn tool<T: FileTool>() -> Arc<dyn Tool> {
    Arc::new(AsTool::<T> {
        spec: T::spec(),
        own: PhantomData,
    })
}

struct AsTool<T> {
    spec: ToolSpec,
    own: PhantomData<T>,
}

impl<T: FileTool> Tool for AsTool<T> {
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
        let args = arguments::typed(arguments.clone())?;
        let call = Call::new(context, Stage::Look)?;
        let plan = T::plan(&args, &call)?;
        let display = T::shown(&args, &plan, &call)?;
        Ok(Preview { display })
    }

    fn bind(&self, places: &[PathBuf], context: &CallContext) {
        files::bind(places, context);
    }

    fn touches(&self, arguments: &Map<String, Value>) -> Vec<Touch> {
        T::touches(arguments)
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        files::blocking(move || work::<T>(arguments, &context))
    }

    fn as_file_worker(&self) -> Option<&dyn FileWorker> {
        Some(self)
    }
}

impl<T: FileTool> FileWorker for AsTool<T> {
    fn run_blocking(&self, arguments: Map<String, Value>, context: &CallContext) -> Outcome {
        let (Ok(outcome) | Err(outcome)) = work::<T>(arguments, context);
        outcome
    }

    fn is_quick(&self, places: &[PathBuf]) -> bool {
        T::is_quick(places)
    }
}

/// Does a call. Blocks.
fn work<T: FileTool>(
    arguments: Map<String, Value>,
    context: &CallContext,
) -> Result<Outcome, Outcome> {
    let args = arguments::typed(arguments)?;
    let call = Call::new(context, Stage::Run)?;
    let plan = T::plan(&args, &call)?;
    T::act(&args, plan, &call)
}
