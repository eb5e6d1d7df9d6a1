//! Whether a directory is the user's home, or holds it: whoever writes there decides what starts at the next login.

use std::path::{Path, PathBuf};

/// The system's list of users.
const PASSWORDS: &str = "/etc/passwd";

/// Whether a resolved directory is this home, the one that the system has for the user, or one above either.
#[must_use]
pub fn holds_home(root: &Path, user_home: &Path) -> bool {
    let listed = std::fs::read_to_string(PASSWORDS).unwrap_or_default();
    let uid = rustix::process::getuid().as_raw();
    let homes = [Some(user_home.to_path_buf()), home_of(&listed, uid)];
    homes.into_iter().flatten().any(|home| {
        let real = home.canonicalize().unwrap_or_else(|_| home.clone());
        // A user without a home has `/` or nothing there.
        home.parent().is_some() && (real.starts_with(root) || home.starts_with(root))
    })
}

/// The home that a list of users has for this one.
fn home_of(listed: &str, uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    let mut users = listed.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| {
        let known = fields.nth(2)?;
        let home = fields.nth(2)?;
        (known == uid && !home.is_empty()).then(|| PathBuf::from(home))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_home_and_its_parents_contain_it_even_through_a_link() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("real/ann/dotfiles")).unwrap();
        std::os::unix::fs::symlink(top.join("real"), top.join("home")).unwrap();
        let home = top.join("home/ann");
        assert!(holds_home(&top.join("real/ann"), &home));
        assert!(holds_home(&top.join("real"), &home));
        assert!(holds_home(Path::new("/"), &home));
        assert!(!holds_home(&top.join("real/ann/dotfiles"), &home));
        assert!(!holds_home(&top.join("other"), &home));
    }

    #[test]
    fn the_list_of_users_names_a_home() {
        let listed = "root:x:0:0:root:/root:/bin/bash\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\nno:x:7:7:::\n";
        assert_eq!(home_of(listed, 1000), Some(PathBuf::from("/home/ann")));
        assert_eq!(home_of(listed, 7), None);
        assert_eq!(home_of(listed, 8), None);
    }
}
