//! Scenes for names.

use super::*;

#[test]
fn a_secret_is_known_by_its_name_in_whatever_case() {
    for name in [
        "DEEPSEEK_API_KEY",
        "github_token",
        "My_Secret_Thing",
        "DB_PASSWORD",
        "MYSQL_PASSWD",
        "passwd",
    ] {
        assert!(secret_name(name), "{name}");
    }
    for name in ["PATH", "EDITOR", "LD_PRELOAD", "PWD", ""] {
        assert!(!secret_name(name), "{name}");
    }
}
