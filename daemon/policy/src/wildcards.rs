//! Matches the shell's wildcards against one name, without a file system. Called by `protected`.

/// Whether a pattern may match a name. Brackets count as any number of any characters.
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
    // The positions in the pattern that may be reached after matching the name so far.
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
