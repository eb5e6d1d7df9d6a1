use super::*;

#[test]
fn one_of_a_list_is_named_by_number_or_name() {
    let names = ["alpha", "7b"];
    assert_eq!(typed("2", &names), Typed::Index(1));
    assert_eq!(typed("Alpha", &names), Typed::Index(0));
    assert_eq!(typed("7b", &names), Typed::Index(1));
    for other in ["0", "3", "beta", ""] {
        assert_eq!(typed(other, &names), Typed::Other(other));
    }
}

#[test]
fn a_new_provider_has_a_variable_for_its_key() {
    assert_eq!(variable("my-own.llm"), "MY_OWN_LLM_API_KEY");
    assert_eq!(variable("4all"), "_4ALL_API_KEY");
    assert!(is_name("my-own.llm_2") && !is_name("a/b") && !is_name("") && !is_name("a b"));
}
