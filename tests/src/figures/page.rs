//! The page of the figures: prose, and tables between marks. Only the tables are regenerated. Pure.

/// The page with another table in the place of a group's.
///
/// # Errors
/// The page has no such place.
pub fn replace(page: &str, group: &str, table: &str) -> Result<String, String> {
    let (begin, end) = marks(group);
    let missing = |mark: &str| format!("the page has no line `{mark}`");
    let (before, rest) = page.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    Ok(format!("{before}{begin}\n\n{table}\n{end}{after}"))
}

/// The subjects of the rows of a group's table, in order; empty if it has no table.
#[must_use]
pub fn rows<'a>(page: &'a str, group: &str) -> Vec<&'a str> {
    let (begin, end) = marks(group);
    let inside = page
        .split_once(&begin)
        .and_then(|(_, rest)| rest.split_once(&end));
    inside.map_or_else(Vec::new, |(table, _)| first_cells(table))
}

/// The first cells of all rows of tables in a text, without heads.
#[must_use]
pub fn first_cells(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().collect();
    let body = |index: &usize| {
        let rule = |line: Option<&&str>| line.is_some_and(|line| line.starts_with("|---"));
        !rule(lines.get(*index)) && !rule(lines.get(index + 1))
    };
    let rows = (0..lines.len()).filter(body);
    rows.filter_map(|index| lines[index].strip_prefix("| ")?.split_once(" |"))
        .map(|(cell, _)| cell)
        .collect()
}

fn marks(group: &str) -> (String, String) {
    (
        format!("<!-- figures: {group} -->"),
        format!("<!-- end of {group} -->"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_the_place_of_another_and_the_prose_stays() {
        let page = "before\n<!-- figures: one -->\nold\n<!-- end of one -->\nafter\n";
        let table = "| what | figure |\n|---|---|\n| a start | 5 ms |\n| another | 6 ms |\n";
        let made = replace(page, "one", table).expect("its place");
        assert!(
            made.starts_with("before\n") && made.ends_with("\nafter\n") && !made.contains("old")
        );
        assert_eq!(rows(&made, "one"), ["a start", "another"]);
        assert_eq!(replace(&made, "one", table).as_ref(), Ok(&made));
        assert!(replace(page, "two", table).is_err());
        assert_eq!(rows(page, "two"), Vec::<&str>::new());
    }
}
