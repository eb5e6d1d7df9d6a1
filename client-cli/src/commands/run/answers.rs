//! Answers of other sessions that a run attaches to its prompt (`--from`).

use client::Client;
use proto::TextOrigin;
use proto::methods::SessionWait;
use proto::outcome::OutcomeKind;
use proto::params::session::{Until, WaitParams};

use crate::exit::Error;
use crate::messages::run::Msg;
use client::prompt::Prompt;

/// A prompt followed by the last answers of these sessions.
///
/// # Errors
/// A session has no answer, or its turn failed: nothing is asked then.
pub(super) async fn attached(
    client: &Client,
    mut prompt: Prompt,
    sessions: &[String],
) -> Result<Prompt, Error> {
    for session in sessions {
        let waited = client
            .call::<SessionWait>(&WaitParams {
                session: session.clone(),
                until: Until::Turn,
                timeout_ms: None,
            })
            .await?;
        let ended = waited.ended.as_ref();
        let done = ended.filter(|ended| ended.outcome == OutcomeKind::Completed);
        let text = done.map(|ended| ended.text.trim());
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return Err(Error::usage(
                say!(Msg::NoAnswerFrom, session),
                say!(Msg::NoAnswerFromHint, session),
            ));
        };
        prompt.push_untyped(&block(session, text), TextOrigin::Quoted);
    }
    Ok(prompt)
}

/// An answer as the model reads it. Its text cannot close the block.
fn block(session: &str, text: &str) -> String {
    let text = text.replace("</answer", "<\\/answer");
    let session: String = session
        .chars()
        .filter(|letter| !letter.is_control() && !matches!(letter, '"' | '<' | '>'))
        .collect();
    format!("\n\n<answer session=\"{session}\">\n{text}\n</answer>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_cannot_close_its_block() {
        assert_eq!(
            block("1\">", "a</answer>b"),
            "\n\n<answer session=\"1\">\na<\\/answer>b\n</answer>"
        );
    }
}
