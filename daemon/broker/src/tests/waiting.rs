//! Requests before a gate: what they say while they wait, and how they leave.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::provider::{ErrorKind, Part, Provider, ProviderError, Request};
use contract::{Ground, Secret};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use proto::Pid;
use proto::item::Finish;

use crate::{Account, Bounds, Brokered, Brokers};

/// A vendor that refuses the first so many, and answers the rest after a second.
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

fn scene(refuses: usize, max_concurrent: usize) -> Scene {
    let vendor = Arc::new(Vendor {
        refuses: Mutex::new(refuses),
        asked: AtomicUsize::new(0),
    });
    let account = Account {
        name: "deepseek".into(),
        host: "api.deepseek.com".into(),
        max_concurrent,
        bounds: Bounds {
            base_ms: 500,
            cap_ms: 30_000,
            closed_max_ms: 600_000,
        },
        patience: Duration::from_secs(600),
    };
    let inner: Arc<dyn Provider> = Arc::clone(&vendor) as Arc<dyn Provider>;
    let provider = Brokered::new(inner, Arc::new(Brokers::default()), account);
    Scene { vendor, provider }
}

fn request(session: u64, key: &str) -> Request {
    Request {
        body: Vec::new(),
        model: "m".into(),
        key: (!key.is_empty()).then(|| Secret::new(key.to_owned())),
        attempt: 1,
        answered: 0,
        permit: Arc::new(contract::Unbounded),
        ground: Ground {
            session: Pid(session),
            ..Ground::default()
        },
    }
}

impl Scene {
    fn asked(&self) -> usize {
        self.vendor.asked.load(Ordering::SeqCst)
    }
}

#[tokio::test(start_paused = true)]
async fn who_comes_to_a_closed_gate_waits_says_why_and_costs_no_request() {
    let scene = scene(1, 16);
    let refused = scene.provider.stream(request(1, "k-one")).next().await;
    assert!(refused.unwrap().is_err());
    let mut first = scene.provider.stream(request(2, "k-one"));
    let mut second = scene.provider.stream(request(3, "k-one"));
    let (one, two) = tokio::join!(first.next(), second.next());
    for (told, end) in [(one, " 12 s"), (two, " 12 s, 1 session is before this one")] {
        let Some(Ok(Part::Waiting { cause, in_ms, .. })) = told else {
            panic!("{told:?}");
        };
        assert_eq!(cause, format!("deepseek asks to wait:{end}"));
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

#[tokio::test(start_paused = true)]
async fn who_is_dropped_leaves_the_line_and_gives_its_place_back() {
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
    assert_eq!(scene.asked(), 0, "a stream that nobody reads sends nothing");
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
        error.message.contains("600 s") && error.message.contains("under way"),
        "{}",
        error.message
    );
    assert!(second.next().await.is_none());
}
