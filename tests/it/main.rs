//! What needs the whole: the real programs, a home of their own, a scripted model. One binary, so that it links once.

mod crash;
mod exit_codes;
mod house;
mod prefix;
mod provider;
mod reference;
mod scripted;
mod walk;
