//! Requests waiting at a gate: their reports, and how they leave.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::provider::{ErrorKind, Part, Provider, ProviderError, Request};
use contract::{RequestEnvironment, Secret};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use proto::Pid;
use proto::item::Finish;

use crate::{Account, Brokered, Brokers, GateTiming};

/// A vendor that refuses the first few requests and answers the others after a second.
struct Vendor {
    refuses: Mutex<usize>,
    asked: AtomicUsize,
}

impl Provider for Vendor {
    fn stream(&self, _: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut refuses = self.refuses.lock().unwrap();
        if *refuses > 0 {
            *refuses -= 1;
            let error = ProviderError {
                message: "slow down".into(),
                hint: String::new(),
                kind: ErrorKind::Transient,
                status: Some(429),
                retry_after: Some(Duration::from_secs(12)),
                of_model: false,
                empty: false,
                window: None,
            };
            return stream::iter([Err(error)]).boxed();
        }
        stream::once(async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Part::Done(Finish::Stop))
        })
        .boxed()
    }
}

struct Scene {
    vendor: Arc<Vendor>,
    provider: Brokered,
}

fn account(name: &str, max_concurrent: usize) -> Account {
    Account {
        name: name.into(),
        host: "api.acme.test".into(),
        max_concurrent,
        bounds: GateTiming {
            base_ms: 500,
            cap_ms: 30_000,
            closed_max_ms: 600_000,
        },
        patience: Duration::from_secs(600),
    }
}

fn scene(refuses: usize, max_concurrent: usize) -> Scene {
    let vendor = Arc::new(Vendor {
        refuses: Mutex::new(refuses),
        asked: AtomicUsize::new(0),
    });
    let account = account("deepseek", max_concurrent);
    let inner: Arc<dyn Provider> = Arc::clone(&vendor) as Arc<dyn Provider>;
    let provider = Brokered::new(inner, Arc::new(Brokers::default()), account);
    Scene { vendor, provider }
}

fn request(session: u64, key: &str) -> Request {
    Request {
        body: Vec::new().into(),
        model: "m".into(),
        key: (!key.is_empty()).then(|| Secret::new(key.to_owned())),
        attempt: 1,
        answered: 0,
        permit: Arc::new(contract::Unbounded),
        ground: RequestEnvironment {
            session: Pid(session),
            ..RequestEnvironment::default()
        },
    }
}

impl Scene {
    fn asked(&self) -> usize {
        self.vendor.asked.load(Ordering::SeqCst)
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_at_a_closed_gate_waits_and_reports_why() {
    let scene = scene(1, 16);
    let refused = scene.provider.stream(request(1, "k-one")).next().await;
    assert!(refused.unwrap().is_err());
    let mut first = scene.provider.stream(request(2, "k-one"));
    let mut second = scene.provider.stream(request(3, "k-one"));
    let (one, two) = tokio::join!(first.next(), second.next());
    for (waiting, end) in [(one, ""), (two, ", 1 session is ahead of this one")] {
        let Some(Ok(Part::Waiting { cause, in_ms, .. })) = waiting else {
            panic!("{waiting:?}");
        };
        assert_eq!(cause, format!("deepseek asks to wait{end}"));
        assert!(
            in_ms.is_some_and(|ms| (11_000..12_000).contains(&ms)),
            "{in_ms:?}"
        );
    }
    assert_eq!(scene.asked(), 1);
    // Another key is another account.
    let other = scene.provider.stream(request(4, "k-two")).next().await;
    assert_eq!(other, Some(Ok(Part::Done(Finish::Stop))));

    let answered = |stream: BoxStream<'static, Result<Part, ProviderError>>| async {
        let parts: Vec<_> = stream.collect().await;
        assert_eq!(parts, [Ok(Part::Sent), Ok(Part::Done(Finish::Stop))]);
        tokio::time::Instant::now()
    };
    let (one, two) = tokio::join!(answered(first), answered(second));
    assert!(two - one >= Duration::from_secs(1), "the probe goes alone");
}

/// A gateway that counts what it is sent: `broken` fails with a 502, all others answer.
#[derive(Default)]
struct Gateway {
    broken: AtomicUsize,
    healthy: AtomicUsize,
    /// Whether the broken one works again.
    repaired: AtomicBool,
}

impl Provider for Gateway {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        if request.model != "broken" {
            self.healthy.fetch_add(1, Ordering::SeqCst);
            if request.model == "slow" {
                let done = async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(Part::Done(Finish::Stop))
                };
                return stream::once(done).boxed();
            }
            return stream::iter([Ok(Part::Done(Finish::Stop))]).boxed();
        }
        self.broken.fetch_add(1, Ordering::SeqCst);
        if self.repaired.load(Ordering::SeqCst) {
            return stream::iter([Ok(Part::Done(Finish::Stop))]).boxed();
        }
        let error = ProviderError {
            message: "bad gateway".into(),
            hint: String::new(),
            kind: ErrorKind::Transient,
            status: Some(502),
            retry_after: None,
            of_model: false,
            empty: false,
            window: None,
        };
        stream::once(async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Err(error)
        })
        .boxed()
    }
}

