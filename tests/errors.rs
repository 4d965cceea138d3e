//! Errors say everything once: what `source` returns is not in their own words too.

use std::error::Error;
use std::io;

use exclusion::message::actor::{Down, HandleError, StartError};
use exclusion::message::quorum::QuorumError;
use exclusion::message::registry::RegistryError;
use exclusion::message::sim::{SimCause, SimError};
use exclusion::message::{
    ClusterError, InputError, NodeId, ReplayCause, ReplayError, Time, Violation,
};

fn refusal() -> Violation {
    let input = "TOKEN from n1".to_owned();
    Violation::Unexpected(InputError { node: NodeId(0), input, why: "it has the token" })
}

fn unfit() -> ClusterError {
    ClusterError::Quorum(QuorumError::NotACircle(5))
}

fn sim(cause: SimCause) -> SimError {
    SimError { time: Time::units(2.5), cause, trace: None }
}

/// Every error that has another inside, and the words that must be read in it or behind it.
fn wrapping() -> Vec<(Box<dyn Error>, &'static str)> {
    let refused = "n0 cannot take TOKEN from n1: it has the token";
    let no_circle = "take 2 or 3 nodes";
    let no_memory = || io::Error::new(io::ErrorKind::OutOfMemory, "no memory for a stack");
    vec![
        (Box::new(refusal()), refused),
        (Box::new(unfit()), no_circle),
        (Box::new(RegistryError::Unfit("maekawa_circle", unfit())), no_circle),
        (Box::new(StartError::Cluster(unfit())), no_circle),
        (Box::new(StartError::Thread(no_memory())), "no memory for a stack"),
        (Box::new(HandleError::UnknownNode(unfit())), no_circle),
        (Box::new(Down::Violation(refusal())), refused),
        (Box::new(sim(SimCause::Cluster(unfit()))), no_circle),
        (Box::new(sim(SimCause::Violation(refusal()))), refused),
        (Box::new(ReplayError { event: 3, cause: ReplayCause::Cluster(unfit()) }), no_circle),
        (Box::new(ReplayError { event: 3, cause: ReplayCause::Violation(refusal()) }), refused),
    ]
}

#[test]
fn a_report_of_an_error_and_its_sources_says_everything_once() {
    for (error, words) in wrapping() {
        let mut report = vec![error.to_string()];
        let mut source = error.source();
        while let Some(behind) = source {
            report.push(behind.to_string());
            source = behind.source();
        }
        let report = report.join("; ");
        assert_eq!(report.matches(words).count(), 1, "{report}");
    }
}
