//! The kinds of interactions: how each is shown, what its answers are, and how an answer reads in the transcript and in
//! the trace. The only file of the client crates that names them, but for [`super::approval`] and [`super::elicitation`],
//! which have the long forms of approvals and of questions of servers.

use std::borrow::Cow;

use proto::InteractionId;
use proto::params::elicitation::ElicitationDecision;
use proto::params::interaction::{
    ApprovalDecision, Interaction, InteractionAnswer, InteractionKind, InteractionRequest,
    PlanDecision, Question, Reply,
};
use proto::record::{InteractionResolved, Quarantined};
use schemars::JsonSchema;
use serde::Serialize;

use super::approval;
use super::elicitation;
use super::{
    Content, Decision, Fields, Form, Label, Lines, Note, OnceOnly, Settlement, SettlementMark,
    Shape,
};
use crate::messages::Language;
use crate::messages::trace::Msg as Trace;
use crate::messages::transcript::Msg as Transcript;
use crate::text;
use crate::trace::short;
use crate::transcript::words;

crate::catalog! {
    Approval = "approval", "审批";
    Approvals = "approvals", "审批";
    Question = "question", "提问";
    Questions = "questions", "提问";
    Plan = "plan", "计划";
    Plans = "plans", "计划";
    Elicitation = "server question", "服务器提问";
    Elicitations = "server questions", "服务器提问";
    TitleCommand = "Run this command?", "运行这条命令？";
    TitleOutside = "Run this once outside the sandbox?", "在沙箱外运行一次？";
    TitlePutBack = "Put this back?", "放回原处？";
    TitleChange = "Change this file?", "修改这个文件？";
    TitlePatch = "Change these files?", "应用这些修改？";
    TitleWrite = "Write this file?", "写入这个文件？";
    TitleDelete = "Delete this file?", "删除这个文件？";
    TitleMove = "Move this file?", "移动这个文件？";
    TitleCopy = "Copy this file?", "复制这个文件？";
    TitleDirectory = "Create this directory?", "创建这个目录？";
    TitleRead = "Read this?", "读取这项内容？";
    TitleOther = "Run this tool?", "允许运行这个工具吗？";
    TitleQuestion = "A question for you", "有问题想问你";
    TitleElicitation = "An MCP server asks you", "MCP 服务器提问";
    /// 0: the server.
    WordsOfServer = "The MCP server `{0}` wrote this text and receives your answer. Do not enter a password or key.", "以上内容来自 MCP 服务器 `{0}`，你的回答会发给它。请勿填写密码或密钥。";
    TitleLink = "An MCP server asks you to open a link", "MCP 服务器请你打开一个链接";
    /// 0: the host.
    LinkLeads = "The link leads to `{0}`. Reasonix does not open it: open it yourself if you trust that host, and accept. The server learns your decision only.", "链接指向 `{0}`。Reasonix 不会打开它：如果信任该主机，请自行打开并接受。服务器只会得知你的决定。";
    /// 0: the server.
    LinkOfServer = "The MCP server `{0}` wrote this text and the link.", "以上内容和链接来自 MCP 服务器 `{0}`。";
    TitleSampling = "An MCP server asks your model", "MCP 服务器要向你的模型提问";
    /// 0: the server.
    SamplingMeans = "The MCP server `{0}` wrote this text. If you accept, the session's model answers it without tools, the session pays for it, and the server receives the answer.", "以上内容来自 MCP 服务器 `{0}`。接受后，本会话的模型会在不使用工具的情况下回答，费用计入本会话，答案会发给该服务器。";
    TitlePlan = "Carry out this plan?", "执行这个计划？";
    /// What a yes does.
    PlanMeans = "Approving ends plan mode. Both ways of approving still refuse denied calls and still ask about calls that always ask.", "同意后退出计划模式。两种同意方式下，被拒绝的调用仍会被拒绝，始终需询问的调用仍会询问。";
    KeyApprove = "approve; run calls without asking until the turn ends", "同意；在回合结束前执行调用不再询问";
    KeyApproveShort = "approve, do not ask", "同意，不再询问";
    KeyKeepAsking = "approve; keep asking to confirm calls", "同意；执行调用仍照常询问";
    KeyKeepAskingShort = "approve, keep asking", "同意，仍照常询问";
    KeyKeepPlanning = "reject and keep planning", "不，继续计划";
    KeyKeepPlanningShort = "keep planning", "继续计划";
    PlanNoteTitle = "Keep planning. What is missing? Press Enter to send (may be empty).", "继续计划。还缺什么？按 Enter 发送，可不填。";
    PlanApproved = "plan approved", "已同意计划";
    PlanApprovedKeepAsking = "plan approved; calls are asked about as usual", "已同意计划；调用仍照常询问";
    PlanRejected = "keep planning", "继续计划";
    PlanClosed = "closed without an answer", "未作答即关闭";
    /// 0: the rule.
    Because = "asked because {0}", "询问原因：{0}";
    /// 0: in the reviewer's words.
    ReviewAsks = "the reviewer leaves it to you: {0}", "审查模型交由你决定：{0}";
    ReviewAllows = "the reviewer sees no harm in it: {0}", "审查模型认为无害：{0}";
    ReviewDenies = "the reviewer is against it: {0}", "审查模型表示反对：{0}";
    /// 0: why.
    ReviewFailed = "the review failed: {0}", "审查未能完成：{0}";
    ReviewWithoutReason = "no reason was given", "未说明原因";
    /// 0: why.
    StoppedBecause = "the sandbox may have blocked it: {0}", "似乎被沙箱阻止：{0}";
    OutsideMeans = "Outside the sandbox, it can do everything that you can: change any of your files and use the network. It already ran inside the sandbox until it was blocked.", "在沙箱外，它可以做你能做的一切：修改你的任何文件、使用网络。它已在沙箱内运行过一次，直到被阻止为止。";
    OutsideAdds = "This session may then also write in {0}, from now on.", "此后本会话也可以写入 {0}。";
    PutBackMeans = "Such a file can configure or run something, so it was moved away. It was made while the command ran, perhaps by you. If you deny, it stays where it was moved to.", "这类文件可以更改配置或运行程序，因此已移走。它是在命令运行期间创建的，也可能出自你本人。拒绝则留在移到的位置。";
    KeyPutBack = "put it back", "放回原处";
    KeyLeave = "leave it moved away", "不放回";
    KeyLeaveShort = "leave it", "不放回";
    TitleAgain = "Really? This session may change a program that would run.", "确定吗？本会话可以更改将要运行的程序。";
    /// 0: the file.
    RunsProgram = "Runs {0}", "运行 {0}";
    /// 0: the file.
    RunsOwnProgram = "Runs {0}, which this session may change: it can do anything with all your rights.", "运行 {0}；本会话可以更改该文件，它能以你的全部权限做任何事。";
    /// 0: the name.
    RunsUnknownProgram = "Runs {0}, and which file that is depends on what the command does before.", "运行 {0}；具体是哪个文件取决于命令之前的操作。";
    /// 0: a directory.
    NotLookedIn = "Programs are not looked for in {0}: this session may change it.", "不在 {0} 中查找程序：本会话可以更改它。";
    KeyOutside = "yes, once, outside the sandbox", "允许，在沙箱外仅此一次";
    KeyOutsideShort = "once, outside", "沙箱外一次";
    KeyOnce = "yes", "允许";
    KeyDeny = "no, and say why", "拒绝，并说明原因";
    KeyDenyShort = "no", "拒绝";
    NoteTitle = "Deny. Why? Press Enter to send (may be empty).", "拒绝。原因？按 Enter 发送，可不填。";
    /// 0: who, 1: what.
    AnsweredBy = "{0} answered: {1}", "{0} 已作答：{1}";
    ElicitationAnswered = "accepted", "已接受";
    ElicitationDeclined = "declined", "已拒绝回答";
    ElicitationCancelled = "cancelled", "已取消";
    QuestionAnsweredBy = "{0} answered the question", "{0} 已回答该问题";
    AllowedOnce = "allowed once", "允许一次";
    AllowedEdited = "allowed with a changed command", "改动命令后允许";
    AllowedSession = "allowed for this session", "本会话内允许";
    AllowedAlways = "always allowed", "始终允许";
    Denied = "denied", "拒绝";
    DeniedRest = "denied, with all others of its answer that need approval", "拒绝，连同该回答中其余需要批准的调用";
}

