//! Looks into a session that change nothing: single events, steps, what it is made of.

use proto::params::session as p;
use proto::{ErrorName, Failure};

use crate::supervisor::Supervisor;

impl Supervisor {
    /// See `session.event`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn event(&self, params: &p::EventParams) -> Result<p::PieceOutput, Failure> {
        let _ = params;
        Err(Failure::new(ErrorName::Internal, "not here yet", ""))
    }

    /// See `session.steps`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn steps(&self, params: &p::StepsParams) -> Result<p::StepsOutput, Failure> {
        let _ = params;
        Err(Failure::new(ErrorName::Internal, "not here yet", ""))
    }

    /// See `session.step`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn step(&self, params: &p::StepParams) -> Result<p::PieceOutput, Failure> {
        let _ = params;
        Err(Failure::new(ErrorName::Internal, "not here yet", ""))
    }

    /// See `session.inspect`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn inspect(&self, params: &p::InspectParams) -> Result<p::InspectOutput, Failure> {
        let _ = params;
        Err(Failure::new(ErrorName::Internal, "not here yet", ""))
    }
}
