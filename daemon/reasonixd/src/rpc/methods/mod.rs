//! The table of methods and their handlers. A handler that only asks the owner is in the table; the others have a
//! file for each resource, as in `proto::params`.

mod agent;
mod command;
mod config;
mod daemon;
mod goal;
mod history;
mod hook;
mod interaction;
mod mcp;
mod mcp_login;
mod memory;
mod model_list;
mod oversized;
mod process;
mod rules;
mod session;
mod setting;
mod skill;

use std::path::Path;
use std::sync::Arc;

use ::session::{Client, ProfileChoice};
use jsonrpsee::RpcModule;
use proto::methods as m;
use proto::params::session::Signal;

use super::dispatch::add;
use crate::daemon::Daemon;

/// Every method of the protocol's table, after the checks.
pub fn module(daemon: Arc<Daemon>) -> RpcModule<Daemon> {
    let mut module = RpcModule::from_arc(daemon);
    let to = &mut module;
    add::<m::DaemonHello, _, _>(to, daemon::hello);
    add::<m::DaemonStatus, _, _>(to, daemon::status);
    add::<m::DaemonShutdown, _, _>(to, daemon::shutdown);
    add_session_methods(to);
    add_history_methods(to);
    add::<m::ProcessList, _, _>(to, process::list);
    add::<m::ProcessWait, _, _>(to, process::wait);
    add::<m::ProcessKill, _, _>(to, process::kill);
    add::<m::InteractionList, _, _>(to, interaction::list);
    add::<m::InteractionAnswer, _, _>(to, interaction::answer);
    add::<m::PermissionExplain, _, _>(to, rules::explain);
    add::<m::RulesList, _, _>(to, rules::list);
    add::<m::RulesRevoke, _, _>(to, rules::revoke);
    add::<m::RulesCheck, _, _>(to, rules::check);
    add::<m::HistorySearch, _, _>(to, |d, _, p| async move { d.supervisor.search(p).await });
    add::<m::HistoryAround, _, _>(to, |d, _, p| async move { d.supervisor.around(p).await });
    add::<m::HistoryPrompts, _, _>(to, |d, _, p| async move { d.supervisor.prompts(p).await });
    add::<m::StatsQuery, _, _>(to, |d, _, p| async move { d.supervisor.stats(p).await });
    add::<m::CommandList, _, _>(to, command::list);
    add::<m::AgentList, _, _>(to, agent::list);
    add::<m::SkillList, _, _>(to, skill::list);
    add::<m::SymbolList, _, _>(to, |d, _, p| async move {
        d.supervisor.symbols(Path::new(&p.cwd)).await
    });
    add_memory_methods(to);
    add::<m::GoalStart, _, _>(to, goal::start);
    add::<m::GoalStatus, _, _>(to, goal::status);
    add::<m::GoalChange, _, _>(to, goal::change);
    add::<m::GoalStop, _, _>(to, goal::stop);
    add::<m::HookList, _, _>(to, hook::list);
    add::<m::HookReload, _, _>(to, hook::reload);
    add::<m::McpList, _, _>(to, mcp::list);
    add::<m::McpResources, _, _>(to, mcp::resources);
    add::<m::McpTest, _, _>(to, mcp::test);
    add::<m::McpRestart, _, _>(to, mcp::restart);
    add::<m::McpLogs, _, _>(to, mcp::logs);
    add::<m::McpAdd, _, _>(to, mcp::add);
    add::<m::McpLogin, _, _>(to, mcp_login::begin);
    add::<m::McpLoginFinish, _, _>(to, mcp_login::finish);
    add::<m::McpLogout, _, _>(to, mcp_login::logout);
    add::<m::McpRemove, _, _>(to, mcp::remove);
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

/// Methods for facts that outlive sessions.
fn add_memory_methods(to: &mut RpcModule<Daemon>) {
    add::<m::MemoryList, _, _>(to, memory::list);
    add::<m::MemoryRead, _, _>(to, memory::read);
    add::<m::MemorySearch, _, _>(to, memory::search);
    add::<m::MemoryWrite, _, _>(to, memory::write);
    add::<m::MemoryForget, _, _>(to, memory::forget);
    add::<m::MemoryRestore, _, _>(to, memory::restore);
}

/// Methods for the work in a session.
fn add_session_methods(to: &mut RpcModule<Daemon>) {
    add::<m::SessionCreate, _, _>(to, |d, peer, p| async move {
        let client = Client { name: peer.name() };
        let (keys, cwd) = (p.credentials.clone(), p.cwd.clone());
        let profile = ProfileChoice::from(&p.profile);
        let made = Arc::clone(&d)
            .finish(|d| async move { d.supervisor.create(p, &client, &profile).await });
        let made = made.await?;
        model_list::refresh(d, cwd, &made.model, keys);
        Ok(made)
    });
    add::<m::SessionList, _, _>(to, |d, _, p| async move { d.supervisor.list(p).await });
    add::<m::SessionGet, _, _>(to, |d, _, p| async move {
        d.supervisor.summary(&p.session).await
    });
    add::<m::SessionAttach, _, _>(to, session::attach);
    add::<m::SessionDetach, _, _>(to, session::detach);
    add::<m::SessionPrompt, _, _>(to, |d, peer, p| async move {
        let _guest = d.admit()?;
        d.session(&p.session).await?.prompt(p, peer.name()).await
    });
    add::<m::SessionShell, _, _>(to, |d, peer, p| async move {
        let _guest = d.admit()?;
        d.session(&p.session).await?.shell(p, peer.name()).await
    });
    add::<m::SessionUnqueue, _, _>(to, |d, _, p| async move {
        d.session(&p.session).await?.unqueue(p.prompt_id).await
    });
    add::<m::SessionEdit, _, _>(to, |d, peer, p| async move {
        d.session(&p.session).await?.edit(p, peer.name()).await
    });
    add::<m::SessionReorder, _, _>(to, |d, peer, p| async move {
        d.session(&p.session).await?.reorder(p, peer.name()).await
    });
    add::<m::SessionInterrupt, _, _>(to, |d, peer, p| async move {
        let session = d.session(&p.session).await?;
        session.signal(Signal::Int, None, peer.name()).await
    });
    add::<m::SessionSignal, _, _>(to, |d, peer, p| async move {
        if p.tree {
            let by = peer.name();
            let signalling = |d: Arc<Daemon>| async move { d.supervisor.signal_tree(&p, by).await };
            return d.finish(signalling).await;
        }
        let session = d.session(&p.session).await?;
        session.signal(p.signal, p.request_id, peer.name()).await
    });
    add::<m::SessionResume, _, _>(to, |d, peer, p| async move {
        let _guest = d.admit()?;
        let session = d.session(&p.session).await?;
        session.resume_work(p, peer.name()).await
    });
    add::<m::SessionWait, _, _>(to, session::wait);
    add::<m::SessionSet, _, _>(to, session::set);
    add::<m::SessionRead, _, _>(to, |d, _, p| async move { d.supervisor.read(&p).await });
    add::<m::SessionEvent, _, _>(to, |d, _, p| async move { d.supervisor.event(&p).await });
    add::<m::SessionSteps, _, _>(to, |d, _, p| async move { d.supervisor.steps(&p).await });
    add::<m::SessionOutput, _, _>(to, |d, _, p| async move { d.supervisor.output(&p).await });
    add::<m::SessionStep, _, _>(to, |d, _, p| async move { d.supervisor.step(&p).await });
    add::<m::SessionCache, _, _>(to, |d, _, p| async move { d.supervisor.cache(&p).await });
    add::<m::SessionPrefix, _, _>(to, |d, _, p| async move { d.supervisor.prefix(p).await });
    add::<m::SessionInspect, _, _>(to, |d, _, p| async move { d.supervisor.inspect(&p).await });
    add::<m::SessionWorktree, _, _>(to, |d, _, p| async move {
        d.finish(|d| async move { d.supervisor.worktree(&p.session).await })
            .await
    });
    add::<m::SessionClose, _, _>(to, |d, _, p| async move {
        d.session(&p.session).await?.close().await
    });
}

/// Methods for the past of a session.
fn add_history_methods(to: &mut RpcModule<Daemon>) {
    add::<m::SessionFork, _, _>(to, |d, _, p| async move {
        d.finish(|d| async move { d.supervisor.fork(p).await })
            .await
    });
    add::<m::SessionCompact, _, _>(to, |d, _, p| async move {
        d.session(&p.session).await?.compact(p).await
    });
    add::<m::SessionReload, _, _>(to, |d, _, p| async move {
        let handle = d.session(&p.session).await?;
        d.supervisor.reload(&handle, p).await
    });
    add::<m::SessionPin, _, _>(to, |d, peer, p| async move {
        d.session(&p.session).await?.pin(p, peer.name()).await
    });
    add::<m::SessionRewind, _, _>(to, |d, peer, p| async move {
        let _guest = d.admit()?;
        let handle = d.session(&p.session).await?;
        d.supervisor.rewind(&handle, p, peer.name()).await
    });
    add::<m::SessionCheckpoints, _, _>(to, |d, _, p| async move {
        d.session(&p.session).await?.checkpoints().await
    });
    add::<m::SessionExport, _, _>(to, |d, _, p| async move { d.supervisor.export(&p).await });
    add::<m::SessionDelete, _, _>(to, history::delete);
    add::<m::SessionPrune, _, _>(to, history::prune);
}