/// How one of a kind is called, and how several are.
#[must_use]
pub fn names(kind: InteractionKind) -> (Msg, Msg) {
    match kind {
        InteractionKind::Approval => (Msg::Approval, Msg::Approvals),
        InteractionKind::Questions => (Msg::Question, Msg::Questions),
        InteractionKind::Plan => (Msg::Plan, Msg::Plans),
        InteractionKind::Elicitation => (Msg::Elicitation, Msg::Elicitations),
    }
}

impl<'a> Form<'a> {
    /// The form of an interaction.
    #[must_use]
    pub fn of(interaction: &'a Interaction) -> Self {
        match &interaction.request {
            InteractionRequest::Approval(request) => approval::form(request),
            InteractionRequest::Questions { questions } => self::questions(questions),
            InteractionRequest::Plan { plan } => Self::of_plan(plan),
            InteractionRequest::Elicitation(asked) => elicitation::form(asked),
        }
    }

    /// The form of a plan, of which the transcript has only the text.
    #[must_use]
    pub fn of_plan(plan: &'a str) -> Self {
        Self {
            kind: InteractionKind::Plan,
            title: Msg::TitlePlan,
            tool: None,
            shows_tool: false,
            subject: plan.trim(),
            content: vec![Content::Markdown(plan)],
            notes: vec![Note::new(Msg::PlanMeans, None)],
            lines: Lines {
                heading: "the model proposes a plan".to_owned(),
                note: Some(Cow::Borrowed(
                    "approving ends plan mode; until the turn ends, calls then run without asking, unless you choose to keep asking",
                )),
                how_to: "`/approve` carries it out without asking about calls; `/approve ask` carries it out and keeps asking; `/deny REASON` makes the model keep planning",
                name_suffix: "",
            },
            shape: Shape::Decision(Decision {
                scopes: &[],
                reason: None,
                command: None,
                once_only: Some(OnceOnly {
                    typed: "",
                    command: Some("is a plan: it can only be approved once, for its turn"),
                }),
                others: 0,
                takes_one_word: false,
                yes: Label {
                    line: "approve, run calls without asking",
                    key: Msg::KeyApprove,
                    short: Msg::KeyApproveShort,
                },
                yes_keep_asking: Some(Label {
                    line: "approve, keep asking",
                    key: Msg::KeyKeepAsking,
                    short: Msg::KeyKeepAskingShort,
                }),
                no: Label {
                    line: "keep planning",
                    key: Msg::KeyKeepPlanning,
                    short: Msg::KeyKeepPlanningShort,
                },
                note_title: Msg::PlanNoteTitle,
                sent: |decision| match decision {
                    ApprovalDecision::Deny | ApprovalDecision::DenyRest => "rejected",
                    ApprovalDecision::AllowOnce
                    | ApprovalDecision::AllowSession
                    | ApprovalDecision::AllowAlways => "approved, for its turn",
                },
                answer: |decision, _, note| InteractionAnswer::Plan {
                    decision: match decision {
                        ApprovalDecision::Deny | ApprovalDecision::DenyRest => PlanDecision::Reject,
                        ApprovalDecision::AllowOnce
                        | ApprovalDecision::AllowSession
                        | ApprovalDecision::AllowAlways => PlanDecision::Approve,
                    },
                    note,
                },
            }),
        }
    }
}

