use super::*;

/// Edits a draft with a shell script as the editor. The file is `$0`.
async fn edited(script: &str, draft: &str) -> Result<String, ErrorReport> {
    let command = ["sh", "-c", script].map(str::to_owned);
    edit(&command, draft, Language::English).await
}

#[test]
fn the_variables_say_which_editor() {
    let none = |_: &str| None;
    assert_eq!(command(none), ["vi"]);
    let editor = |name: &str| (name == "EDITOR").then(|| "code  --wait".to_owned());
    assert_eq!(command(editor), ["code", "--wait"]);
    let both = |name: &str| Some(if name == "VISUAL" { " " } else { "nano" }.to_owned());
    assert_eq!(command(both), ["nano"]);
    let visual = |name: &str| Some(if name == "VISUAL" { "vim" } else { "ed" }.to_owned());
    assert_eq!(command(visual), ["vim"]);
}

#[tokio::test]
async fn the_edited_draft_loses_its_final_newline() {
    assert_eq!(
        edited("echo more >> $0", "one\n").await.unwrap(),
        "one\nmore"
    );
    assert_eq!(edited("true", "one\n\n").await.unwrap(), "one\n");
    assert_eq!(
        edited("printf 'a\\r\\nb\\r\\n' > $0", "").await.unwrap(),
        "a\nb"
    );
}

#[tokio::test]
async fn the_draft_is_private() {
    let modes = edited(
        "d=$(dirname $0); stat -c %a $0 $d > $d/x; mv $d/x $0",
        "secret",
    )
    .await;
    assert_eq!(modes.unwrap(), "600\n700");
}

#[tokio::test]
async fn an_editor_that_fails_or_is_missing_is_reported() {
    let trouble = edited("exit 3", "draft").await.unwrap_err();
    assert!(trouble.what.contains("exit status: 3"), "{trouble:?}");
    let missing = ["/nowhere/at-all".to_owned()];
    let trouble = edit(&missing, "draft", Language::English)
        .await
        .unwrap_err();
    assert!(trouble.what.contains("/nowhere/at-all"), "{trouble:?}");
    assert!(trouble.hint.contains("EDITOR"), "{trouble:?}");
}
