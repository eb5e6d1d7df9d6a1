//! Which files a call would run outside the sandbox, in the form of its approval. Called by [`super::approval`].

use std::borrow::Cow;

use proto::params::interaction::Approval;

use super::kinds::Msg;
use super::{Form, Note, NoteTone};

/// The form with the files that would run. Those that the session may change are in red.
pub(super) fn with_programs<'a>(mut form: Form<'a>, approval: &'a Approval) -> Form<'a> {
    if approval.again {
        form.title = Msg::TitleAgain;
        form.lines.heading = format!(
            "asked again, because this session may change a program that would run: really run `{}`?",
            approval.tool
        );
    }
    let programs = approval.programs.iter().map(|program| {
        let path = program.path.as_deref();
        match (path, program.own) {
            (None, _) => {
                Note::new(Msg::RunsUnknownProgram, Some(&program.name)).with_tone(NoteTone::Danger)
            }
            (Some(_), true) => Note::new(Msg::RunsOwnProgram, path).with_tone(NoteTone::Danger),
            (Some(_), false) => Note::new(Msg::RunsProgram, path),
        }
    });
    let left_out = approval.left_out.iter();
    let left_out = left_out.map(|dir| Note::new(Msg::NotLookedIn, Some(dir)));
    form.notes.splice(0..0, programs.chain(left_out));
    form.lines.note = Some(Cow::Owned(lines(approval, form.lines.note.as_deref())));
    form
}

/// The same for clients that print lines.
fn lines(approval: &Approval, before: Option<&str>) -> String {
    let mut lines: Vec<String> = before.map(str::to_owned).into_iter().collect();
    lines.extend(approval.programs.iter().map(|program| {
        match (&program.path, program.own) {
            (None, _) => format!(
                "WARNING: runs `{}`, and which file that is depends on what the command does before",
                program.name
            ),
            (Some(path), true) => format!("WARNING: runs {path}, which this session may change"),
            (Some(path), false) => format!("runs {path}"),
        }
    }));
    let left_out = approval.left_out.iter();
    lines
        .extend(left_out.map(|dir| {
            format!("programs are not looked for in {dir}: this session may change it")
        }));
    lines.join("\n")
}