fn questions(questions: &[Question]) -> Form<'_> {
    let count = questions.len();
    let (heading, how_to) = match count {
        0 | 1 => (
            "the model asks".to_owned(),
            "type the number of an option, or `/answer` and your own words",
        ),
        _ => (
            format!("the model asks {count} questions"),
            "answer one after another: type the number of an option, or `/answer` and your own words",
        ),
    };
    Form {
        kind: InteractionKind::Questions,
        title: Msg::TitleQuestion,
        tool: None,
        shows_tool: false,
        subject: questions.first().map_or("", |first| &first.question),
        content: Vec::new(),
        notes: Vec::new(),
        lines: Lines {
            heading,
            note: None,
            how_to,
            name_suffix: "",
        },
        shape: Shape::Fields(Fields {
            of_server: false,
            questions: Cow::Borrowed(questions),
            optional: Vec::new(),
            only_options: Vec::new(),
            answer: untyped_replies,
            decline: None,
        }),
    }
}

/// Replies to an interaction that is not open: the daemon says who answered it.
#[must_use]
pub fn untyped_replies(replies: Vec<Reply>) -> InteractionAnswer {
    InteractionAnswer::Questions { replies }
}

/// Approval of a plan that keeps asking about calls.
#[must_use]
pub fn approve_keep_asking() -> InteractionAnswer {
    InteractionAnswer::Plan {
        decision: PlanDecision::ApproveKeepAsking,
        note: None,
    }
}

