//! An answer in its original order: its text and calls, with the vendor's thoughts between them.

use proto::item::{AssistantMessage, Thought, ToolCall};

/// A piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AnswerPiece<'a> {
    Text(&'a str),
    Call(&'a ToolCall),
    Thought(&'a Thought),
}

/// The pieces of an answer, with thoughts of these kinds. Omits other thoughts and empty texts.
pub(crate) fn answer_pieces<'a>(
    message: &'a AssistantMessage,
    kinds: &[&str],
) -> Vec<AnswerPiece<'a>> {
    let mut answer_pieces = Vec::new();
    let (mut said, mut called) = (0, 0);
    let mut upto = |answer_pieces: &mut Vec<AnswerPiece<'a>>, text_at: usize, calls_at: usize| {
        // Positions come from a log. One inside a character moves to the next boundary.
        let text_at = (text_at.min(message.text.len())..=message.text.len())
            .find(|at| message.text.is_char_boundary(*at))
            .unwrap_or(message.text.len());
        if let Some(text) = message
            .text
            .get(said..text_at)
            .filter(|text| !text.is_empty())
        {
            answer_pieces.push(AnswerPiece::Text(text));
            said = text_at;
        }
        let calls_at = calls_at.min(message.calls.len());
        if let Some(calls) = message.calls.get(called..calls_at) {
            answer_pieces.extend(calls.iter().map(AnswerPiece::Call));
            called = calls_at;
        }
    };
    for thought in message
        .thoughts
        .iter()
        .filter(|thought| kinds.contains(&&*thought.kind))
    {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        upto(
            &mut answer_pieces,
            place(thought.text_at),
            place(thought.calls_at),
        );
        answer_pieces.push(AnswerPiece::Thought(thought));
    }
    upto(&mut answer_pieces, usize::MAX, usize::MAX);
    answer_pieces
}

#[cfg(test)]
mod tests {
    use proto::item::Finish;

    use super::*;

    fn thought(kind: &str, text_at: u64, calls_at: u64) -> Thought {
        Thought {
            kind: kind.to_owned(),
            data: format!("{{\"at\":{text_at}}}"),
            text_at,
            calls_at,
        }
    }

    #[test]
    fn reasoning_keeps_its_position_and_foreign_reasoning_is_dropped() {
        let call = |id: &str| ToolCall {
            id: id.into(),
            name: "read".to_owned(),
            arguments: "{}".to_owned(),
            cut: false,
            found: false,
        };
        let message = AssistantMessage {
            item: proto::ItemId("m1".into()),
            text: "äb".to_owned(),
            reasoning: String::new(),
            calls: vec![call("a"), call("b")],
            thoughts: vec![
                thought("mine", 0, 0),
                thought("other", 1, 0),
                // Inside a character, which no vendor sends.
                thought("mine", 1, 0),
                thought("mine", 3, 1),
                thought("mine", 999, 999),
            ],
            finish: Finish::ToolCalls,
        };
        let thoughts = &message.thoughts;
        assert_eq!(
            answer_pieces(&message, &["mine"]),
            [
                AnswerPiece::Thought(&thoughts[0]),
                AnswerPiece::Text("ä"),
                AnswerPiece::Thought(&thoughts[2]),
                AnswerPiece::Text("b"),
                AnswerPiece::Call(&message.calls[0]),
                AnswerPiece::Thought(&thoughts[3]),
                AnswerPiece::Call(&message.calls[1]),
                AnswerPiece::Thought(&thoughts[4]),
            ]
        );
        assert_eq!(
            answer_pieces(&message, &["nobody"]),
            [
                AnswerPiece::Text("äb"),
                AnswerPiece::Call(&message.calls[0]),
                AnswerPiece::Call(&message.calls[1]),
            ]
        );
    }
}
