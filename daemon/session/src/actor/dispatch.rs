//! Who takes a command of a client: a line each.

use proto::PromptId;
use proto::params::Empty;
use proto::params::session::{EditParams, QueueOutput, When};
use proto::record::PromptQueued;

use crate::actor::Actor;
use crate::actor::inbox::{Command, Prompting, Reply};
use crate::actor::interactions::Answering;
use crate::actor::prompt_gate::Gated;
use crate::actor::queue::Edit;

impl Actor {
    pub(crate) fn command(&mut self, command: Command) {
        // Whoever asked may be gone: an answer that nobody takes is dropped.
        match command {
            Command::Prompt(prompting) => self.take_prompt(prompting),
            Command::Unqueue { prompt_id, reply } => self.unqueue(prompt_id, reply),
            Command::Edit { params, by, reply } => self.take_edit(params, by, reply),
            Command::Reorder { params, by, reply } => self.reorder(params, by, reply),
            // The caller may be gone.
            Command::Forecast { reply } => drop(reply.send(Ok(self.forecast()))),
            Command::Set { set, notice, reply } => self.set(set, notice, reply),
            Command::Signal {
                signal,
                request_id,
                by,
                reply,
            } => self.signal(signal, request_id, by, reply),
            Command::Close { reply } => self.close(reply),
            Command::Wait { until, reply } => self.wait(until, reply),
            Command::Answer { params, by, reply } => self.answer(Answering { params, by, reply }),
            Command::Join { join, reply } => self.wants_in(join, reply),
            Command::Lines { from, reply } => drop(reply.send(Ok(self.lines(from)))),
            Command::Credentials(credentials) => {
                self.requests.keys().fill(credentials);
                self.use_new_key();
            }
            Command::Suspend { now, reply } => {
                self.life.handed_over = true;
                self.drop_extractions();
                self.begin_suspend(now, reply);
            }
            Command::Standing { reply } => drop(reply.send(Ok(self.standing()))),
            Command::Leave(wish) => self.leave_memory(wish),
            Command::ChildKilled { pid, by, reply } => {
                self.child_killed(pid, &by);
                drop(reply.send(Ok(Empty {})));
            }
            Command::Makeup { reply } => drop(reply.send(self.makeup())),
            Command::Material { upto, reply } => drop(reply.send(self.material(upto))),
            Command::Inspect { part, reply } => drop(reply.send(self.inspect(part))),
            Command::Hooks { reply } => drop(reply.send(Ok(self.calls.hooks().list()))),
            Command::ReloadHooks { reply } => self.reload_hooks(reply),
            Command::Rewind { params, by, reply } => self.begin_rewind(params, by, reply),
            Command::Compact { params, reply } => self.compact(params, reply),
            Command::Pin { params, by, reply } => self.pin(params, by, reply),
            Command::KeepForRewind {
                kept,
                undoes,
                reply,
            } => self.keep_for_rewind(kept, undoes, reply),
            Command::Marks { reply } => drop(reply.send(Ok(self.marks()))),
            Command::Shutdown { reply } => self.begin_shutdown(reply),
        }
    }

    fn take_prompt(&mut self, prompting: Prompting) {
        self.requests.keys().put(prompting.credentials);
        self.calls.fill_environment(prompting.env);
        self.gate(Gated::Prompt {
            prompt: PromptQueued {
                prompt_id: PromptId::new(),
                text: prompting.text,
                steer: prompting.when == When::Steer,
                on_ask: prompting.on_ask,
                by: prompting.by,
                request_id: prompting.request_id,
            },
            when: prompting.when,
            note: prompting.note,
            reply: prompting.reply,
        });
    }

    fn take_edit(&mut self, params: EditParams, by: String, reply: Reply<QueueOutput>) {
        let edit = Edit {
            prompt_id: params.prompt_id,
            text: params.text,
            steer: params.steer,
            by,
            request_id: params.request_id,
        };
        self.gate(Gated::Edit { edit, reply });
    }
}
