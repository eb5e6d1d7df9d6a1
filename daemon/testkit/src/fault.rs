//! Calls of the system that kill their caller, fail, or come back late: a library in C is loaded into the program before
//! its own. Needs no rights, and works on a program that an ordinary user may not trace.
//!
//! It sees what goes through the C library: what the standard library and SQLite do with files. A test asks
//! [`Fault::hits`] at its end: a fault that never happened has shown nothing.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LIBRARY: &str = include_str!("fault.c");

/// What befalls a call.
#[derive(Clone, Copy, Debug)]
pub enum FaultAction {
    /// The program is killed instead.
    Kill,
    /// It fails with an input/output error.
    Fail,
    /// It is done, and its caller hears so when [`Fault::lift`] was called.
    Hold,
}

/// A fault, for one start of one program.
#[derive(Debug)]
pub struct Fault {
    place: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Fault {
    /// Names of calls, with commas between; counted from 1 over the whole program, the `from`th up to the `to`th is hit.
    /// `place` is a directory that this fault has for itself.
    ///
    /// # Panics
    /// The compiler `cc` is missing, or the disk refuses it.
    #[must_use]
    pub fn new(place: &Path, calls: &str, deed: FaultAction, from: u64, to: u64) -> Self {
        fs::create_dir_all(place).expect("a directory for the fault");
        let fault = Self {
            place: place.to_owned(),
            variables: Vec::new(),
        };
        fault.compile();
        let deed = match deed {
            FaultAction::Kill => "kill",
            FaultAction::Fail => "fail",
            FaultAction::Hold => "hold",
        };
        let text = |name: &str| fault.at(name).display().to_string();
        let variables = vec![
            ("LD_PRELOAD", text("fault.so")),
            ("FAULT_CALLS", calls.to_owned()),
            ("FAULT_DEED", deed.to_owned()),
            ("FAULT_FROM", from.to_string()),
            ("FAULT_TO", to.to_string()),
            ("FAULT_MARK", text("hits")),
            ("FAULT_GATE", text("gate")),
        ];
        Self { variables, ..fault }
    }

    /// Only calls on this file.
    #[must_use]
    pub fn on(mut self, file: &Path) -> Self {
        self.variables
            .push(("FAULT_FILE", file.display().to_string()));
        self
    }

    /// Words before those of the program that is to have it.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let variables = self.variables.iter();
        let settings = variables.map(|(name, value)| format!("{name}={value}"));
        std::iter::once("env".to_owned()).chain(settings).collect()
    }

    /// How often it has happened.
    ///
    /// # Panics
    /// Its own note cannot be read.
    #[must_use]
    pub fn hits(&self) -> usize {
        match fs::read(self.at("hits")) {
            Ok(hits) => hits.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => panic!("read how often a fault has happened: {error}"),
        }
    }

    /// Calls that are held come back, and none is held from now on.
    ///
    /// # Panics
    /// The disk refuses it.
    pub fn lift(&self) {
        fs::write(self.at("gate"), "").expect("lift the fault");
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    fn compile(&self) {
        let mut compiler = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-x", "c", "-", "-o"])
            .arg(self.at("fault.so"))
            .arg("-ldl")
            .stdin(Stdio::piped())
            .spawn()
            .expect("start `cc`: faults need a C compiler, as the build does");
        let mut source = compiler.stdin.take().expect("its input");
        source.write_all(LIBRARY.as_bytes()).expect("its source");
        drop(source);
        let done = compiler.wait().expect("its end");
        assert!(done.success(), "`cc` does not take the library of faults");
    }
}

#[cfg(test)]
mod tests;
