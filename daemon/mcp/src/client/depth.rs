//! Messages that are nested so deeply that the parser refuses them as a whole. Pure.

/// How deep a message may be nested. The parser refuses 128.
const DEPTH_MAX: usize = 100;

/// The message with `null` in the place of all that is nested too deeply, so that the rest of it counts. `None`: nothing
/// is.
pub(super) fn without_depths(message: &[u8]) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut depth = 0_usize;
    let (mut in_string, mut is_escaped, mut is_changed) = (false, false, false);
    for &byte in message {
        if in_string {
            if depth <= DEPTH_MAX {
                kept.push(byte);
            }
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == DEPTH_MAX + 1 {
                    kept.extend_from_slice(b"null");
                    is_changed = true;
                }
            }
            b'"' => in_string = true,
            _ => {}
        }
        if depth <= DEPTH_MAX {
            kept.push(byte);
        }
        if matches!(byte, b'}' | b']') {
            depth = depth.saturating_sub(1);
        }
    }
    is_changed.then_some(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}1{}", r#"{"a]":["#.repeat(depth), "]}".repeat(depth))
    }

    #[test]
    fn what_is_too_deep_is_null_and_the_rest_stays() {
        assert_eq!(without_depths(nested(50).as_bytes()), None);
        let message = format!(r#"{{"first":"\\\"[","deep":{},"last":[2]}}"#, nested(300));
        assert!(serde_json::from_str::<Value>(&message).is_err());
        let kept = without_depths(message.as_bytes()).unwrap();
        let kept: Value = serde_json::from_slice(&kept).unwrap();
        assert_eq!(
            (&kept["first"], &kept["last"]),
            (&json!("\\\"["), &json!([2]))
        );
        assert!(kept.to_string().contains("null"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in "[\\[\\]{}\"a\\\\]{0,400}") {
            let _ = without_depths(bytes.as_bytes());
        }
    }
}
