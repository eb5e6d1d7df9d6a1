//! Errors that MiniMax sends with the status 200, in a member `base_resp` beside those of an answer.
//!
//! Called by `stream`.

use crate::failure::VendorError;
use crate::lenient::Object;

/// The error in an event or a document, if any. Every whole answer has the member, with the code 0.
pub(super) fn error_in(chunk: &Object<'_>) -> Option<VendorError> {
    let base = chunk.object("base_resp")?;
    let code = base.number("status_code").filter(|code| *code != 0)?;
    Some(VendorError {
        code: status(code).unwrap_or(code).to_string(),
        message: base.text("status_msg").into_owned(),
        ..VendorError::default()
    })
}

/// The HTTP status that corresponds to a code. `None`: another try may help.
fn status(code: u64) -> Option<u64> {
    Some(match code {
        // No key, a wrong one.
        1004 | 2049 => 401,
        // Insufficient balance.
        1008 => 402,
        // Requests, tokens and connections a minute; requests that grow too fast.
        1002 | 1039 | 1041 | 2045 => 429,
        // Forbidden content of the prompt and of the answer; invisible characters; invalid parameters.
        1026 | 1027 | 1042 | 2013 => 400,
        _ => return None,
    })
}
