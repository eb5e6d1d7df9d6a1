//! The lines of facts in the prefix of a session. Pure.

use super::stores::SavedFact;

/// Lines in a prefix.
pub const INDEX_LINES_MAX: usize = 200;

/// A line for each fact that holds on this day (`YYYY-MM-DD`), sorted by scope and name: the newest, where there are more
/// than fit, and a last line with the number of the others.
#[must_use]
pub fn index_lines(facts: &[SavedFact], today: &str) -> Vec<String> {
    let mut valid: Vec<&SavedFact> = facts
        .iter()
        .filter(|saved| !saved.fact.is_stale(today))
        .collect();
    let mut older = 0;
    if valid.len() > INDEX_LINES_MAX {
        // Stable: of equally new ones the first by scope and name.
        valid.sort_by(|one, two| two.fact.updated.cmp(&one.fact.updated));
        older = valid.len() - (INDEX_LINES_MAX - 1);
        valid.truncate(INDEX_LINES_MAX - 1);
    }
    let others = (older > 0).then(|| {
        format!("({older} older ones are not listed: a search of the memory finds them.)")
    });
    valid.sort_by(|one, two| (one.scope, &one.fact.name).cmp(&(two.scope, &two.fact.name)));
    let lines = valid.into_iter().map(|SavedFact { fact, .. }| {
        format!(
            "- {} ({}): {}",
            fact.name,
            fact.fact_type.as_str(),
            fact.description
        )
    });
    lines.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use proto::params::memory::{FactScope, FactType};

    use super::*;
    use crate::memory::Fact;

    fn saved(name: &str, updated: &str) -> SavedFact {
        SavedFact {
            scope: FactScope::User,
            fact: Fact {
                name: name.to_owned(),
                description: "About it".to_owned(),
                fact_type: FactType::Feedback,
                created: None,
                updated: Some(updated.to_owned()),
                source: None,
                expires: None,
                superseded_by: None,
                content: "text".to_owned(),
            },
        }
    }

    #[test]
    fn lines_are_sorted_and_leave_out_what_no_longer_holds() {
        let mut expired = saved("c", "2026-01-01");
        expired.fact.expires = Some("2026-01-02".to_owned());
        let mut superseded = saved("d", "2026-01-01");
        superseded.fact.superseded_by = Some("a".to_owned());
        let facts = [saved("b", "2026"), expired, superseded, saved("a", "2026")];
        assert_eq!(
            index_lines(&facts, "2026-01-03"),
            ["- a (feedback): About it", "- b (feedback): About it"]
        );
    }

    #[test]
    fn newest_facts_have_the_lines_that_there_are() {
        let facts: Vec<_> = (0..300)
            .map(|n| saved(&format!("n{n:03}"), &format!("2026-{n:03}")))
            .collect();
        let lines = index_lines(&facts, "2026-01-01");
        assert_eq!(lines.len(), INDEX_LINES_MAX);
        assert!(lines[0].starts_with("- n101 "), "{}", lines[0]);
        assert_eq!(
            lines[INDEX_LINES_MAX - 1],
            "(101 older ones are not listed: a search of the memory finds them.)"
        );
    }
}
