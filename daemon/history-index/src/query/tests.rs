use proptest::prelude::*;
use rusqlite::Connection;

use super::*;

fn read(text: &str) -> Vec<String> {
    let terms = parse(text).unwrap();
    terms.iter().map(Term::expression).collect()
}

#[test]
fn words_and_phrases_are_quoted() {
    assert_eq!(read("Fix the Fix"), [r#""fix""#, r#""the""#]);
    assert_eq!(read("foo_bar -x*"), [r#""foo bar""#, r#""x""#]);
    assert_eq!(read(r#""exit code" 7"#), [r#""exit code""#, r#""7""#]);
    assert_eq!(
        read(r#"half "open ended"#),
        [r#""half""#, r#""open ended""#]
    );
    assert_eq!(parse(" * \"\" -"), Err(QueryError::Empty));
    let many: Vec<String> = (0..33).map(|number| number.to_string()).collect();
    assert_eq!(parse(&many.join(" ")), Err(QueryError::TooLong));
}

#[test]
fn short_runs_are_phrases_and_sentences_are_pairs() {
    assert_eq!(read("数据库"), [r#""数据 据库""#]);
    assert_eq!(read("库"), [r#""库"*"#]);
    assert_eq!(read("rust代码"), [r#""rust 代码""#]);
    assert_eq!(
        read("数据库连接"),
        [r#""数据""#, r#""据库""#, r#""库连""#, r#""连接""#]
    );
}

proptest! {
    #[test]
    fn no_text_is_a_syntax_error(text in "[ -~数据库\"*:^(){}+-]{0,30}") {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter ascii')").unwrap();
        if let Ok(terms) = parse(&text) {
            for expression in [any_of(terms.iter()), all_of(terms.iter())] {
                let found = connection.query_row("SELECT count(*) FROM t WHERE t MATCH ?1", [&expression], |row| row.get::<_, i64>(0));
                prop_assert_eq!(found.ok(), Some(0), "{}", expression);
            }
        }
    }
}
