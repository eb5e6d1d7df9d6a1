//! A streamed answer and the same answer as one document yield the same result. Vendors send a
//! document if streaming is off or ignored.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CollectedAnswer, play};

/// The content of an answer.
#[derive(Clone, Debug)]
struct SampleAnswer {
    reasoning: String,
    text: String,
    /// Arguments of calls, as JSON.
    calls: Vec<String>,
    /// Length in characters of the streamed fragments.
    piece: usize,
}

fn sample() -> impl Strategy<Value = SampleAnswer> {
    let words = "[a-zé世🦀\"\\\\\n ]{0,40}";
    let argument = words.prop_map(|words| json!({ "path": words }).to_string());
    let calls = proptest::collection::vec(argument, 0..3);
    (words, words, calls, 1_usize..9).prop_map(|(reasoning, text, calls, piece)| SampleAnswer {
        reasoning,
        // An empty answer is a separate error.
        text: format!("so: {text}"),
        calls,
        piece,
    })
}

impl SampleAnswer {
    fn pieces<'a>(&self, text: &'a str) -> impl Iterator<Item = String> + use<'a> {
        let letters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = letters
            .chunks(self.piece)
            .map(|piece| piece.iter().collect())
            .collect();
        pieces.into_iter()
    }

    fn calls(&self) -> impl Iterator<Item = (usize, String, &String)> {
        let numbered = self.calls.iter().enumerate();
        numbered.map(|(number, arguments)| (number, format!("call_{number}"), arguments))
    }
}

/// An answer in a vendor's format: the body of a stream, and the document.
type WireFormat = fn(&SampleAnswer) -> (String, Value);

/// Events in a row, as in a body.
fn streamed(events: &[Value]) -> String {
    let event = |event: &Value| match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    events.iter().map(event).collect()
}

/// The answer as chat completions.
fn chat(sample: &SampleAnswer) -> (String, Value) {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut events = Vec::new();
    for (name, text) in [
        ("reasoning_content", &sample.reasoning),
        ("content", &sample.text),
    ] {
        events.extend(
            sample
                .pieces(text)
                .map(|piece| delta(json!({ name: piece }))),
        );
    }
    let mut calls = Vec::new();
    for (number, id, arguments) in sample.calls() {
        let begin = json!({"index": number, "id": id, "type": "function", "function": {"name": "read", "arguments": ""}});
        events.push(delta(json!({"tool_calls": [begin]})));
        for piece in sample.pieces(arguments) {
            let more = json!({"index": number, "function": {"arguments": piece}});
            events.push(delta(json!({"tool_calls": [more]})));
        }
        calls.push(json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}));
    }
    let finish = match calls.is_empty() {
        true => "stop",
        false => "tool_calls",
    };
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 4});
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}));
    events.push(json!({"choices": [], "usage": usage}));
    let message = json!({"role": "assistant", "reasoning_content": sample.reasoning, "content": sample.text, "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    let document = json!({"object": "chat.completion", "choices": [choice], "usage": usage});
    (format!("{}data: [DONE]\n\n", streamed(&events)), document)
}

/// The answer as messages.
fn messages(sample: &SampleAnswer) -> (String, Value) {
    let mut blocks = Vec::new();
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}}),
    ];
    let mut block = |begin: Value, deltas: Vec<Value>, whole: Value| {
        let index = blocks.len();
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
        blocks.push(whole);
    };
    if !sample.reasoning.is_empty() {
        let thinking = |piece| json!({"type": "thinking_delta", "thinking": piece});
        let mut deltas: Vec<_> = sample.pieces(&sample.reasoning).map(thinking).collect();
        deltas.push(json!({"type": "signature_delta", "signature": "AB=="}));
        block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
            json!({"type": "thinking", "thinking": sample.reasoning, "signature": "AB=="}),
        );
    }
    let words = |piece| json!({"type": "text_delta", "text": piece});
    block(
        json!({"type": "text", "text": ""}),
        sample.pieces(&sample.text).map(words).collect(),
        json!({"type": "text", "text": sample.text}),
    );
    for (_, id, arguments) in sample.calls() {
        let more = |piece| json!({"type": "input_json_delta", "partial_json": piece});
        let input: Value = serde_json::from_str(arguments).expect("JSON");
        block(
            json!({"type": "tool_use", "id": id, "name": "read", "input": {}}),
            sample.pieces(arguments).map(more).collect(),
            json!({"type": "tool_use", "id": id, "name": "read", "input": input}),
        );
    }
    let reason = match sample.calls.is_empty() {
        true => "end_turn",
        false => "tool_use",
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}}));
    events.push(json!({"type": "message_stop"}));
    let document = json!({"id": "m", "type": "message", "role": "assistant", "content": blocks, "stop_reason": reason,
        "usage": {"input_tokens": 10, "output_tokens": 4}});
    (streamed(&events), document)
}

/// The answer as responses.
fn responses(sample: &SampleAnswer) -> (String, Value) {
    let mut items = Vec::new();
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r", "object": "response",
        "status": "in_progress", "output": []}}),
    ];
    let mut item = |begin: Value, deltas: Vec<(&str, String)>, whole: Value| {
        let index = items.len();
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": begin}),
        );
        for (kind, delta) in deltas {
            events.push(json!({"type": kind, "item_id": format!("i{index}"), "output_index": index, "content_index": 0,
                "summary_index": 0, "delta": delta}));
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": whole}),
        );
        items.push(whole);
    };
    let pieces = |kind, text| {
        sample
            .pieces(text)
            .map(move |piece| (kind, piece))
            .collect()
    };
    if !sample.reasoning.is_empty() {
        let summary = json!([{"type": "summary_text", "text": sample.reasoning}]);
        item(
            json!({"id": "i0", "type": "reasoning", "summary": []}),
            pieces("response.reasoning_summary_text.delta", &sample.reasoning),
            json!({"id": "i0", "type": "reasoning", "summary": summary, "encrypted_content": "gA=="}),
        );
    }
    let content = json!([{"type": "output_text", "text": sample.text, "annotations": []}]);
    item(
        json!({"id": "t", "type": "message", "role": "assistant", "content": []}),
        pieces("response.output_text.delta", &sample.text),
        json!({"id": "t", "type": "message", "role": "assistant", "status": "completed", "content": content}),
    );
    for (_, id, arguments) in sample.calls() {
        let call = |arguments: &str| json!({"id": format!("f{id}"), "type": "function_call", "call_id": id, "name": "read", "arguments": arguments});
        item(
            call(""),
            pieces("response.function_call_arguments.delta", arguments),
            call(arguments),
        );
    }
    let usage = json!({"input_tokens": 10, "output_tokens": 4});
    let whole = json!({"id": "r", "object": "response", "status": "completed", "error": null, "output": items, "usage": usage});
    events.push(json!({"type": "response.completed", "response": whole}));
    (streamed(&events), whole)
}

proptest! {
    #[test]
    fn a_streamed_answer_equals_its_document(sample in sample()) {
        let wires: [(&str, WireFormat); 3] =
            [("openai", chat), ("anthropic", messages), ("openai-responses", responses)];
        for (kind, wire) in wires {
            let (stream, document) = wire(&sample);
            let of_stream = play(kind, &[stream.as_bytes()]);
            prop_assert_eq!(&of_stream.text, &sample.text, "{}: {:?}", kind, of_stream);
            prop_assert_eq!(of_stream.calls.len(), sample.calls.len());
            let of_document: CollectedAnswer = play(kind, &[document.to_string().as_bytes()]);
            prop_assert_eq!(of_stream, of_document, "{}", kind);
        }
    }
}
