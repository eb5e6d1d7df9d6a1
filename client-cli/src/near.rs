//! Names that are like one that does not exist. Pure.

/// The names that are nearest to `wanted`, best first, at most three. None where nothing is like it.
pub fn names<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let far = wanted.chars().count() / 3 + 1;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let apart = match lower.contains(&wanted) && wanted.len() > 2 {
                true => 0,
                false => distance(&wanted, &lower),
            };
            (apart <= far).then_some((apart, name))
        })
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// `Did you mean `a` or `b`? ` with what else can be done behind it.
pub fn hint<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    let near = names(wanted, known);
    if near.is_empty() {
        return otherwise.to_owned();
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("Did you mean {}? {otherwise}", near.join(" or "))
}

/// Letters that must be put in, taken out or changed to make one of the other.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut next = vec![line + 1];
        for (column, other) in two.iter().enumerate() {
            let at =
                |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let changed = at(&row, column) + usize::from(letter != *other);
            let least = changed
                .min(at(&row, column + 1) + 1)
                .min(at(&next, column) + 1);
            next.push(least);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
