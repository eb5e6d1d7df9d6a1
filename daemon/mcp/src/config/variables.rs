//! Variables in the texts of an entry: `${NAME}` and `${NAME:-default}`. Pure.

/// Whether this can be the name of an environment variable.
pub(super) fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Replaces `${NAME}` and `${NAME:-default}`. Everything else stays, a `$` alone too.
///
/// # Errors
/// An unset variable without a default.
pub fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let parsed = after.split_once('}').and_then(|(inside, behind)| {
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            is_variable_name(name).then_some((name, default, behind))
        });
        let Some((name, default, behind)) = parsed else {
            out.push_str("${");
            rest = after;
            continue;
        };
        let value = variable(name).filter(|value| !value.is_empty() || default.is_none());
        match value.or_else(|| default.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => {
                return Err(format!(
                    "the environment variable `{name}` is not set where `reasonix` was started, and the entry gives no default (`${{{name}:-default}}`)"
                ));
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}