fn gateway(max_concurrent: usize) -> (Arc<Gateway>, Brokered) {
    let gateway = Arc::new(Gateway::default());
    let inner: Arc<dyn Provider> = Arc::clone(&gateway) as Arc<dyn Provider>;
    let account = account("gateway", max_concurrent);
    (
        gateway,
        Brokered::new(inner, Arc::new(Brokers::default()), account),
    )
}

fn request_of(model: &str, session: u64) -> Request {
    Request {
        model: model.into(),
        ..request(session, "k-one")
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_model_does_not_block_a_healthy_one_of_the_same_key() {
    let (gateway, provider) = gateway(2);
    // More than the key lets go at a time.
    let broken = (1..=40).map(|session| {
        let request = request_of("broken", session);
        provider.stream(request).collect::<Vec<_>>()
    });
    let broken = tokio::spawn(futures::future::join_all(broken));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let sent = gateway.broken.load(Ordering::SeqCst);
    assert!((5..=7).contains(&sent), "its gate is closed: {sent}");
    for session in 100..150 {
        let request = request_of("healthy", session);
        let parts: Vec<_> = provider.stream(request).collect().await;
        assert_eq!(parts, [Ok(Part::Done(Finish::Stop))], "and did not wait");
    }
    assert_eq!(gateway.healthy.load(Ordering::SeqCst), 50);
    assert_eq!(gateway.broken.load(Ordering::SeqCst), sent);

    gateway.repaired.store(true, Ordering::SeqCst);
    let outcomes = broken.await.unwrap();
    let done = |parts: &&Vec<_>| parts.last() == Some(&Ok(Part::Done(Finish::Stop)));
    assert_eq!(outcomes.iter().filter(done).count(), 40 - sent);
    assert_eq!(gateway.broken.load(Ordering::SeqCst), 40);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_its_key_is_not_sent_to_a_model_that_failed_meanwhile() {
    let (gateway, narrow) = gateway(2);
    // Another provider of the same key, with a larger limit.
    let wide = Brokered::new(
        Arc::clone(&gateway) as Arc<dyn Provider>,
        Arc::clone(&narrow.brokers),
        account("gateway", 16),
    );
    let collect = |provider: &Brokered, model: &str, session: u64| {
        let stream = provider.stream(request_of(model, session));
        tokio::spawn(stream.collect::<Vec<_>>())
    };
    let _slow = [1, 2].map(|session| collect(&narrow, "slow", session));
    tokio::time::sleep(Duration::from_millis(1)).await;
    let waits = collect(&narrow, "broken", 3);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let _fails = [4, 5, 6, 7, 8].map(|session| collect(&wide, "broken", session));
    // Its key is free after a second, and its model's gate is closed for longer.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(gateway.healthy.load(Ordering::SeqCst), 2);
    assert_eq!(gateway.broken.load(Ordering::SeqCst), 5, "it is not sent");
    gateway.repaired.store(true, Ordering::SeqCst);
    let parts = waits.await.unwrap();
    assert_eq!(
        parts[parts.len() - 2..],
        [Ok(Part::Sent), Ok(Part::Done(Finish::Stop))]
    );
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_stops_all_models_of_its_key() {
    let scene = scene(1, 16);
    let refused = scene.provider.stream(request(1, "k-one")).next().await;
    assert!(refused.unwrap().is_err());
    let other = Request {
        model: "other".into(),
        ..request(2, "k-one")
    };
    let waits = scene.provider.stream(other).next().await;
    assert!(
        matches!(&waits, Some(Ok(Part::Waiting { cause, .. })) if cause.contains("asks to wait")),
        "{waits:?}"
    );
    assert_eq!(scene.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_leaves_the_queue_and_frees_its_slot() {
    let scene = scene(0, 1);
    let mut first = scene.provider.stream(request(1, ""));
    let mut second = scene.provider.stream(request(2, ""));
    let mut third = scene.provider.stream(request(3, ""));
    let waits = second.next().await;
    assert!(
        matches!(&waits, Some(Ok(Part::Waiting { cause, in_ms: None, .. })) if cause.contains("(1)")),
        "{waits:?}"
    );
    drop(second);
    tokio::select! {
        biased;
        _ = third.next() => {}
        () = tokio::time::sleep(Duration::from_millis(10)) => {}
    }
    assert_eq!(scene.asked(), 0, "an unread stream sends nothing");
    tokio::select! {
        biased;
        _ = first.next() => panic!("it takes a second"),
        () = tokio::time::sleep(Duration::from_millis(10)) => {}
    }
    assert_eq!(scene.asked(), 1);
    drop(first);
    let parts: Vec<_> = third.collect().await;
    assert_eq!(parts.last(), Some(&Ok(Part::Done(Finish::Stop))));
    assert_eq!(scene.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_an_end_and_names_its_cause() {
    let scene = scene(0, 1);
    let mut first = scene.provider.stream(request(1, ""));
    let mut second = scene.provider.stream(request(2, ""));
    tokio::select! {
        biased;
        _ = first.next() => panic!("it takes a second"),
        () = std::future::ready(()) => {}
    }
    let begun = tokio::time::Instant::now();
    assert!(matches!(
        second.next().await,
        Some(Ok(Part::Waiting { .. }))
    ));
    let Some(Err(error)) = second.next().await else {
        panic!("no error");
    };
    assert_eq!(begun.elapsed().as_secs(), 600);
    assert_eq!(
        error.kind,
        ErrorKind::Permanent,
        "it is not queued again for as long"
    );
    assert!(
        error.message.contains("600 s") && error.message.contains("concurrent"),
        "{}",
        error.message
    );
    assert!(second.next().await.is_none());
}

/// A vendor that is too busy with the model `busy`, or with the key.
struct BusyVendor {
    of_model: bool,
}

impl Provider for BusyVendor {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        if request.model != "busy" {
            return stream::iter([Ok(Part::Done(Finish::Stop))]).boxed();
        }
        let error = ProviderError {
            message: "slow down".into(),
            hint: String::new(),
            kind: ErrorKind::Transient,
            status: Some(429),
            retry_after: Some(Duration::from_secs(12)),
            of_model: self.of_model,
            empty: false,
            window: None,
        };
        stream::iter([Err(error)]).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_model_closes_its_own_gate_and_a_busy_key_that_of_all() {
    for of_model in [true, false] {
        let inner: Arc<dyn Provider> = Arc::new(BusyVendor { of_model });
        let provider = Brokered::new(inner, Arc::new(Brokers::default()), account("acme", 4));
        let refused = provider.stream(request_of("busy", 1)).next().await;
        assert!(refused.is_some_and(|part| part.is_err()));
        let mut again = provider.stream(request_of("busy", 2));
        let mut other = provider.stream(request_of("other", 3));
        let waits = |part: Option<Result<Part, ProviderError>>| {
            matches!(part, Some(Ok(Part::Waiting { .. })))
        };
        assert!(waits(again.next().await), "{of_model}");
        assert_eq!(waits(other.next().await), !of_model);
    }
}