/// Whether an MCP server wrote what is asked.
#[must_use]
pub fn is_of_server(kind: InteractionKind) -> bool {
    kind == InteractionKind::Elicitation
}

/// Whether an answer ends plan mode.
#[must_use]
pub fn ends_plan_mode(resolved: &InteractionResolved) -> bool {
    match resolved.answer {
        Some(InteractionAnswer::Plan { decision, .. }) => decision.approves(),
        _ => false,
    }
}

/// The text of an interaction that the transcript keeps as words of the model, to be read after it was answered.
#[must_use]
pub(crate) fn words_of_model(interaction: &Interaction) -> Option<&str> {
    match &interaction.request {
        InteractionRequest::Plan { plan } => Some(plan),
        InteractionRequest::Approval(_)
        | InteractionRequest::Questions { .. }
        | InteractionRequest::Elicitation(_) => None,
    }
}

/// The tool and the subject of the call that an interaction is about, as the daemon judged them.
#[must_use]
pub(crate) fn judged_call(interaction: &Interaction) -> Option<(String, String)> {
    let form = Form::of(interaction);
    Some((form.tool?.to_owned(), form.subject.to_owned()))
}

/// What the user was asked, as far as the words about the answer need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    Approval {
        tool: String,
        subject: String,
    },
    /// Whether these paths are put back.
    PutBack(String),
    /// The questions.
    Questions(Vec<String>),
    Plan,
    /// The titles of the values that a server asked for.
    Elicitation(Vec<String>),
}

/// What an answer means for the call that waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Denied,
    /// The answer is the result of the call.
    Answered,
    Other,
}

impl From<&InteractionRequest> for Asked {
    fn from(request: &InteractionRequest) -> Self {
        match request {
            InteractionRequest::Approval(approval) if !approval.quarantined.is_empty() => {
                Self::PutBack(approval::quarantined_paths(&approval.quarantined))
            }
            InteractionRequest::Approval(approval) => Self::Approval {
                tool: approval.tool.clone(),
                subject: approval.subject.clone(),
            },
            InteractionRequest::Questions { questions } => {
                let questions = questions.iter();
                Self::Questions(questions.map(|asked| asked.question.clone()).collect())
            }
            InteractionRequest::Plan { .. } => Self::Plan,
            InteractionRequest::Elicitation(asked) => {
                let fields = asked.fields.iter();
                Self::Elicitation(fields.map(|field| field.question.header.clone()).collect())
            }
        }
    }
}

impl Asked {
    /// The question if only the answer was seen. `call`: tool and subject of the call that waited. A call that was
    /// denied may have no answer.
    pub(crate) fn by_answer(
        answer: Option<&InteractionAnswer>,
        call: impl FnOnce() -> (String, String),
    ) -> Self {
        match answer {
            Some(InteractionAnswer::Questions { .. }) => Self::Questions(Vec::new()),
            Some(InteractionAnswer::Plan { .. }) => Self::Plan,
            Some(InteractionAnswer::Elicitation { .. }) => Self::Elicitation(Vec::new()),
            Some(InteractionAnswer::Approval { .. }) | None => {
                let (tool, subject) = call();
                Self::Approval { tool, subject }
            }
        }
    }

