//! Settings, providers and keys through the socket: the written file, the value that counts, and that no key is shown.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::house::{House, Raw, name, until};

const CANARY: &str = "canary-b5f1a2-not-to-be-shown";

/// A key whose requests get no answer.
const LOST: &str = "lost-with-the-daemon";

/// The head of the next request with a prompt: a list of models may be asked for beside it.
async fn prompted(heads: &mut mpsc::UnboundedReceiver<String>) -> String {
    let patience = std::time::Duration::from_secs(20);
    loop {
        let head = tokio::time::timeout(patience, heads.recv()).await;
        let head = head
            .expect("a request in time")
            .expect("the endpoint lives");
        if head.starts_with("POST") {
            return head;
        }
    }
}

/// An endpoint that refuses its list of models to whoever has not the canary, and echoes the request; a prompt it
/// answers with a word. Gives its address, and the heads of the requests.
async fn endpoint() -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (sender, heads) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
                if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            let head = String::from_utf8_lossy(&bytes).into_owned();
            if head.contains(LOST) {
                let _ = sender.send(head);
                held.push(stream);
                continue;
            }
            let knows = head.contains(&format!("Bearer {CANARY}\r\n"));
            let (status, body) = match (head.starts_with("GET"), knows) {
                (true, true) => (200, json!({"data": [{"id": "one"}]}).to_string()),
                (true, false) => {
                    let line = head
                        .lines()
                        .find(|line| line.to_lowercase().starts_with("authorization"));
                    let words = format!("wrong: {}", line.unwrap_or_default());
                    (401, json!({"error": {"message": words}}).to_string())
                }
                (false, _) => {
                    let event = json!({"choices": [{"delta": {"content": "Here."}, "finish_reason": "stop"}]});
                    (200, format!("data: {event}\n\ndata: [DONE]\n\n"))
                }
            };
            let _ = sender.send(head);
            let answer = format!(
                "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (base, heads)
}

fn entry(base: &str) -> String {
    format!(
        "[[providers]]\nname = \"acme\"\nkind = \"openai\"\nbase_url = \"{base}\"\nmodels = [\"one\"]\napi_key_env = \"ACME_TEST_KEY\"\n"
    )
}

/// Whether the canary is in any file below, other than the store of keys.
fn shown_in(directory: &Path) -> Option<String> {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("a kind");
        let bytes = if kind.is_file() && !path.ends_with("credentials.toml") {
            std::fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        let found = if kind.is_dir() { shown_in(&path) } else { None };
        let here = bytes
            .windows(CANARY.len())
            .any(|window| window == CANARY.as_bytes());
        if found.is_some() || here {
            return found.or_else(|| Some(path.display().to_string()));
        }
    }
    None
}

