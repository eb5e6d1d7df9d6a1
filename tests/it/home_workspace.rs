//! The user's home is not a workspace by default.

use proto::SessionOptions;
use proto::hello::Role;
use proto::methods::SessionCreate;
use proto::params::session::CreateParams;
use proto::state::ApprovalMode;
use serde_json::json;
use testkit::Script;
use tests::House;
use tests::interactions::{approval, first_opened};

fn script() -> Script {
    Script::new()
        .calls("write_file", &json!({"path": "made", "content": "x"}))
        .says("Done.")
}

#[test]
fn a_run_in_the_home_or_above_it_is_refused_and_says_with_which_flag_it_is_not() {
    let house = House::playing(&script());
    let home = house.user_home();
    for place in [home.clone(), house.root().to_path_buf()] {
        let mut run = house.command(&["run", "go"]);
        let done = tests::program::run(run.current_dir(&place));
        assert_ne!(done.code(), Some(0), "{}", done.out);
        assert!(done.err.contains("--in-home"), "{}", done.err);
    }
    assert!(!home.join("made").exists());
    let mut run = house.command(&["run", "go", "--in-home"]);
    let done = tests::program::run(run.current_dir(&home));
    assert_eq!(done.code(), Some(0), "{}", done.err);
    assert!(home.join("made").exists());
}

#[test]
fn a_repository_of_dotfiles_below_it_is_an_ordinary_one() {
    let house = House::playing(&script());
    let dotfiles = house.user_home().join("dotfiles");
    std::fs::create_dir_all(dotfiles.join(".git")).expect("a repository");
    std::fs::write(dotfiles.join(".git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
    let mut run = house.command(&["run", "go"]);
    let done = tests::program::run(run.current_dir(&dotfiles));
    assert_eq!(done.code(), Some(0), "{}", done.err);
    assert!(dotfiles.join("made").exists());
}

#[tokio::test]
async fn session_in_the_users_home_asks_before_a_change_in_yolo_mode() {
    let house = House::playing(&script());
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let create = house.create("go");
    let create = CreateParams {
        cwd: house.user_home().to_string_lossy().into_owned(),
        options: SessionOptions {
            approval_mode: Some(ApprovalMode::Yolo),
            ..create.options.clone()
        },
        ..create
    };
    let made = client.call::<SessionCreate>(&create).await.expect("create");
    let open = first_opened(&client, made.pid).await;
    assert!(approval(&open).rule.contains("your home"), "{open:?}");
    assert!(!house.user_home().join("made").exists());
}

#[tokio::test]
async fn a_file_that_starts_at_a_login_is_asked_about_wherever_it_lies() {
    for name in [
        ".vimrc",
        ".config/git/config",
        "sub/.config/systemd/user/x.service",
        ".local/bin/ls",
    ] {
        let house = House::playing(
            &Script::new()
                .calls("write_file", &json!({"path": name, "content": "x"}))
                .says("Done."),
        );
        house.daemon();
        let client = house.client("ann", Role::Drive).await;
        let create = house.create("go");
        let options = SessionOptions {
            approval_mode: Some(ApprovalMode::Yolo),
            ..create.options.clone()
        };
        let create = CreateParams { options, ..create };
        let made = client.call::<SessionCreate>(&create).await.expect("create");
        let open = first_opened(&client, made.pid).await;
        assert_eq!(approval(&open).subject, name);
    }
}

#[tokio::test]
async fn a_workspace_within_a_directory_of_login_files_is_asked_about_them_too() {
    for (root, name) in [
        (".config", "systemd/user/x.service"),
        (".config/fish", "config.fish"),
        (".local", "bin/ls"),
    ] {
        let house = House::playing(
            &Script::new()
                .calls("write_file", &json!({"path": name, "content": "x"}))
                .says("Done."),
        );
        let root = house.user_home().join(root);
        std::fs::create_dir_all(&root).unwrap();
        house.daemon();
        let client = house.client("ann", Role::Drive).await;
        let create = house.create("go");
        let options = SessionOptions {
            approval_mode: Some(ApprovalMode::Yolo),
            ..create.options.clone()
        };
        let cwd = root.to_str().unwrap().to_owned();
        let create = CreateParams {
            options,
            cwd,
            ..create
        };
        let made = client.call::<SessionCreate>(&create).await.expect("create");
        let open = first_opened(&client, made.pid).await;
        assert_eq!(approval(&open).subject, name);
        assert!(!root.join(name).exists());
    }
}