    pub(crate) fn call_outcome(&self, resolved: &InteractionResolved) -> CallOutcome {
        match (self, &resolved.answer) {
            (
                Self::Approval { .. },
                Some(InteractionAnswer::Approval {
                    decision: ApprovalDecision::Deny | ApprovalDecision::DenyRest,
                    ..
                })
                | None,
            ) => CallOutcome::Denied,
            (Self::Questions(_), _) if !resolved.unattended => CallOutcome::Answered,
            // The call has run.
            (Self::PutBack(_) | Self::Elicitation(_), _) => CallOutcome::Other,
            (Self::Approval { .. } | Self::Questions(_) | Self::Plan, _) => CallOutcome::Other,
        }
    }

    /// Whether it was about a call: the transcript shows its settlement beside calls.
    #[must_use]
    pub fn is_about_call(&self) -> bool {
        matches!(self, Self::Approval { .. } | Self::PutBack(_))
    }

    /// Whether the settlement needs words in a dialog client: not if its consequence is shown next.
    #[must_use]
    pub fn needs_words(&self, resolved: &InteractionResolved) -> bool {
        let once = matches!(
            resolved.answer,
            Some(InteractionAnswer::Approval {
                decision: ApprovalDecision::AllowOnce,
                edited_command: None,
                ..
            })
        );
        match self {
            Self::PutBack(_) | Self::Elicitation(_) => true,
            Self::Approval { .. } | Self::Questions(_) => !once,
            Self::Plan => false,
        }
    }

    /// How it was settled, for the transcript of a dialog client. `short` cuts a subject to the width of the screen.
    #[must_use]
    pub fn settlement(
        &self,
        language: Language,
        resolved: &InteractionResolved,
        short: impl FnOnce(&str) -> String,
    ) -> Settlement {
        match self {
            Self::Approval { tool, subject } => {
                let call = match (tool.as_str(), subject.as_str()) {
                    ("", _) => language.say(Transcript::ACall).to_owned(),
                    (tool, "") => text::line(tool),
                    (tool, subject) => format!("{} {}", text::line(tool), short(subject)),
                };
                approval::settlement(language, &call, resolved)
            }
            Self::PutBack(paths) => {
                approval::put_back_settlement(language, &text::line(paths), resolved)
            }
            Self::Questions(questions) => replies_settlement(language, questions, resolved),
            Self::Elicitation(fields) => replies_settlement(language, fields, resolved),
            Self::Plan => Settlement {
                mark: SettlementMark::Answered,
                words: self.answered_by(language, resolved),
                replies: Vec::new(),
            },
        }
    }

    /// Who answered what this client shows, in a sentence.
    #[must_use]
    pub fn answered_by(&self, language: Language, resolved: &InteractionResolved) -> String {
        let by = text::line(&words::who(language, &resolved.by));
        let decision = match (self, &resolved.answer) {
            (
                _,
                Some(InteractionAnswer::Approval {
                    edited_command: Some(_),
                    ..
                }),
            ) => Msg::AllowedEdited,
            (_, Some(InteractionAnswer::Approval { decision, .. })) => match decision {
                ApprovalDecision::AllowOnce => Msg::AllowedOnce,
                ApprovalDecision::AllowSession => Msg::AllowedSession,
                ApprovalDecision::AllowAlways => Msg::AllowedAlways,
                ApprovalDecision::Deny => Msg::Denied,
                ApprovalDecision::DenyRest => Msg::DeniedRest,
            },
            (_, Some(InteractionAnswer::Plan { decision, .. })) => match decision {
                PlanDecision::Approve => Msg::PlanApproved,
                PlanDecision::ApproveKeepAsking => Msg::PlanApprovedKeepAsking,
                PlanDecision::Reject => Msg::PlanRejected,
            },
            (_, Some(InteractionAnswer::Elicitation { decision, .. })) => {
                elicitation_words(*decision)
            }
            (Self::Approval { .. } | Self::PutBack(_), None) => Msg::Denied,
            (Self::Plan | Self::Elicitation(_), None) => Msg::PlanClosed,
            (Self::Questions(_), None) | (_, Some(InteractionAnswer::Questions { .. })) => {
                return language.fill(Msg::QuestionAnsweredBy, &[&by]);
            }
        };
        language.fill(Msg::AnsweredBy, &[&by, language.say(decision)])
    }
}

fn elicitation_words(decision: ElicitationDecision) -> Msg {
    match decision {
        ElicitationDecision::Accept => Msg::ElicitationAnswered,
        ElicitationDecision::Decline => Msg::ElicitationDeclined,
        ElicitationDecision::Cancel => Msg::ElicitationCancelled,
    }
}

