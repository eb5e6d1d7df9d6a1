//! Scenes for the rule that client and daemon share.

use std::collections::HashMap;

use super::*;

fn paths(variables: &[(&str, &str)]) -> Result<Paths, PathsError> {
    let map: HashMap<_, _> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
        .collect();
    Paths::from_lookup(
        &|name| map.get(name).cloned(),
        Path::new("/somewhere"),
        1000,
    )
}

#[test]
fn the_home_is_the_variable_or_a_folder_of_the_user() {
    assert_eq!(
        paths(&[("REASONIX_HOME", "/h"), ("HOME", "/u")])
            .unwrap()
            .home,
        Path::new("/h")
    );
    assert_eq!(
        paths(&[("REASONIX_HOME", ""), ("HOME", "/u")])
            .unwrap()
            .home,
        Path::new("/u/.reasonix")
    );
    assert_eq!(
        paths(&[("REASONIX_HOME", "h")]).unwrap().home,
        Path::new("/somewhere/h")
    );
    assert!(matches!(paths(&[]), Err(PathsError::NoHome)));
}

#[test]
fn the_socket_is_inside_the_home_while_it_fits() {
    let found = paths(&[("REASONIX_HOME", "/h")]).unwrap();
    assert_eq!(
        (found.socket.as_path(), found.socket_given),
        (Path::new("/h/run/reasonixd.sock"), false)
    );
    let named = paths(&[("REASONIX_HOME", "/h"), ("REASONIX_SOCKET", "/s")]).unwrap();
    assert_eq!(
        (named.socket.as_path(), named.socket_given),
        (Path::new("/s"), true)
    );
}

#[test]
fn a_long_home_gets_a_short_socket_elsewhere() {
    let home = format!("/{}", "x".repeat(120));
    let runtime = paths(&[
        ("REASONIX_HOME", &home),
        ("XDG_RUNTIME_DIR", "/run/user/1000"),
    ])
    .unwrap();
    let name = runtime.socket.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        runtime.socket.parent().unwrap(),
        Path::new("/run/user/1000/reasonix")
    );
    assert_eq!(name.len(), 16 + ".sock".len());
    assert!(
        name[..16]
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    );
    let plain = paths(&[("REASONIX_HOME", &home)]).unwrap();
    assert_eq!(plain.socket, Path::new("/tmp/reasonix-1000").join(name));
}

#[test]
fn socket_leaves_the_home_if_its_path_is_too_long() {
    // "/" + n + "/run/reasonixd.sock" is 20 + n bytes long.
    let fits = format!("/{}", "x".repeat(SOCKET_PATH_MAX - 20));
    assert!(
        paths(&[("REASONIX_HOME", &fits)])
            .unwrap()
            .socket
            .starts_with(&fits)
    );
    let over = format!("{fits}x");
    assert!(
        !paths(&[("REASONIX_HOME", &over)])
            .unwrap()
            .socket
            .starts_with(&over)
    );
}

#[test]
fn the_hash_is_the_start_of_sha256() {
    // The well-known value of SHA-256 for "abc".
    assert_eq!(hash(Path::new("abc")), "ba7816bf8f01cfea");
}

#[test]
fn a_socket_asked_for_by_name_is_never_replaced() {
    let long = format!("/{}", "x".repeat(120));
    assert!(matches!(
        paths(&[("REASONIX_HOME", "/h"), ("REASONIX_SOCKET", &long)]),
        Err(PathsError::TooLong { .. })
    ));
}
