//! The handlers, one file a resource, as in `proto::params`. Each is a few lines: check, ask the owner, answer.

mod cache;
mod config;
mod daemon;
mod history;
mod hook;
mod interaction;
mod oversized;
mod process;
mod rewind;
mod rules;
mod session;
mod setting;

use std::sync::Arc;

use jsonrpsee::RpcModule;
use proto::methods as m;

use super::dispatch::add;
use crate::daemon::Daemon;

/// Every method of the protocol's table, behind the gates.
pub fn module(daemon: Arc<Daemon>) -> RpcModule<Daemon> {
    let mut module = RpcModule::from_arc(daemon);
    let to = &mut module;
    add::<m::DaemonHello, _, _>(to, daemon::hello);
    add::<m::DaemonStatus, _, _>(to, daemon::status);
    add::<m::DaemonShutdown, _, _>(to, daemon::shutdown);
    add::<m::SessionCreate, _, _>(to, session::create);
    add::<m::SessionList, _, _>(to, session::list);
    add::<m::SessionGet, _, _>(to, session::get);
    add::<m::SessionAttach, _, _>(to, session::attach);
    add::<m::SessionDetach, _, _>(to, session::detach);
    add::<m::SessionPrompt, _, _>(to, session::prompt);
    add::<m::SessionUnqueue, _, _>(to, session::unqueue);
    add::<m::SessionEdit, _, _>(to, session::edit);
    add::<m::SessionReorder, _, _>(to, session::reorder);
    add::<m::SessionInterrupt, _, _>(to, session::interrupt);
    add::<m::SessionSignal, _, _>(to, session::signal);
    add::<m::SessionWait, _, _>(to, session::wait);
    add::<m::SessionSet, _, _>(to, session::set);
    add::<m::SessionRead, _, _>(to, session::read);
    add::<m::SessionEvent, _, _>(to, session::event);
    add::<m::SessionSteps, _, _>(to, session::steps);
    add::<m::SessionStep, _, _>(to, session::step);
    add::<m::SessionCache, _, _>(to, cache::cache);
    add::<m::SessionPrefix, _, _>(to, cache::prefix);
    add::<m::SessionInspect, _, _>(to, session::inspect);
    add::<m::SessionClose, _, _>(to, session::close);
    add::<m::SessionFork, _, _>(to, history::fork);
    add::<m::SessionCompact, _, _>(to, session::compact);
    add::<m::SessionPin, _, _>(to, session::pin);
    add::<m::SessionRewind, _, _>(to, rewind::rewind);
    add::<m::SessionCheckpoints, _, _>(to, rewind::checkpoints);
    add::<m::SessionExport, _, _>(to, history::export);
    add::<m::SessionDelete, _, _>(to, history::delete);
    add::<m::SessionPrune, _, _>(to, history::prune);
    add::<m::ProcessList, _, _>(to, process::list);
    add::<m::ProcessKill, _, _>(to, process::kill);
    add::<m::InteractionList, _, _>(to, interaction::list);
    add::<m::InteractionAnswer, _, _>(to, interaction::answer);
    add::<m::PermissionExplain, _, _>(to, rules::explain);
    add::<m::RulesList, _, _>(to, rules::list);
    add::<m::RulesRevoke, _, _>(to, rules::revoke);
    add::<m::RulesCheck, _, _>(to, rules::check);
    add::<m::HistorySearch, _, _>(to, history::search);
    add::<m::StatsQuery, _, _>(to, history::stats);
    add::<m::HookList, _, _>(to, hook::list);
    add::<m::HookReload, _, _>(to, hook::reload);
    add::<m::ProviderList, _, _>(to, config::providers);
    add::<m::ConfigCheck, _, _>(to, config::check);
    add::<m::ConfigSet, _, _>(to, setting::config_set);
    add::<m::ProviderSet, _, _>(to, setting::provider_set);
    add::<m::ProviderProbe, _, _>(to, setting::provider_probe);
    add::<m::CredentialSet, _, _>(to, setting::credential_set);
    add::<m::TrustGet, _, _>(to, config::trust_get);
    add::<m::TrustSet, _, _>(to, config::trust_set);
    add::<m::DoctorRun, _, _>(to, config::doctor);
    debug_assert_eq!(
        module.method_names().count(),
        m::NAMES.len(),
        "every method of the table has a handler"
    );
    module
}
