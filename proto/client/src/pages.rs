//! Answers that come in pages, read whole.

use proto::methods::{Method, RulesList, SessionCache, SessionList, SessionPrefix, SessionSteps};
use proto::{Pid, Seq};

use crate::{CallError, Client};

/// A method that answers page by page.
pub trait Paged: Method {
    /// Points the parameters at the page after this one. False: this page is the last.
    fn advance(params: &mut Self::Params, page: &mut Self::Output) -> bool;
    /// Appends the lists of a page to those of the pages before it. Everything else is as the newest page says.
    fn join(all: &mut Self::Output, page: Self::Output);
}

/// Each method with its cursor, how that moves, and the lists of a page. A cursor that moves otherwise ends the list.
macro_rules! paged {
    ($($method:ident($cursor:ident: $type:ty, $moves:tt) $($list:ident),+;)*) => {$(
        impl Paged for $method {
            fn advance(params: &mut Self::Params, page: &mut Self::Output) -> bool {
                let cursor: Option<$type> = params.$cursor.into();
                let next = page.next.take();
                let next = next.filter(|next| cursor.is_none_or(|cursor| *next $moves cursor));
                if let Some(next) = next {
                    params.$cursor = next.into();
                }
                next.is_some()
            }

            fn join(all: &mut Self::Output, mut page: Self::Output) {
                $(
                    all.$list.append(&mut page.$list);
                    page.$list = std::mem::take(&mut all.$list);
                )+
                *all = page;
            }
        }
    )*};
}

paged! {
    RulesList(from: u64, >) rules, problems;
    SessionCache(after: Seq, >) rows;
    SessionList(before: Pid, <) sessions;
    SessionPrefix(after: u64, >) parts;
    SessionSteps(after: u64, >) steps;
}

impl Client {
    /// All pages of an answer, as one.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn all<M: Paged>(&self, mut params: M::Params) -> Result<M::Output, CallError>
    where
        M::Params: Sync,
    {
        let mut all = self.call::<M>(&params).await?;
        while M::advance(&mut params, &mut all) {
            let page = self.call::<M>(&params).await?;
            M::join(&mut all, page);
        }
        Ok(all)
    }
}
