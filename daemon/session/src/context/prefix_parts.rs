//! A frozen prefix taken apart for people: system prompt, each tool, what the provider's entry adds.
//!
//! Pure. The bytes of a part are those that are sent; nothing is rendered again.

use contract::{InstructionText, Prefix, PrefixText};
use proto::params::cache::{PrefixKind, PrefixOutput, PrefixPart};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::assembly::instruction_blocks;
use crate::context::prefix::{self, FrozenPrefix};
use crate::context::system_prompt;

/// A page ends before its texts have more bytes than this, so that it fits a frame.
const PAGE_BYTES: usize = 512 * 1024;

/// What the provider counted of a request: its bytes, and the tokens that they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    pub bytes: u64,
    pub tokens: u64,
}

/// If nothing was measured: what English text and JSON come to with most models.
const GUESS: Measure = Measure {
    bytes: 4,
    tokens: 1,
};

/// The parts of a prefix after the first `after`, as many as a page holds. `trusted`: the user trusts the project.
pub fn page(
    provider: String,
    FrozenPrefix {
        prefix,
        text: text_of_prefix,
    }: &FrozenPrefix,
    measured: Option<Measure>,
    after: u64,
    trusted: bool,
) -> PrefixOutput {
    let measure = measured.unwrap_or(GUESS);
    let all = parts(prefix, text_of_prefix);
    let bytes = all.iter().map(|(_, _, text)| text.len() as u64).sum();
    let (mut page, mut size, mut next) = (Vec::new(), 0, None);
    let skipped = usize::try_from(after).unwrap_or(usize::MAX);
    for (n, (kind, name, text)) in all.into_iter().enumerate().skip(skipped) {
        if !page.is_empty() && size + text.len() > PAGE_BYTES {
            next = Some(n as u64);
            break;
        }
        size += text.len();
        let bytes = text.len() as u64;
        let is_of_project = |file: &InstructionText| file.name == name && file.is_of_project();
        let untrusted = !trusted
            && kind == PrefixKind::Instructions
            && text_of_prefix.instructions.iter().any(is_of_project);
        page.push(PrefixPart {
            kind,
            name,
            untrusted,
            bytes,
            tokens: tokens(bytes, measure),
            text: text.to_owned(),
        });
    }
    PrefixOutput {
        provider,
        model: prefix.model.clone(),
        sha256: prefix::hash(prefix),
        bytes,
        parts: page,
        next,
        measured: measured.is_some(),
    }
}

/// So many tokens these bytes are likely to be.
fn tokens(bytes: u64, measure: Measure) -> u64 {
    let tokens = u128::from(bytes) * u128::from(measure.tokens);
    let tokens = tokens.div_ceil(u128::from(measure.bytes.max(1)));
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

fn parts<'a>(prefix: &'a Prefix, text: &PrefixText) -> Vec<(PrefixKind, String, &'a str)> {
    let mut parts = system(&prefix.system, &blocks(text));
    match tools(&prefix.tools) {
        Some(tools) => parts.extend(
            tools
                .into_iter()
                .map(|(name, text)| (PrefixKind::Tool, name, text)),
        ),
        // In a form that is not known here: all in one.
        None => parts.push((PrefixKind::Tool, String::new(), &prefix.tools)),
    }
    parts.push((PrefixKind::Extra, String::new(), prefix.extra.as_str()));
    parts.retain(|(_, _, text)| !text.is_empty());
    parts
}

/// What closes a system prompt on the wire has at most so many bytes. More is text.
const CLOSING_BYTES_MAX: usize = 8;

/// A part of a system prompt that has a place of its own: instruction files, the list of skills, and the lines of facts.
struct Block {
    kind: PrefixKind,
    name: String,
    text: String,
}

/// The blocks of a text, in their order.
fn blocks(text: &PrefixText) -> Vec<Block> {
    let files = text.instructions.iter().map(|file| Block {
        kind: PrefixKind::Instructions,
        name: file.name.clone(),
        text: instruction_blocks::block(file),
    });
    let memory = system_prompt::memory_block(text).map(|text| Block {
        kind: PrefixKind::Memory,
        name: String::new(),
        text,
    });
    let skills = (!text.skills.is_empty()).then(|| Block {
        kind: PrefixKind::Skills,
        name: String::new(),
        text: system_prompt::skills_block(&text.skills),
    });
    files.chain(skills).chain(memory).collect()
}

/// The system prompt up to its first block, the blocks, and what the session's creator added.
fn system<'a>(system: &'a str, blocks: &[Block]) -> Vec<(PrefixKind, String, &'a str)> {
    // Where each block ends. The blank lines before a block count for it.
    let mut ends: Vec<(&Block, usize)> = Vec::new();
    let mut first = system.len();
    for block in blocks {
        let from = ends.last().map_or(0, |(_, end)| *end);
        if let Some((start, end)) = find_block(&system[from..], &block.text) {
            first = first.min(from + start);
            ends.push((block, from + end));
        }
    }
    let mut parts = vec![(PrefixKind::System, String::new(), &system[..first])];
    if let Some((_, end)) = ends.last_mut()
        && system.len() - *end <= CLOSING_BYTES_MAX
    {
        *end = system.len();
    }
    let mut from = first;
    for (block, end) in ends {
        let text = &system[from..end];
        parts.push((block.kind, block.name.clone(), text));
        from = end;
    }
    parts.push((PrefixKind::System, String::new(), &system[from..]));
    parts
}

/// Where a block is in the JSON text of a system prompt.
fn find_block(system: &str, block: &str) -> Option<(usize, usize)> {
    let block = serde_json::to_string(block).ok()?;
    let block = block.strip_prefix('"')?.strip_suffix('"')?;
    let start = system.find(block)?;
    Some((start, start + block.len()))
}

/// The schemas of tools, one by one, by their names. `None`: they are not JSON values joined by commas.
fn tools(mut rest: &str) -> Option<Vec<(String, &str)>> {
    let mut tools = Vec::new();
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let text = values.next()?.ok()?.get();
        let named: Named = serde_json::from_str(text).ok()?;
        let name = named.name.or(named.function.and_then(|named| named.name));
        tools.push((name?, text));
        rest = rest.get(values.byte_offset()..)?.trim_start();
        rest = match rest {
            "" => rest,
            _ => rest.strip_prefix(',')?,
        };
    }
    Some(tools)
}

/// Where the kinds have the name of a tool: in the schema, or in its `function`.
#[derive(Deserialize)]
struct Named {
    name: Option<String>,
    function: Option<Box<Named>>,
}

#[cfg(test)]
mod tests;
