//! Endpoints that answer, refuse, echo, lie, flood and hang.

use serde_json::Value;

use super::*;
use crate::fake::{FakeServer, ServerAction, plain};

const CANARY: &str = "canary-7f3e9b-do-not-show";

fn of(fake: &FakeServer) -> ProbeRequest {
    ProbeRequest {
        kind: "openai".to_owned(),
        name: "acme".into(),
        base_url: fake.base.clone(),
        model: "big".into(),
        key: Some(Secret::new(CANARY.into())),
        key_env: Some("ACME_API_KEY".into()),
        headers: Vec::new(),
        connect: Duration::from_secs(5),
    }
}

fn json(status: u16, body: &str) -> Vec<ServerAction> {
    vec![plain(status, "Content-Type: application/json\r\n", body)]
}

const LIST: &str = r#"{"object":"list","data":[{"id":"one"},{"id":"two"}]}"#;

fn ids(probed: &ProbeResult) -> Vec<&str> {
    probed.listed.iter().map(|model| &*model.id).collect()
}

#[tokio::test]
async fn key_whose_prompt_is_answered_is_valid_and_the_models_are_returned() {
    let mut fake = FakeServer::start(vec![json(200, LIST), json(200, "{}")]).await;
    let probed = probe(of(&fake)).await;
    assert!(probed.reachable);
    assert_eq!(probed.key, KeyState::Works, "{probed:?}");
    assert_eq!(ids(&probed), ["one", "two"]);
    assert!(fake.base.contains(&probed.host), "{}", probed.host);
    assert_eq!(probed.hint, "");
    let seen = fake.request().await;
    assert!(
        seen.head.starts_with("GET /v1/models HTTP/1.1"),
        "{}",
        seen.head
    );
    assert!(seen.head.contains(&format!("Bearer {CANARY}")));
    let prompt = fake.request().await;
    assert!(prompt.head.starts_with("POST "), "{}", prompt.head);
}

