//! What needs the whole: the real programs, a home of their own, a scripted model. One binary, so that it links once.

mod approval;
mod attach;
mod catalog;
mod crash;
mod errors;
mod exit_codes;
mod fanout;
mod figures;
mod house;
mod lifecycle;
mod policy_e2e;
mod prefix;
mod process;
mod protocol;
mod provider;
mod reference;
mod run_cli;
mod scripted;
mod sim;
mod unattended;
mod waiting;
mod walk;
