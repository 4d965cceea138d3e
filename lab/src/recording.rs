//! Runs of actors, recorded: any protocol, wrapped so that it writes down what happens to it and when.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use exclusion::message::actor::Cluster;
use exclusion::message::{
    Channels, Event, Happening, Input, Message, NodeId, Outbox, Protocol, Refused, Time, Timer,
    Trace, step,
};

/// Each node's user enters so often, as fast as it can. What happened, in microseconds; if they get stuck, until then.
///
/// # Errors
/// If the cluster cannot be started, or goes down.
pub fn record<P>(nodes: Vec<P>, entries: u32) -> Result<Trace, String>
where
    P: Protocol<Message: Send> + Send + 'static,
{
    let log = Arc::new(Log { began: Instant::now(), written: Mutex::default() });
    let record = |(me, inner)| Recorded { me, inner, log: log.clone() };
    let nodes = NodeId::all(nodes.len()).zip(nodes).map(record).collect();
    let cluster = Cluster::builder()
        .resource("recorded", nodes, ())
        .period(Duration::from_millis(1))
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
    cluster.shutdown();
    outcomes.into_iter().collect::<Result<(), String>>()?;
    let mut written = log.written.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut written.trace))
}

/// Who has not entered after so long will not: plain voting deadlocks, which is worth a picture too.
const STUCK: Duration = Duration::from_secs(2);

struct Log {
    began: Instant,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    trace: Trace,
    sent: u64,
}

/// A node that writes down what happens to it.
#[derive(Clone)]
struct Recorded<P> {
    me: NodeId,
    inner: P,
    log: Arc<Log>,
}

/// A message with the number that it has in the trace.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Numbered<M> {
    number: u64,
    message: M,
}

impl<M: Message> Message for Numbered<M> {
    fn kind(&self) -> &'static str {
        self.message.kind()
    }
}

impl<P: Protocol> Recorded<P> {
    /// Writes down the input and what came of it at one moment, for what is inside a step happens at once.
    fn step(
        &mut self,
        happening: Happening,
        input: Input<P::Message>,
        out: &mut Outbox<Numbered<P::Message>>,
    ) -> Result<(), Refused> {
        let me = self.me;
        let mut answer = Outbox::new(me);
        let mut written = self.log.written.lock().unwrap_or_else(PoisonError::into_inner);
        let time = Time::units(self.log.began.elapsed().as_secs_f64() * 1e6);
        let starts = happening == Happening::Starts;
        let outcome = step(&mut self.inner, input, &mut answer);
        if starts && answer.is_empty() {
            return Ok(());
        }
        let Written { trace, sent } = &mut *written;
        let mut note = |happening| trace.events.push(Event { time, node: me, happening });
        note(happening);
        outcome.map_err(|unexpected| Refused(unexpected.why))?;
        for (to, message) in answer.sent() {
            *sent += 1;
            let (kind, text) = (message.kind().to_owned(), format!("{message:?}"));
            note(Happening::Sends { to, message: *sent, kind, text });
            out.send(to, Numbered { number: *sent, message });
        }
        for (timer, periods) in answer.timers() {
            note(Happening::SetsTimer { timer, periods });
            out.set_timer(timer, periods);
        }
        if answer.take_entry() {
            note(Happening::Enters);
            out.enter();
        }
        Ok(())
    }
}

impl<P: Protocol> Protocol for Recorded<P> {
    type Message = Numbered<P::Message>;

    const CHANNELS: Channels = P::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn start(&mut self, out: &mut Outbox<Self::Message>) {
        self.step(Happening::Starts, Input::Start, out).expect("nothing is wrong with a start");
    }

    fn request(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.step(Happening::Requests, Input::Request, out)
    }

    fn release(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.step(Happening::Leaves, Input::Release, out)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        let Numbered { number, message } = message;
        let happening = Happening::Receives { from, message: number };
        self.step(happening, Input::Receive { from, message }, out)
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.step(Happening::TimesOut(timer), Input::Timeout(timer), out)
    }

    fn entries_at_a_time(&self) -> usize {
        self.inner.entries_at_a_time()
    }
}

// The log is no part of the state.
impl<P: PartialEq> PartialEq for Recorded<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.me, &self.inner) == (other.me, &other.inner)
    }
}

impl<P: Eq> Eq for Recorded<P> {}

impl<P: Hash> Hash for Recorded<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.me, &self.inner).hash(state);
    }
}

impl<P: std::fmt::Debug> std::fmt::Debug for Recorded<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use exclusion::message::replay;
    use exclusion::message::{CentralCoordinator, RicartAgrawala};

    use super::*;

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
}
