//! What lies between the daemon and a vendor, and fails: the message says which layer it was, and it is tried again only
//! if that may help.

use std::io::{Read, Write};
use std::net::TcpListener;

use testkit::model::{Answer, Fault, Model};
use tests::House;

use crate::scripted::{FAST_RETRIES, run};

/// A run that fails: the error's message.
fn fails(house: &House) -> String {
    let ran = run(house, &[], "hello").expect(1, "failed");
    let error = ran.result["error"].clone();
    assert_eq!(error["name"], "provider_failed", "{error}");
    error["message"].as_str().unwrap_or_default().to_owned()
}

/// A port that answers whatever comes as a web server without TLS does.
fn plain() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // It hears the beginning; whoever does not want the answer has gone.
            let _ = stream.read(&mut [0; 64]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    port
}

#[test]
fn f83_each_layer_that_fails_is_named() {
    // A port that speaks no TLS.
    let house = House::new();
    house.settings(FAST_RETRIES);
    let port = plain();
    house.provider(&format!("name = \"plain\"\nkind = \"openai\"\nbase_url = \"https://127.0.0.1:{port}/v1\"\nmodel = \"m\"\ncontext_window = 1000"));
    house.daemon();
    let message = fails(&house);
    assert!(
        message.contains("has no connection") && message.contains("does not speak TLS"),
        "{message}"
    );

    // A proxy on the way that wants to know who asks.
    let refusal = || {
        let refusal = Fault::refusal(407, "who are you?", "proxy");
        Answer::text("").fault(refusal)
    };
    let model = Model::start([refusal(), refusal()]);
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&model.entry("model", None));
    house.daemon();
    let message = fails(&house);
    assert!(message.contains("407"), "{message}");
    assert_eq!(model.count(), 1, "another try would not help");

    // Nobody of that name.
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider("name = \"nobody\"\nkind = \"openai\"\nbase_url = \"http://nobody.invalid/v1\"\nmodel = \"m\"\ncontext_window = 1000");
    house.daemon();
    let message = fails(&house);
    assert!(
        message.contains("nobody.invalid") || message.contains("dns"),
        "{message}"
    );
}
