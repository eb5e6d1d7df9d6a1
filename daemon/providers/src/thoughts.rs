//! An answer in the order in which it was said: its text, its calls, and between them what the vendor wants back.

use proto::item::{AssistantMessage, Thought, ToolCall};

/// A part of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Call(&'a ToolCall),
    Thought(&'a Thought),
}

/// The parts of an answer for one kind: thoughts of others are left out. Texts are not empty.
pub(crate) fn pieces<'a>(message: &'a AssistantMessage, kind: &str) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let (mut said, mut called) = (0, 0);
    let mut upto = |pieces: &mut Vec<Piece<'a>>, text_at: usize, calls_at: usize| {
        // Places come from a log: one that lies in no text is taken for the next that does.
        let text_at = (text_at.min(message.text.len())..=message.text.len())
            .find(|at| message.text.is_char_boundary(*at))
            .unwrap_or(message.text.len());
        if let Some(text) = message
            .text
            .get(said..text_at)
            .filter(|text| !text.is_empty())
        {
            pieces.push(Piece::Text(text));
            said = text_at;
        }
        let calls_at = calls_at.min(message.calls.len());
        if let Some(calls) = message.calls.get(called..calls_at) {
            pieces.extend(calls.iter().map(Piece::Call));
            called = calls_at;
        }
    };
    for thought in message
        .thoughts
        .iter()
        .filter(|thought| thought.kind == kind)
    {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        upto(&mut pieces, place(thought.text_at), place(thought.calls_at));
        pieces.push(Piece::Thought(thought));
    }
    upto(&mut pieces, usize::MAX, usize::MAX);
    pieces
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
                // In the middle of a character, as no vendor would have it.
                thought("mine", 1, 0),
                thought("mine", 3, 1),
                thought("mine", 999, 999),
            ],
            finish: Finish::ToolCalls,
        };
        let thoughts = &message.thoughts;
        assert_eq!(
            pieces(&message, "mine"),
            [
                Piece::Thought(&thoughts[0]),
                Piece::Text("ä"),
                Piece::Thought(&thoughts[2]),
                Piece::Text("b"),
                Piece::Call(&message.calls[0]),
                Piece::Thought(&thoughts[3]),
                Piece::Call(&message.calls[1]),
                Piece::Thought(&thoughts[4]),
            ]
        );
        assert_eq!(
            pieces(&message, "nobody"),
            [
                Piece::Text("äb"),
                Piece::Call(&message.calls[0]),
                Piece::Call(&message.calls[1]),
            ]
        );
    }
}
