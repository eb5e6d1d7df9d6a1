//! What a request is made of, block by block: how many tokens each takes, how old it is, whether the provider's cache served it.

use std::collections::BTreeSet;

use contract::codec::FragmentRole;
use proto::item::Item;
use proto::params::session::{Block, BlockKind};
use proto::reset::{Piece, Wire};
use proto::{ItemId, Stamp};
use turn::compaction::{TokenRatio, is_pinned, is_summary};

use crate::journal::elements::Reader;
use crate::journal::images::counted_bytes;
use crate::request::in_flight::Material;

/// Messages that are listed, the newest; those before are one block.
const LISTED: usize = 1_000;

/// The known facts of the newest request.
pub struct RequestComposition {
    pub material: Material,
    /// The model that its messages are rendered for.
    pub wire: Wire,
    pub measure: TokenRatio,
    /// Tokens that the provider's cache has served.
    pub cached: Option<u64>,
    pub pins: BTreeSet<ItemId>,
}

impl RequestComposition {
    /// Its blocks, in order. Reads the log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn blocks(&self) -> Result<Vec<Block>, String> {
        blocks(&self.material, self.measure, self.cached, |item| {
            is_pinned(item, &self.pins)
        })
    }
}

/// The blocks of a request, in its order. `cached`: tokens of it that the provider's cache has served, if that is known.
/// Blocks: reads the log.
///
/// # Errors
/// The log cannot be read.
fn blocks(
    material: &Material,
    measure: TokenRatio,
    cached: Option<u64>,
    is_pinned: impl Fn(&ItemId) -> bool,
) -> Result<Vec<Block>, String> {
    let prefix = &material.prefix;
    let mut blocks = vec![
        block(
            BlockKind::System,
            (prefix.system.len() + prefix.extra.len()) as u64,
        ),
        block(BlockKind::Tools, prefix.tools.len() as u64),
    ];
    let older = material.parts.len().saturating_sub(LISTED);
    if older > 0 {
        let bytes = material.parts[..older]
            .iter()
            .map(|part| part.fragment.len() as u64);
        blocks.push(Block {
            messages: older as u64,
            ..block(BlockKind::Older, bytes.sum())
        });
    }
    let mut reader = Reader::new(&material.file);
    for part in &material.parts[older..] {
        let (item, at) = reader.message(part)?;
        let seq = match &part.piece {
            Piece::Run(seq, _) => Some(*seq),
            Piece::Element { .. } => None,
        };
        let id = id_of(&item);
        blocks.push(Block {
            seq,
            at: Some(at),
            pinned: is_pinned(&id),
            item: Some(id),
            ..block(
                kind(part.role, &item),
                counted_bytes(&item, part.fragment.len()),
            )
        });
    }
    let mut upto = 0_u64;
    for block in &mut blocks {
        block.tokens = measure.tokens(block.bytes);
        upto = upto.saturating_add(block.tokens);
        block.cached = cached.map(|cached| upto <= cached);
    }
    Ok(blocks)
}

fn block(kind: BlockKind, bytes: u64) -> Block {
    Block {
        kind,
        item: None,
        seq: None,
        at: None::<Stamp>,
        bytes,
        tokens: 0,
        messages: 1,
        cached: None,
        pinned: false,
    }
}

fn kind(role: FragmentRole, item: &Item) -> BlockKind {
    match (role, item) {
        (FragmentRole::User, Item::User(user)) if is_summary(user) => BlockKind::Summary,
        (FragmentRole::User, _) => BlockKind::User,
        (FragmentRole::Assistant, _) => BlockKind::Assistant,
        (FragmentRole::Tool, _) => BlockKind::Tool,
    }
}

fn id_of(item: &Item) -> ItemId {
    match item {
        Item::User(message) => message.item.clone(),
        Item::Assistant(message) => message.item.clone(),
        Item::Tool(message) => message.item.clone(),
    }
}
