//! The shell's wildcards in one name, without a file system to try them on. Called by `protected`.

/// Whether a pattern of one name may match a name. Brackets are taken for any character, or any few of them.
pub(crate) fn may_match(pattern: &str, name: &str) -> bool {
    let mut simple = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c == '[' {
            rest.by_ref().find(|c| *c == ']');
            simple.push('*');
        } else {
            simple.push(c);
        }
    }
    let pattern: Vec<char> = simple.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // What of the pattern may have been used up to match the name so far.
    let mut at: Vec<bool> = vec![false; pattern.len() + 1];
    at[0] = true;
    let stars = |at: &mut Vec<bool>| {
        for (index, c) in pattern.iter().enumerate() {
            if *c == '*' && at[index] {
                at[index + 1] = true;
            }
        }
    };
    stars(&mut at);
    for c in name {
        let mut next = vec![false; pattern.len() + 1];
        for (index, p) in pattern.iter().enumerate() {
            if at[index] && *p == '*' {
                next[index] = true;
            } else if at[index] && (*p == '?' || *p == c) {
                next[index + 1] = true;
            }
        }
        at = next;
        stars(&mut at);
    }
    at.last().copied().unwrap_or(false)
}