#[tokio::test]
async fn refusal_of_the_prompt_is_told_with_its_status() {
    for (status, body) in [
        (400, r#"{"error":{"message":"bad request"}}"#),
        (429, r#"{"error":{"message":"slow down"}}"#),
        (500, r#"{"error":{"message":"down"}}"#),
        (
            404,
            r#"{"error":{"message":"no such model","code":"model_not_found"}}"#,
        ),
    ] {
        let fake = FakeServer::start(vec![json(200, LIST), json(status, body)]).await;
        let probed = probe(of(&fake)).await;
        assert_eq!(probed.key, KeyState::Unknown, "{probed:?}");
        let words = format!("refused a prompt of one token: it answered {status}: ");
        assert!(probed.text.contains(&words), "{}", probed.text);
        assert!(!probed.hint.is_empty());
    }
}

#[tokio::test]
async fn a_public_model_list_does_not_prove_the_key_and_a_small_prompt_does() {
    for (answer, key, words) in [
        (
            json(200, "{}"),
            KeyState::Works,
            "a prompt of one token; the key works",
        ),
        (
            json(401, r#"{"error":{"message":"bad key"}}"#),
            KeyState::Wrong,
            "refuses the key",
        ),
        (
            json(500, r#"{"error":{"message":"down"}}"#),
            KeyState::Unknown,
            "refused a prompt of one token: it answered 500: down",
        ),
    ] {
        // The list is there without a key too.
        let mut fake = FakeServer::start(vec![json(200, LIST), answer, json(200, LIST)]).await;
        let probed = probe(of(&fake)).await;
        assert_eq!(probed.key, key, "{probed:?}");
        assert_eq!(probed.listed.len(), 2);
        assert!(probed.text.contains(words), "{}", probed.text);
        let _ = fake.request().await;
        let prompt = fake.request().await;
        assert!(
            prompt.head.starts_with("POST /v1/chat/completions"),
            "{}",
            prompt.head
        );
        let body = String::from_utf8_lossy(&prompt.body);
        assert!(body.contains("\"one\""), "a model that it has: {body}");
    }
}

#[tokio::test]
async fn an_error_in_place_of_the_answer_to_a_prompt_is_no_success() {
    let quota = r#"{"error":{"message":"no credit","code":"insufficient_quota"}}"#;
    let event = format!("data: {quota}\n\n");
    for (list, answer) in [
        (true, quota),
        (true, &event),
        (false, quota),
        (false, &event),
    ] {
        let script = match list {
            true => vec![json(200, LIST), json(200, answer)],
            false => vec![json(404, ""), json(200, answer)],
        };
        let fake = FakeServer::start(script).await;
        let probed = probe(of(&fake)).await;
        assert_eq!(probed.key, KeyState::Wrong, "{list} {answer}: {probed:?}");
        assert!(probed.hint.contains("add credit"), "{probed:?}");
    }
}

#[tokio::test]
async fn a_refused_key_is_invalid_and_never_shown_although_the_server_echoes_it() {
    let words = format!("x{}", "y".repeat(4000));
    for status in [401, 403] {
        let body = format!(r#"{{"error":{{"message":"bad key: {CANARY} {words}"}}}}"#);
        let fake = FakeServer::start(vec![json(status, &body)]).await;
        let probed = probe(of(&fake)).await;
        assert!(probed.reachable);
        assert_eq!(probed.key, KeyState::Wrong);
        let all = format!("{probed:?}");
        assert!(!all.contains(CANARY), "{all}");
        assert!(probed.text.contains("bad key: ***"), "{}", probed.text);
        assert!(probed.text.chars().count() < 500, "{}", probed.text.len());
        assert!(probed.hint.contains("`ACME_API_KEY`"), "{}", probed.hint);
    }
}

#[tokio::test]
async fn some_vendors_refuse_a_key_with_another_status() {
    let body = r#"{"error":{"code":"invalid_api_key","message":"no such key"}}"#;
    let fake = FakeServer::start(vec![json(400, body)]).await;
    assert_eq!(probe(of(&fake)).await.key, KeyState::Wrong);
}

#[tokio::test]
async fn an_error_in_any_form_is_a_failure_of_the_key() {
    for (status, body, hint) in [
        (
            400,
            r#"{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}"#,
            "check the key",
        ),
        (
            200,
            r#"{"error":{"message":"Incorrect API key provided"}}"#,
            "check the key",
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}]"#,
            "check the key",
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance"}}"#,
            "add credit",
        ),
        (
            429,
            r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#,
            "add credit",
        ),
    ] {
        let fake = FakeServer::start(vec![json(status, body), json(401, "{}")]).await;
        let probed = probe(of(&fake)).await;
        assert_eq!(probed.key, KeyState::Wrong, "{}", probed.text);
        assert!(probed.hint.contains(hint), "{}", probed.hint);
    }
}

#[tokio::test]
async fn model_names_are_redacted_and_limited() {
    let mut ids: Vec<_> = (0..3_000)
        .map(|n| serde_json::json!({"id": n.to_string()}))
        .collect();
    ids[0] = serde_json::json!({"id": format!("m\u{1b}[2J {CANARY}")});
    let body = serde_json::json!({"data": ids}).to_string();
    let fake = FakeServer::start(vec![json(200, &body), json(401, "{}")]).await;
    let probed = probe(of(&fake)).await;
    assert_eq!(probed.listed.len(), MODELS_MAX);
    assert!(!format!("{probed:?}").contains(CANARY));
    assert!(
        !probed.listed[0].id.contains('\u{1b}'),
        "{:?}",
        probed.listed[0]
    );
}

#[tokio::test]
async fn without_a_key_the_probe_reports_whether_one_is_needed() {
    let keyless = |fake: &FakeServer, named: bool| ProbeRequest {
        key: None,
        key_env: named.then(|| "ACME_API_KEY".to_owned()),
        ..of(fake)
    };
    for (status, named, expected) in [
        (401, true, KeyState::Missing),
        (401, false, KeyState::Missing),
        (200, true, KeyState::Missing),
        (200, false, KeyState::NotNeeded),
    ] {
        let mut fake = FakeServer::start(vec![json(status, LIST), json(200, "{}")]).await;
        let probed = probe(keyless(&fake, named)).await;
        assert_eq!(probed.key, expected, "{status} {named}");
        assert!(probed.reachable);
        let seen = fake.request().await;
        assert!(
            !seen.head.to_lowercase().contains("authorization"),
            "{}",
            seen.head
        );
    }
}

#[tokio::test]
async fn an_endpoint_without_a_model_list_gets_the_smallest_prompt_of_its_kind() {
    for (kind, path, limit) in [
        ("openai", "POST /v1/chat/completions ", "max_tokens"),
        (
            "openai-responses",
            "POST /v1/responses ",
            "max_output_tokens",
        ),
        ("anthropic", "POST /v1/messages ", "max_tokens"),
    ] {
        let missing = json(404, "not found");
        let mut fake = FakeServer::start(vec![missing, json(200, "{}")]).await;
        let kind = ProbeRequest {
            kind: kind.to_owned(),
            ..of(&fake)
        };
        let probed = probe(kind).await;
        assert!(probed.reachable, "{probed:?}");
        assert_eq!(probed.key, KeyState::Works);
        assert!(probed.text.contains("a prompt of one token"), "{probed:?}");
        fake.request().await;
        let seen = fake.request().await;
        assert!(seen.head.starts_with(path), "{}", seen.head);
        let body: Value = serde_json::from_slice(&seen.body).expect("JSON");
        assert_eq!(body["model"], "big");
        assert!(
            body[limit].as_u64().is_some_and(|most| most <= 16),
            "{body}"
        );
    }
}

#[tokio::test]
async fn probe_derives_reachability_and_key_state_from_the_prompt_response() {
    let bad_key = r#"{"error":{"message":"no such key"}}"#;
    let no_model = r#"{"error":{"message":"The model `big` does not exist"}}"#;
    let no_path = r#"{"error":{"message":"File Not Found","code":404}}"#;
    for (status, body, reachable, key) in [
        (401, bad_key, true, KeyState::Wrong),
        (404, no_model, true, KeyState::Unknown),
        (400, no_model, true, KeyState::Unknown),
        (404, no_path, false, KeyState::Unknown),
        (404, r#"{"detail":"Not Found"}"#, false, KeyState::Unknown),
        (405, "", false, KeyState::Unknown),
        (
            200,
            "<html>The model of the year</html>",
            false,
            KeyState::Unknown,
        ),
        (503, "", true, KeyState::Unknown),
    ] {
        let fake = FakeServer::start(vec![json(404, ""), json(status, body)]).await;
        let probed = probe(of(&fake)).await;
        let found = (probed.reachable, probed.key);
        assert_eq!(found, (reachable, key), "{status} {body}: {probed:?}");
        assert!(!probed.hint.is_empty(), "{probed:?}");
    }
}

#[tokio::test]
async fn an_address_without_its_version_is_told_with_it() {
    let fake = FakeServer::start(vec![json(404, ""), json(200, LIST)]).await;
    let host = fake.base.strip_suffix("/v1").expect("a version");
    let without = ProbeRequest {
        base_url: host.to_owned(),
        ..of(&fake)
    };
    let probed = probe(without).await;
    assert!(!probed.reachable, "nothing can work there: {probed:?}");
    assert!(probed.hint.contains(&fake.base), "{}", probed.hint);
}

/// Lists its models at every address, and takes prompts below `/v1` alone.
#[tokio::test]
async fn a_list_at_an_address_without_prompts_is_not_taken_for_an_api() {
    let refused = r#"{"error":{"message":"bad key"}}"#;
    for (key, prompt, found) in [
        (true, json(200, "{}"), true),
        (true, json(401, refused), true),
        (false, json(401, refused), true),
        (true, json(404, ""), false),
        (true, json(503, ""), false),
        (false, json(404, r#"{"detail":"Not Found"}"#), false),
    ] {
        let script = vec![json(200, LIST), json(404, ""), prompt];
        let mut fake = FakeServer::start(script).await;
        let host = fake.base.strip_suffix("/v1").expect("a version").to_owned();
        let asked = ProbeRequest {
            base_url: host,
            key: of(&fake).key.filter(|_| key),
            key_env: None,
            ..of(&fake)
        };
        let probed = probe(asked).await;
        assert!(!probed.reachable, "no prompt works there: {probed:?}");
        assert_ne!(probed.key, KeyState::NotNeeded);
        let better = found.then(|| fake.base.clone());
        assert_eq!(probed.better_base_url, better, "{probed:?}");
        assert!(probed.hint.contains("/v1"), "{}", probed.hint);
        fake.request().await;
        for path in ["POST /chat/completions ", "POST /v1/chat/completions "] {
            let seen = fake.request().await;
            assert!(seen.head.starts_with(path), "{}", seen.head);
        }
    }
}

#[tokio::test]
async fn prompts_below_v1_are_found_where_there_is_no_list_at_all() {
    let script = vec![json(404, ""), json(404, ""), json(404, ""), json(200, "{}")];
    let fake = FakeServer::start(script).await;
    let without = ProbeRequest {
        base_url: fake.base.strip_suffix("/v1").expect("a version").to_owned(),
        ..of(&fake)
    };
    let probed = probe(without).await;
    assert_eq!(
        probed.better_base_url.as_ref(),
        Some(&fake.base),
        "{probed:?}"
    );
}

#[tokio::test]
async fn probe_says_no_key_is_needed_only_if_a_prompt_without_one_succeeds() {
    for (answer, key) in [
        (json(200, "{}"), KeyState::NotNeeded),
        (
            json(401, r#"{"error":{"message":"who?"}}"#),
            KeyState::Missing,
        ),
        (json(500, ""), KeyState::Unknown),
    ] {
        let fake = FakeServer::start(vec![json(200, LIST), answer]).await;
        let asked = ProbeRequest {
            key: None,
            key_env: None,
            ..of(&fake)
        };
        let probed = probe(asked).await;
        assert_eq!((probed.reachable, probed.key), (true, key), "{probed:?}");
    }
}

#[test]
fn a_base_url_without_a_version_gets_one() {
    let host = versioned("http://127.0.0.1:8080/");
    assert_eq!(host.as_deref(), Some("http://127.0.0.1:8080/v1"));
    assert_eq!(
        versioned("https://api.example.org").as_deref(),
        Some("https://api.example.org/v1")
    );
    assert_eq!(
        versioned("https://example.org?k=1").as_deref(),
        Some("https://example.org/v1?k=1")
    );
    assert_eq!(
        versioned("https://example.org/api/").as_deref(),
        Some("https://example.org/api/v1")
    );
    for complete in ["/v2", "/v1beta/openai", "/paas/v4", "/chat/completions"] {
        let complete = format!("https://api.example.org{complete}");
        assert_eq!(versioned(&complete), None, "{complete}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_gets_no_key() {
    let mut other = FakeServer::start(vec![json(200, LIST)]).await;
    let to = format!("Location: {}/models\r\n", other.base);
    let fake = FakeServer::start(vec![vec![plain(307, &to, "")]]).await;
    let probed = probe(of(&fake)).await;
    assert!(!probed.reachable, "no prompt would get there either");
    assert_eq!(probed.key, KeyState::Unknown);
    assert!(probed.text.contains("redirects to"), "{}", probed.text);
    assert!(!other.was_asked(), "nobody followed it");
}

#[tokio::test]
async fn an_unreachable_endpoint_is_reported_with_a_hint() {
    let fake = FakeServer::start(Vec::new()).await;
    let what = of(&fake);
    drop(fake);
    let probed = probe(what).await;
    assert!(!probed.reachable, "{probed:?}");
    assert_eq!(probed.key, KeyState::Unknown);
    assert!(!probed.host.is_empty() && !probed.hint.is_empty());
}

#[tokio::test]
async fn a_connection_that_breaks_is_not_reachable() {
    let fake = FakeServer::start(vec![vec![ServerAction::Close]]).await;
    assert!(!probe(of(&fake)).await.reachable);
}

#[tokio::test]
async fn silence_ends_in_time() {
    // Real time until the request arrives, then the clock jumps: nothing else runs.
    let (gone, _left) = tokio::sync::oneshot::channel();
    let mut fake = FakeServer::start(vec![vec![ServerAction::Hold(gone)]]).await;
    let asking = tokio::spawn(probe(of(&fake)));
    fake.request().await;
    tokio::time::pause();
    let probed = asking.await.expect("no panic");
    assert!(!probed.reachable);
    assert!(probed.text.contains("within 15 s"), "{}", probed.text);
}

#[tokio::test]
async fn a_flood_is_cut_off() {
    let body = format!(r#"{{"data":[{{"id":"{}"}}]}}"#, "x".repeat(3 << 20));
    let fake = FakeServer::start(vec![json(200, &body), json(401, "{}")]).await;
    let probed = probe(of(&fake)).await;
    assert!(probed.reachable);
    assert_eq!(probed.listed, []);
    assert!(probed.text.contains("more than 1 MiB"), "{}", probed.text);
}

#[tokio::test]
async fn an_error_about_an_unusable_url_or_key_does_not_contain_it() {
    let fake = FakeServer::start(vec![json(200, LIST)]).await;
    for what in [
        ProbeRequest {
            base_url: "ftp://a.example".into(),
            ..of(&fake)
        },
        ProbeRequest {
            key: Some(Secret::new(format!("{CANARY}\nx"))),
            ..of(&fake)
        },
    ] {
        let probed = probe(what).await;
        assert!(!probed.reachable && !probed.hint.is_empty(), "{probed:?}");
        assert!(!format!("{probed:?}").contains(CANARY));
    }
}

#[tokio::test]
async fn a_web_page_is_not_an_api() {
    let fake = FakeServer::start(vec![json(200, "<html>hello</html>"), json(200, "<html>")]).await;
    let probed = probe(of(&fake)).await;
    assert!(!probed.reachable);
    assert_eq!(probed.key, KeyState::Unknown);
    assert!(probed.hint.contains("base_url"), "{}", probed.hint);
}

#[tokio::test]
async fn each_provider_kind_sends_its_key_and_lists_models_in_its_own_way() {
    for (kind, tail, path) in [
        ("openai-responses", "/responses", "get /v1/models "),
        ("anthropic", "", "get /v1/models "),
        ("anthropic", "/messages", "get /v1/models "),
    ] {
        let mut fake = FakeServer::start(vec![
            json(200, r#"{"data":[{"id":"big"}]}"#),
            json(200, "{}"),
        ])
        .await;
        let asked = ProbeRequest {
            kind: kind.to_owned(),
            base_url: format!("{}{tail}", fake.base),
            ..of(&fake)
        };
        let probed = probe(asked).await;
        assert_eq!((probed.key, ids(&probed)), (KeyState::Works, vec!["big"]));
        let head = fake.request().await.head.to_lowercase();
        assert!(head.starts_with(path), "{head}");
        let is_own = kind == "anthropic";
        assert_eq!(head.contains("x-api-key: "), is_own);
        assert_eq!(head.contains("anthropic-version: "), is_own);
        assert_eq!(head.contains("authorization: "), !is_own);
    }
}
