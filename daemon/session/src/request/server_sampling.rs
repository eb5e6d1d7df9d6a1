//! The session's own model answers a text of an MCP server: without tools, and without the conversation.

use std::sync::Arc;

use contract::codec::FragmentRole;
use contract::{Fragment, SamplingAnswer, SamplingMessage, SamplingRequest, SamplingRole};
use proto::ItemId;
use proto::item::{AssistantMessage, Finish, Item, UserMessage, Voice};
use proto::record::Purpose;

use crate::assembly::setup::Effort;
use crate::request::reasoning::{SideRequestContext, SideRequestTarget};
use crate::request::side_requests::UsageRecorder;
use crate::tasks::blocking;

/// Asks the model. Its usage is noted in `recorder`.
///
/// # Errors
/// No answer came: why.
pub(crate) async fn answer(
    around: SideRequestContext,
    asked: &SamplingRequest,
    recorder: &UsageRecorder,
) -> Result<SamplingAnswer, String> {
    let (assembly, cwd) = (Arc::clone(&around.assembly), around.cwd.clone());
    let model = around.model.clone();
    let own = blocking(move || assembly.switch(&cwd, &model, Effort::Configured)).await;
    let own = own.map_err(|failure| failure.message)?;
    let own = own.map_err(|failure| failure.message)?;
    let temperature = asked.temperature.filter(|_| own.temperature);
    let mut aide = SideRequestTarget::of(around, own, Purpose::Server, &asked.system);
    if let Some(member) = temperature.and_then(|hundredths| aide.codec().temperature(hundredths)) {
        aide.add_member(&member);
    }
    aide.limit_output(asked.max_tokens);
    let rendered: Vec<_> = asked
        .messages
        .iter()
        .filter_map(|message| {
            let role = match message.role {
                SamplingRole::User => FragmentRole::User,
                SamplingRole::Assistant => FragmentRole::Assistant,
            };
            Some((role, aide.codec().render(&item(message))?))
        })
        .collect();
    let fragments: Vec<_> = rendered
        .iter()
        .map(|(role, text)| Fragment {
            role: *role,
            bytes: text.as_bytes(),
        })
        .collect();
    let answer = aide.ask(&fragments, (recorder, 0)).await?;
    Ok(SamplingAnswer::Answered {
        text: answer.text,
        model: aide.model().to_owned(),
        finish: answer.finish.unwrap_or(Finish::Stop),
    })
}

fn item(message: &SamplingMessage) -> Item {
    let item = ItemId("s".into());
    let text = message.text.clone();
    match message.role {
        SamplingRole::User => Item::User(UserMessage {
            item,
            prompt_id: None,
            text,
            context: None,
            voice: Voice::Prompt,
            from: None,
            attached: Vec::new(),
            reported: Vec::new(),
        }),
        SamplingRole::Assistant => Item::Assistant(AssistantMessage {
            item,
            text,
            reasoning: String::new(),
            calls: Vec::new(),
            thoughts: Vec::new(),
            finish: Finish::Stop,
        }),
    }
}
