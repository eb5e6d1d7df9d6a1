//! What a scripted model says, put together in Rust: the text of a cassette for the provider `replay`.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// Answers in order.
#[derive(Clone, Debug, Default)]
pub struct Script {
    lines: Vec<Map<String, Value>>,
}

impl Script {
    /// No answer yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of text alone: it ends the turn.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.line(json!({"text": text}))
    }

    /// An answer with one call.
    #[must_use]
    pub fn calls(self, tool: &str, arguments: &Value) -> Self {
        self.calls_all(&[(tool, arguments.clone())])
    }

    /// An answer with several calls.
    #[must_use]
    pub fn calls_all(self, calls: &[(&str, Value)]) -> Self {
        let calls: Vec<_> = calls
            .iter()
            .map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
            .collect();
        self.line(json!({"tool_calls": calls}))
    }

    /// An answer with one call of `bash`.
    #[must_use]
    pub fn runs(self, command: &str) -> Self {
        self.calls("bash", &json!({"command": command}))
    }

    /// A failed try of the next answer: `http:429`, `cut`, `stall`, `garbage`.
    #[must_use]
    pub fn fails(self, fault: &str) -> Self {
        self.line(json!({"fault": fault}))
    }

    /// The newest answer comes in pieces of `bytes`, each after a pause.
    ///
    /// # Panics
    /// There is no answer yet.
    #[must_use]
    pub fn in_pieces(mut self, bytes: usize, pause: Duration) -> Self {
        let line = self
            .lines
            .last_mut()
            .expect("an answer to be said in pieces");
        line.insert("chunk_bytes".into(), bytes.into());
        line.insert(
            "delay_ms".into(),
            u64::try_from(pause.as_millis()).unwrap_or(u64::MAX).into(),
        );
        self
    }

    /// The newest answer is given only where what came since the answer before holds this text.
    ///
    /// # Panics
    /// There is no answer yet.
    #[must_use]
    pub fn when(mut self, contains: &str) -> Self {
        let line = self
            .lines
            .last_mut()
            .expect("an answer to be given on a condition");
        line.insert("when".into(), json!({"contains": contains}));
        self
    }

    /// Any line of a cassette.
    ///
    /// # Panics
    /// It is no JSON object.
    #[must_use]
    pub fn line(mut self, line: Value) -> Self {
        let Value::Object(line) = line else {
            panic!("a line of a cassette is an object, not {line}")
        };
        self.lines.push(line);
        self
    }

    /// The cassette.
    #[must_use]
    pub fn jsonl(&self) -> String {
        self.lines
            .iter()
            .map(|line| format!("{}\n", Value::Object(line.clone())))
            .collect()
    }
}

#[cfg(test)]
mod tests;