fn replies_settlement(
    language: Language,
    questions: &[String],
    resolved: &InteractionResolved,
) -> Settlement {
    let replies: &[Reply] = match &resolved.answer {
        Some(
            InteractionAnswer::Questions { replies }
            | InteractionAnswer::Elicitation { replies, .. },
        ) if !resolved.unattended => replies,
        Some(
            InteractionAnswer::Approval { .. }
            | InteractionAnswer::Questions { .. }
            | InteractionAnswer::Elicitation { .. }
            | InteractionAnswer::Plan { .. },
        )
        | None => &[],
    };
    let by = words::who(language, &resolved.by);
    if let (Some(InteractionAnswer::Elicitation { decision, .. }), []) = (&resolved.answer, replies)
    {
        let decision = language.say(elicitation_words(*decision));
        return Settlement {
            mark: SettlementMark::Answered,
            words: language.fill(Msg::AnsweredBy, &[&by, decision]),
            replies: Vec::new(),
        };
    }
    let message = match replies {
        _ if resolved.unattended => Transcript::AnsweredAlone,
        [] => Transcript::AnsweredNot,
        _ => Transcript::Answered,
    };
    let replies = replies.iter().enumerate().map(|(index, reply)| {
        let reply = words::reply(language, reply);
        (questions.get(index).cloned(), reply)
    });
    Settlement {
        mark: SettlementMark::Answered,
        words: language.fill(message, &[&by]),
        replies: replies.collect(),
    }
}

/// Paths of what a command made.
fn made(items: &[Quarantined]) -> Vec<String> {
    items.iter().map(|item| item.path.clone()).collect()
}

/// What the user is asked, in a line of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Asked")]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum AskedLine {
    Approval {
        tool: String,
        subject: String,
        /// Why the sandbox stopped it, where it is asked whether it may run once outside.
        #[serde(skip_serializing_if = "Option::is_none")]
        escape: Option<String>,
        /// What its command made, where it is asked whether that is put back.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        made: Vec<String>,
    },
    Questions {
        /// How many are asked together.
        count: u64,
        /// The first of them.
        text: String,
    },
    Plan {
        /// Its first line.
        text: String,
    },
    Elicitation {
        server: String,
        text: String,
    },
}

impl AskedLine {
    pub(crate) fn new(request: InteractionRequest) -> Self {
        match request {
            InteractionRequest::Approval(approval) => Self::Approval {
                tool: approval.tool,
                subject: short(&approval.subject),
                escape: approval.escape,
                made: made(&approval.quarantined),
            },
            InteractionRequest::Questions { questions } => Self::Questions {
                count: questions.len() as u64,
                text: questions
                    .first()
                    .map_or_else(String::new, |first| short(&first.question)),
            },
            InteractionRequest::Plan { plan } => Self::Plan { text: short(&plan) },
            InteractionRequest::Elicitation(asked) => Self::Elicitation {
                text: short(&asked.message),
                server: asked.server,
            },
        }
    }

    /// The question on a line of the trace.
    pub(crate) fn words(&self, language: Language, id: &InteractionId) -> String {
        let fill = |message: Trace, values: &[&str]| language.fill(message, values);
        let id = id.to_string();
        match self {
            Self::Approval {
                tool,
                subject,
                escape,
                made,
            } => {
                let mut words = fill(Trace::Asks, &[&id, tool, subject]);
                for path in made {
                    words += &fill(Trace::AsksPutBack, &[path]);
                }
                if let Some(reason) = escape {
                    words += &fill(Trace::AsksOutside, &[&language.translate(reason)]);
                }
                words
            }
            Self::Questions { count: 1, text } => fill(Trace::AsksOne, &[&id, text]),
            Self::Questions { count, text } => {
                let more = count.saturating_sub(1).to_string();
                fill(Trace::AsksMore, &[&id, text, &more])
            }
            Self::Plan { text } => fill(Trace::Proposes, &[&id, text]),
            Self::Elicitation { server, text } => fill(Trace::ServerAsks, &[server, &id, text]),
        }
    }
}
