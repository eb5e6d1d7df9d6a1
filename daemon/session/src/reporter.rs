//! How a room reports what its work came to: it sends events of its own kind, and does not know who takes them.

use std::sync::Arc;

/// Takes events. Cheap to clone; never blocks; an event that nobody takes any more is dropped.
pub(crate) struct Reporter<E>(Arc<dyn Fn(E) + Send + Sync>);

impl<E> Reporter<E> {
    pub fn new(take: impl Fn(E) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub fn report(&self, event: E) {
        (self.0)(event);
    }
}

impl<E> Clone for Reporter<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
