//! Runs of actors, written down.

use std::time::Duration;

use exclusion::message::actor::{Cluster, DataOf};
use exclusion::message::{Protocol, Trace};

/// Each node's user enters this many times, as fast as it can. Returns the trace, in microseconds.
/// If there is a deadlock, the trace ends there.
///
/// # Errors
/// If the cluster cannot be started, or goes down.
pub fn record<P>(nodes: Vec<P>, entries: u32) -> Result<Trace, String>
where
    P: Protocol<Message: Send> + Send + 'static,
    DataOf<P, ()>: Send + Sync,
{
    let cluster = Cluster::builder()
        .resource("recorded", nodes, ())
        .period(Duration::from_millis(1))
        .traced()
        .start()
        .map_err(|error| error.to_string())?;
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let handles = cluster.handles().into_iter();
        let users = handles.map(|mut handle| {
            scope.spawn(move || {
                for _ in 0..entries {
                    let inside = handle.lock_timeout(STUCK).map_err(|down| down.to_string())?;
                    let Some(_inside) = inside else { break };
                    std::thread::sleep(Duration::from_micros(50));
                }
                Ok(())
            })
        });
        let users: Vec<_> = users.collect();
        users.into_iter().map(|user| user.join().expect("a user does not panic")).collect()
    });
    let mut traces = cluster.shutdown().traces;
    outcomes.into_iter().collect::<Result<(), String>>()?;
    Ok(traces.remove(0))
}

/// A user that has not entered after this time is taken to be in a deadlock, which is worth a
/// picture too.
const STUCK: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use exclusion::message::{CentralCoordinator, Happening, RicartAgrawala, replay};

    use super::*;
    use crate::explore::broken::banta::banta_holder_asks;

    #[test]
    fn a_recorded_run_has_every_entry_and_can_be_replayed() {
        let nodes = RicartAgrawala::cluster(3).expect("three are enough");
        let trace = record(nodes.clone(), 2).expect("nobody dies");
        let entries = trace.events.iter().filter(|event| event.happening == Happening::Enters);
        assert_eq!(entries.count(), 6);
        let sent =
            trace.events.iter().filter(|event| matches!(event.happening, Happening::Sends { .. }));
        assert_eq!(sent.count(), 6 * 2 * (3 - 1));
        replay(nodes, &trace).expect("the shipped nodes do the same");
    }

    #[test]
    fn a_trace_of_others_cannot_be_replayed() {
        let nodes = CentralCoordinator::cluster(3).expect("three are enough");
        let trace = record(nodes, 1).expect("nobody dies");
        let others = RicartAgrawala::cluster(3).expect("three are enough");
        assert!(replay(others, &trace).is_err());
    }

    /// A site that asks for the token that it has waits for its own request.
    #[test]
    fn users_that_get_stuck_are_recorded_until_then() {
        let trace = record(banta_holder_asks(true).cluster().to_vec(), 2).expect("nobody dies");
        let count = |happening| trace.events.iter().filter(|it| it.happening == happening).count();
        assert!(count(Happening::Requests) > 0);
        assert!(count(Happening::Enters) < count(Happening::Requests), "nobody is left waiting");
    }
}
