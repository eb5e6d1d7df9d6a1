//! Events of one connection that nobody has read yet, by the name of their subscription.
//!
//! Bounded a subscription: one that is full takes no more, and its reader attaches again after the last event it has.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use proto::params::session::{EndedNotification, EventNotification};
use proto::{Event, Failure};
use tokio::sync::Notify;

use crate::connect::lock;

/// Events that may wait for the reader.
const QUEUE_EVENTS: usize = 4096;

/// Bytes that may wait for the reader.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// What an event takes beside its data, roughly.
const EVENT_OVERHEAD: usize = 160;

/// Where the events of one connection go, by the name of their subscription.
#[derive(Default)]
pub(crate) struct Routes {
    queues: Mutex<Routing>,
    /// An event has come since somebody looked.
    heard: AtomicBool,
}

#[derive(Default)]
struct Routing {
    lost: bool,
    by_name: HashMap<String, Arc<Queue>>,
}

impl Routes {
    pub(super) fn add(&self, name: &str) -> Arc<Queue> {
        let queue = Arc::new(Queue::default());
        let mut routing = lock(&self.queues);
        if routing.lost {
            queue.end(End::Lost);
        }
        routing.by_name.insert(name.to_owned(), queue.clone());
        queue
    }

    pub(super) fn remove(&self, name: &str) {
        lock(&self.queues).by_name.remove(name);
    }

    /// Puts an event into its queue. One of a subscription that was given up is dropped.
    pub(crate) fn deliver(&self, notification: EventNotification) {
        self.heard.store(true, Ordering::Relaxed);
        let queue = lock(&self.queues)
            .by_name
            .get(&notification.subscription)
            .cloned();
        if let Some(queue) = queue {
            queue.push(notification.event);
        }
    }

    /// Whether somebody follows, and nothing has come since this was asked last.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.heard.swap(false, Ordering::Relaxed) && !lock(&self.queues).by_name.is_empty()
    }

    /// The daemon has ended a subscription: its follower is notified, after the events it has not read yet.
    pub(crate) fn end(&self, ended: EndedNotification) {
        if let Some(queue) = lock(&self.queues).by_name.get(&ended.subscription) {
            queue.end(End::Reported(ended.failure.map(Box::new)));
        }
    }

    /// The connection is gone: every follower is notified, after the events it has not read yet.
    pub(crate) fn lose(&self) {
        let mut routing = lock(&self.queues);
        routing.lost = true;
        for queue in routing.by_name.values() {
            queue.end(End::Lost);
        }
    }
}

/// Events of one subscription that nobody has read yet. Full: it takes no more, and its reader attaches again.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    bytes: usize,
    end: Option<End>,
}

#[derive(Clone)]
enum End {
    Full,
    Lost,
    /// By the daemon, with what went wrong.
    Reported(Option<Box<Failure>>),
}

pub(super) enum QueueItem {
    Event(Event),
    Full,
    Lost,
    Ended(Option<Failure>),
}

fn size(event: &Event) -> usize {
    event.data.get().len() + EVENT_OVERHEAD
}

impl Queue {
    fn push(&self, event: Event) {
        let mut waiting = lock(&self.waiting);
        if waiting.end.is_some() {
            return;
        }
        let bytes = waiting.bytes + size(&event);
        // One event always fits, however large: else its reader would never get past it.
        if !waiting.events.is_empty()
            && (waiting.events.len() >= QUEUE_EVENTS || bytes > QUEUE_BYTES)
        {
            waiting.end = Some(End::Full);
        } else {
            waiting.bytes = bytes;
            waiting.events.push_back(event);
        }
        drop(waiting);
        self.wake.notify_one();
    }

    fn end(&self, end: End) {
        lock(&self.waiting).end.get_or_insert(end);
        self.wake.notify_one();
    }

    fn take(&self) -> Option<QueueItem> {
        let mut waiting = lock(&self.waiting);
        match (waiting.events.pop_front(), waiting.end.clone()) {
            (Some(event), _) => {
                waiting.bytes -= size(&event);
                Some(QueueItem::Event(event))
            }
            (None, Some(End::Full)) => Some(QueueItem::Full),
            (None, Some(End::Lost)) => Some(QueueItem::Lost),
            (None, Some(End::Reported(error))) => Some(QueueItem::Ended(error.map(|error| *error))),
            (None, None) => None,
        }
    }

    /// Waits for the next event. Cancel-safe: it returns at once whatever it takes.
    pub(super) async fn next(&self) -> QueueItem {
        loop {
            if let Some(taken) = self.take() {
                return taken;
            }
            self.wake.notified().await;
        }
    }
}
