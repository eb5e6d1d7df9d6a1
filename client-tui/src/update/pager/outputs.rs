//! Reads what calls printed, where the events of the transcript hold the end alone: to be seen and searched whole.

use std::cell::RefCell;

use proto::CallId;

use super::{shown, with};
use crate::effect::{Call, Effect};
use crate::model::Model;
use crate::model::pager::{Pager, PagerContent};
use crate::model::transcript::{Entry, EntryKind, ToolRun};

/// Bytes of output that are read while the pager is open. Longer outputs are in the named file.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Asks for the newest output that is not there whole, unless one is asked for already.
pub fn next(pager: &mut Pager, model: &Model) -> Option<Effect> {
    if pager.outputs.asked || !matches!(pager.what, PagerContent::Transcript) {
        return None;
    }
    let session = shown(model)?;
    let newer = model.transcript.entries.iter().rev();
    let older = pager.earlier.entries.iter().rev();
    let wanted = newer.chain(older).filter_map(tool).find_map(|tool| {
        let bytes = tool.cut_output()?;
        let fits = pager.outputs.bytes + bytes <= BYTES_MAX;
        let is_new = !pager.outputs.known.contains(&tool.call);
        (fits && is_new).then(|| (tool.call.clone(), bytes))
    });
    let (call, bytes) = wanted?;
    pager.outputs.asked = true;
    pager.outputs.bytes += bytes;
    pager.outputs.known.insert(call.clone());
    Some(Effect::Call(Call::Output { session, call }))
}

/// Takes an output, or that there is none; asks for the next.
pub fn take(
    model: &mut Model,
    session: &str,
    call: &CallId,
    text: Result<&str, ()>,
) -> Vec<Effect> {
    if shown(model).as_deref() != Some(session) {
        return Vec::new();
    }
    if let Ok(text) = text {
        model
            .transcript
            .entries
            .iter_mut()
            .for_each(|entry| fill(entry, call, text));
    }
    let effect = with(model, |pager, model| {
        pager.outputs.asked = false;
        if let Ok(text) = text {
            let earlier = &mut pager.earlier;
            let entries = earlier.entries.iter_mut().chain(earlier.lent.values_mut());
            entries.for_each(|entry| fill(entry, call, text));
            *pager.sheet = RefCell::default();
        }
        next(pager, model)
    });
    effect.flatten().into_iter().collect()
}

fn tool(entry: &Entry) -> Option<&ToolRun> {
    match &entry.kind {
        EntryKind::Tool(tool) => Some(tool),
        _ => None,
    }
}

fn fill(entry: &mut Entry, call: &CallId, text: &str) {
    if let EntryKind::Tool(tool) = &mut entry.kind
        && tool.call == *call
    {
        tool.take_output(text);
    }
}