async fn listed(client: &mut Raw, params: &Value, name: &str) -> Value {
    let list = client.call("provider.list", params).await.expect("a list");
    let all = list["providers"].as_array().expect("providers").clone();
    let found = all.into_iter().find(|entry| entry["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_is_written_into_the_users_file_and_returned_as_it_counts() {
    let house = House::new("# Mine.\n[agent]\nmax_steps = 3\n", "").await;
    let mut client = house.client("drive").await;
    let set = json!({"key": "agent.max_steps", "value": 7});
    let answer = client.call("config.set", &set).await.expect("set");
    let file = house.home().join("config.toml");
    assert_eq!(answer["file"], json!(file));
    assert_eq!(
        answer["value"],
        json!({"key": "agent.max_steps", "value": 7, "origin": file})
    );
    assert!(answer.get("notices").is_none(), "{answer}");
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(
        text.starts_with("# Mine.\n[agent]\nmax_steps = 7\n"),
        "{text}"
    );

    let refused = client
        .call("config.set", &json!({"key": "agent.max_stesp", "value": 7}))
        .await;
    let refused = refused.expect_err("no such setting");
    assert_eq!(name(&refused), "invalid_params");
    assert!(refused.to_string().contains("agent.max_steps"), "{refused}");

    let answer = client
        .call("config.set", &json!({"key": "agent.max_steps"}))
        .await
        .expect("unset");
    assert_eq!(
        answer["value"],
        json!({"key": "agent.max_steps", "value": 0, "origin": "default"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_overrides_the_new_one_is_reported() {
    let house = House::new("", "").await;
    let project = house.project().join("reasonix.toml");
    std::fs::write(&project, "[agent]\nmax_steps = 9\n").expect("write");
    let mut client = house.client("drive").await;
    let cwd = json!({"cwd": house.project()});
    let trust = client.call("trust.get", &cwd).await.expect("trust");
    let yes = json!({"cwd": house.project(), "trusted": true, "hash": trust["hash"]});
    client.call("trust.set", &yes).await.expect("trusted");
    let set = json!({"key": "agent.max_steps", "value": 7, "cwd": house.project()});
    let answer = client.call("config.set", &set).await.expect("set");
    assert_eq!(answer["value"]["value"], 9);
    assert!(
        answer["notices"][0]
            .as_str()
            .is_some_and(|text| text.contains("reasonix.toml")),
        "{answer}"
    );
    let text = std::fs::read_to_string(project).expect("the project's file");
    assert_eq!(
        text, "[agent]\nmax_steps = 9\n",
        "a project's file is never written"
    );
    for key in ["daemon.idle_exit_minutes", "sandbox.memory_limit_mb"] {
        let set = json!({"key": key, "value": 7});
        let answer = client.call("config.set", &set).await.expect("set");
        assert_eq!(
            answer["notices"],
            json!(["It takes effect after `reasonix daemon restart`."]),
            "{key}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nothing_configured_a_key_that_a_client_brings_is_enough() {
    let house = House::with("", "").await;
    let mut client = house.connect().await;
    let hello = client
        .call("daemon.hello", &super::house::hello("drive"))
        .await
        .expect("hello");
    let variables = hello["key_variables"].as_array().expect("variables");
    assert!(
        variables.contains(&json!("DEEPSEEK_API_KEY")),
        "{variables:?}"
    );
    let create = |keys: Value, model: Value| json!({"session": uuid::Uuid::now_v7(), "cwd": house.project(), "credentials": keys, "model": model});
    let brought = json!({"XAI_API_KEY": "k", "DEEPSEEK_API_KEY": CANARY});
    let made = client
        .call("session.create", &create(brought.clone(), Value::Null))
        .await;
    assert_eq!(
        made.expect("a session")["model"],
        "deepseek/deepseek-v4-flash"
    );
    let made = client
        .call("session.create", &create(brought, json!("xai/other")))
        .await;
    assert_eq!(
        made.expect("a session")["model"],
        "xai/other",
        "a shipped one takes any model"
    );
    let local = json!({"OTHER": "k", "DEEPSEEK_API_KEY": " "});
    // The environment of whoever runs this test may hold such a key.
    if client
        .call("provider.list", &json!({}))
        .await
        .expect("a list")["default_model"]
        .is_null()
    {
        let refused = client
            .call("session.create", &create(local, Value::Null))
            .await;
        let refused = refused.expect_err("nothing is usable");
        assert_eq!(name(&refused), "invalid_config");
        assert!(refused.to_string().contains("reasonix setup"), "{refused}");
    }
    assert_eq!(shown_in(&house.home()), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_asked_for_that_nothing_configured_needs() {
    let (base, _heads) = endpoint().await;
    let house = House::with(&format!("default_model = \"xai/m\"\n{}", entry(&base)), "").await;
    let mut client = house.connect().await;
    let hello = client
        .call("daemon.hello", &super::house::hello("drive"))
        .await
        .expect("hello");
    assert_eq!(
        hello["key_variables"],
        json!(["ACME_TEST_KEY", "XAI_API_KEY"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_entry_is_not_replaced_by_a_shipped_one() {
    let house = House::with("[[providers]]\nname = \"mine\"\nkidn = \"openai\"\n", "").await;
    let mut client = house.client("drive").await;
    let create = json!({
        "session": uuid::Uuid::now_v7(), "cwd": house.project(), "credentials": {"DEEPSEEK_API_KEY": "k"}
    });
    let refused = client
        .call("session.create", &create)
        .await
        .expect_err("another one was meant");
    assert_eq!(name(&refused), "invalid_config");
    assert!(refused.to_string().contains("kidn"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_key_reaches_a_loaded_session_and_is_never_shown() {
    let (base, mut heads) = endpoint().await;
    let house = House::with(&entry(&base), "").await;
    let mut client = house.client("drive").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project(), "credentials": {}});
    client
        .call("session.create", &create)
        .await
        .expect("a session");
    let prompt = json!({"session": id, "text": "Hello."});
    let prompted = client.call("session.prompt", &prompt).await;
    prompted.expect("a prompt");
    let get = json!({"session": id});
    let mut watcher = house.client("watch").await;
    until("the turn fails for want of a key", async || {
        let session = watcher.call("session.get", &get).await.expect("a session");
        (session["state"] == "idle").then_some(())
    })
    .await;
    assert!(heads.try_recv().is_err(), "nothing was sent without a key");
    assert_eq!(
        listed(&mut client, &json!({}), "acme").await["has_key"],
        false
    );

    let store = json!({"variable": "ACME_TEST_KEY", "value": CANARY});
    let kept = client.call("credential.set", &store).await.expect("stored");
    assert!(
        kept["kept_in"]
            .as_str()
            .is_some_and(|path| path.ends_with("credentials.toml")),
        "{kept}"
    );
    assert!(!kept.to_string().contains(CANARY));
    let prompt = json!({"session": id, "text": "Again."});
    client
        .call("session.prompt", &prompt)
        .await
        .expect("a prompt");
    let head = tokio::time::timeout(std::time::Duration::from_secs(20), heads.recv()).await;
    let head = head
        .expect("a request in time")
        .expect("the endpoint lives");
    assert!(head.contains(&format!("Bearer {CANARY}")), "{head}");

    let acme = listed(&mut client, &json!({}), "acme").await;
    assert_eq!(
        (&acme["has_key"], &acme["key_from"]),
        (&json!(true), &json!("stored"))
    );
    for part in ["status", "env", "context"] {
        let inspect = json!({"session": id, "part": part});
        let seen = client
            .call("session.inspect", &inspect)
            .await
            .expect("a look");
        assert!(!seen.to_string().contains(CANARY), "{part}: {seen}");
    }
    assert_eq!(shown_in(&house.home()), None);
    client
        .call("credential.set", &json!({"variable": "ACME_TEST_KEY"}))
        .await
        .expect("forgotten");
    assert_eq!(
        listed(&mut client, &json!({}), "acme").await["has_key"],
        false
    );
    let refused = client
        .call("credential.set", &json!({"variable": CANARY, "value": "k"}))
        .await;
    assert!(
        !refused
            .expect_err("no variable")
            .to_string()
            .contains(CANARY)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_key_wakes_the_session_that_waits_for_one_at_once() {
    let (base, mut heads) = endpoint().await;
    let mut house = House::with(&entry(&base), "").await;
    let mut client = house.client("drive").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({
        "session": id, "cwd": house.project(), "prompt": "Hello.", "credentials": {"ACME_TEST_KEY": LOST}
    });
    client
        .call("session.create", &create)
        .await
        .expect("a session");
    let head = prompted(&mut heads).await;
    assert!(head.contains(LOST), "{head}");
    let leave = json!({"mode": "hand_over"});
    client
        .call("daemon.shutdown", &leave)
        .await
        .expect("it goes");
    house.ends().await;
    house.again();
    // What a client brought is gone with the daemon's memory.
    let mut client = house.client("drive").await;
    let get = json!({"session": id});
    until("the session waits", async || {
        let session = client.call("session.get", &get).await.expect("a session");
        (session["state"] == "waiting").then_some(())
    })
    .await;
    let store = json!({"variable": "ACME_TEST_KEY", "value": CANARY});
    client.call("credential.set", &store).await.expect("stored");
    let head = prompted(&mut heads).await;
    assert!(head.contains(&format!("Bearer {CANARY}")), "{head}");
    until("the turn ends", async || {
        let session = client.call("session.get", &get).await.expect("a session");
        (session["state"] == "idle").then_some(())
    })
    .await;
    assert_eq!(shown_in(&house.home()), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_tells_of_the_key_and_never_shows_it() {
    let (base, mut heads) = endpoint().await;
    let house = House::with(&entry(&base), "").await;
    let mut client = house.client("drive").await;
    let probe = json!({"name": "acme"});
    let output = client
        .call("provider.probe", &probe)
        .await
        .expect("an answer");
    assert_eq!(
        (&output["reachable"], &output["key"]),
        (&json!(true), &json!("missing")),
        "{output}"
    );
    let tried = json!({"name": "acme", "key": format!("{CANARY}-wrong")});
    let output = client
        .call("provider.probe", &tried)
        .await
        .expect("an answer");
    assert_eq!(output["key"], "wrong", "{output}");
    assert!(
        output["text"]
            .as_str()
            .is_some_and(|text| text.contains("***")),
        "{output}"
    );
    assert!(!output.to_string().contains(CANARY), "{output}");

    let store = json!({"variable": "ACME_TEST_KEY", "value": CANARY});
    client.call("credential.set", &store).await.expect("stored");
    let output = client
        .call("provider.probe", &probe)
        .await
        .expect("an answer");
    assert_eq!(
        (&output["key"], &output["models"]),
        (&json!("works"), &json!(["one"])),
        "{output}"
    );
    assert!(
        base.contains(output["host"].as_str().unwrap_or("?")),
        "{output}"
    );

    // Another address gets no key but the one that is given.
    while heads.try_recv().is_ok() {}
    let elsewhere = base.replace("/v1", "/v2");
    let output = client
        .call(
            "provider.probe",
            &json!({"name": "acme", "base_url": elsewhere}),
        )
        .await;
    assert_eq!(output.expect("an answer")["key"], "missing");
    let head = heads.recv().await.expect("a request");
    assert!(!head.contains(CANARY), "{head}");
    let new = json!({"name": "", "base_url": base, "key": CANARY});
    assert_eq!(
        client
            .call("provider.probe", &new)
            .await
            .expect("an answer")["key"],
        "works"
    );
    let refused = client
        .call("provider.probe", &json!({"name": "nobody"}))
        .await;
    assert_eq!(name(&refused.expect_err("nobody")), "not_found");
    assert_eq!(shown_in(&house.home()), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cassette_needs_no_network() {
    let house = House::new("", &json!({"text": "Hi."}).to_string()).await;
    let mut client = house.client("drive").await;
    let output = client
        .call("provider.probe", &json!({"name": "play"}))
        .await
        .expect("an answer");
    assert_eq!(
        (&output["reachable"], &output["key"]),
        (&json!(true), &json!("not_needed")),
        "{output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_set_is_listed_before_the_shipped_ones() {
    let house = House::with("# Mine.\n", "").await;
    let mut client = house.client("drive").await;
    assert_eq!(
        listed(&mut client, &json!({}), "mistral").await["shipped"],
        true
    );
    let set =
        json!({"name": "mistral", "models": ["a", "b"], "default": "b", "make_default": true});
    let answer = client.call("provider.set", &set).await.expect("set");
    assert_eq!(answer["value"]["key"], "providers.mistral", "{answer}");
    assert!(answer.get("notices").is_none(), "{answer}");
    let list = client
        .call("provider.list", &json!({}))
        .await
        .expect("a list");
    assert_eq!(list["default_model"], "mistral");
    let first = &list["providers"][0];
    assert_eq!(
        (&first["name"], &first["shipped"]),
        (&json!("mistral"), &json!(false)),
        "{list}"
    );
    assert_eq!(first["default"], "b");
    assert_eq!(first["origin"], json!(house.home().join("config.toml")));
    for wrong in [
        json!({"name": "x", "base_url": "ftp://x.example", "models": ["m"]}),
        json!({"name": "x", "base_url": "not an address", "models": ["m"]}),
        json!({"name": "x", "base_url": "https://u:p@x.example", "models": ["m"]}),
    ] {
        let refused = client
            .call("provider.set", &wrong)
            .await
            .expect_err("no address");
        assert!(
            !refused["data"]["hint"]
                .as_str()
                .unwrap_or_default()
                .is_empty(),
            "{refused}"
        );
    }
    let text = std::fs::read_to_string(house.home().join("config.toml")).expect("the file");
    assert!(!text.contains("x.example"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_env_file_gives_a_key() {
    let (base, _heads) = endpoint().await;
    let house = House::with(&entry(&base), "").await;
    std::fs::write(
        house.project().join(".env"),
        format!("ACME_TEST_KEY='{CANARY}'\n"),
    )
    .expect("write");
    let mut client = house.client("drive").await;
    let cwd = json!({"cwd": house.project()});
    assert_eq!(listed(&mut client, &cwd, "acme").await["has_key"], false);
    let check = client.call("config.check", &cwd).await.expect("a check");
    assert!(
        check["held_back"][0]
            .as_str()
            .is_some_and(|line| line.contains("ACME_TEST_KEY")),
        "{check}"
    );
    let trust = client.call("trust.get", &cwd).await.expect("trust");
    assert!(!trust.to_string().contains(CANARY), "{trust}");
    let yes = json!({"cwd": house.project(), "trusted": true, "hash": trust["hash"]});
    client.call("trust.set", &yes).await.expect("trusted");
    assert_eq!(
        listed(&mut client, &cwd, "acme").await["key_from"],
        "dotenv"
    );
    let output = client
        .call(
            "provider.probe",
            &json!({"name": "acme", "cwd": house.project()}),
        )
        .await;
    assert_eq!(output.expect("an answer")["key"], "works");
    assert_eq!(shown_in(&house.home()), None);
}
