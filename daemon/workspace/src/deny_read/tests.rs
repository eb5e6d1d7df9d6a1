//! Text comparison denies the same paths as a glob set.

use globset::GlobSetBuilder;
use proptest::prelude::*;

use super::*;

fn closed(globs: &[&str]) -> DenyRead {
    let texts = globs
        .iter()
        .map(|glob| ((*glob).to_owned(), (*glob).to_owned()));
    DenyRead::new(texts.collect()).expect("globs")
}

#[test]
fn the_first_matching_pattern_is_named() {
    let closed = closed(&["/h/*.pem", "/h/.ssh", "/h/.ssh/**", "/h/k*/**", "/h/[*]x"]);
    for (path, index) in [
        ("/h/a.pem", Some(0)),
        ("/h/.ssh", Some(1)),
        ("/h/.ssh/id", Some(2)),
        ("/h/.ssh/a/b", Some(2)),
        ("/h/.sshx", None),
        ("/h/.ssh.pem", Some(0)),
        ("/h/kube/c", Some(3)),
        ("/h/*x", Some(4)),
        ("/h/yx", None),
        ("/h", None),
        ("/", None),
    ] {
        assert_eq!(closed.at(Path::new(path)), index, "{path}");
    }
    assert_eq!(closed.texts().len(), 5);
}

#[test]
fn an_extra_slash_does_not_lead_outside() {
    let closed = closed(&["/h/secrets/", "/h/keys//**", "/**"]);
    assert_eq!(closed.at(Path::new("/h/secrets")), Some(0));
    assert_eq!(closed.at(Path::new("/h/keys/a")), Some(1));
    assert_eq!(closed.at(Path::new("/x")), Some(2));
    assert_eq!(closed.at(Path::new("/")), None);
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab.]{1,2}".prop_filter("no dots alone", |part| part != "." && part != ".."),
        1 => Just("*".to_owned()),
        1 => Just("**".to_owned()),
        1 => "[ab]\\*|\\[a\\]|\\[!a\\]|\\{a,b\\}|\\?",
    ]
}

proptest! {
    #[test]
    fn masking_matches_a_glob_set(
        globs in prop::collection::vec(prop::collection::vec(part(), 1..4), 1..5),
        path in prop::collection::vec("[ab.]{1,2}", 1..5),
    ) {
        let globs: Vec<_> = globs.iter().map(|parts| format!("/{}", parts.join("/"))).collect();
        let mut set = GlobSetBuilder::new();
        for glob in &globs {
            set.add(compile_glob(glob).expect("a glob"));
        }
        let set = set.build().expect("a set");
        let path = PathBuf::from(format!("/{}", path.join("/")));
        let texts = globs.iter().map(|glob| (glob.clone(), glob.clone())).collect();
        let closed = DenyRead::new(texts).expect("globs");
        prop_assert_eq!(closed.at(&path), set.matches(&path).first().copied());
    }
}
