//! Elections among threads.

use std::time::{Duration, Instant};

use super::cluster::{Cluster, Ended};
use super::error::{Down, StartError};
use super::post::{Mail, Order};
use crate::message::{
    ClusterError, Election, Happening, Leadership, NodeId, NodeSet, Notice, Trace, Traffic,
    Unattended,
};

/// The nodes of an election, each a thread. They can be crashed and brought back; a detector that
/// is right tells the others.
///
/// ```
/// use std::time::Duration;
/// use exclusion::message::actor::Assembly;
/// use exclusion::message::{BullyHalt, NodeId};
///
/// let assembly = Assembly::start(BullyHalt::cluster(4)?, Duration::from_millis(20))?;
/// assembly.call(NodeId(0))?;
/// let minute = Duration::from_secs(60);
/// assert_eq!(assembly.wait(minute)?.map(|it| it.leader), Some(NodeId(3)));
///
/// assembly.crash(NodeId(3))?;
/// assert_eq!(assembly.wait(minute)?.map(|it| it.leader), Some(NodeId(2)));
/// let report = assembly.shutdown();
/// assert!(report.messages.of("HALT") >= 3 + 2);
/// println!("it took {:?} from the crash until all had settled", report.time);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Timing
/// A [`Bully`](crate::message::Bully) needs a period that is longer than any message takes. Threads
/// have no such bound: on a machine that is busy enough two may lead for a while. The greater epoch
/// wins. The elections that need a detector need no period.
pub struct Assembly<E: Election> {
    cluster: Cluster<Unattended<E>, ()>,
}

impl<E> Assembly<E>
where
    E: Election<Message: Send> + Send + Sync + 'static,
{
    /// Starts the threads. Nobody has called an election yet.
    ///
    /// # Errors
    /// Nodes that are no cluster, or no threads for them.
    pub fn start(nodes: Vec<E>, period: Duration) -> Result<Self, StartError> {
        let builder = Cluster::builder().resource("election", Unattended::all(nodes), ());
        Ok(Self { cluster: builder.period(period).traced().start()? })
    }

    /// Starts the threads of an election whose messages overtake each other at random.
    ///
    /// # Errors
    /// As [`start`](Self::start); and if the election needs channels that keep order.
    pub fn shuffled(nodes: Vec<E>, period: Duration, seed: u64) -> Result<Self, StartError> {
        let builder = Cluster::builder().resource("election", Unattended::all(nodes), ());
        Ok(Self { cluster: builder.period(period).shuffled(seed).traced().start()? })
    }

    /// A node calls an election.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn call(&self, node: NodeId) -> Result<(), ClusterError> {
        self.order(node, Order::Elect)
    }

    /// A node goes down, when it has done what it was doing. Nothing happens if it is.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn crash(&self, node: NodeId) -> Result<(), ClusterError> {
        self.order(node, Order::Crash)?;
        while !self.is_down(node) && self.cluster.shared.check().is_ok() {
            std::thread::sleep(Self::NAP);
        }
        Ok(())
    }

    /// A node comes back. Nothing happens if it is not down.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn recover(&self, node: NodeId) -> Result<(), ClusterError> {
        self.order(node, Order::Recover)?;
        while self.is_down(node) && self.cluster.shared.check().is_ok() {
            std::thread::sleep(Self::NAP);
        }
        Ok(())
    }

    /// Nothing passes between these nodes and the others from now on, and each side is told that
    /// the other is down. A cut that was there before is over.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn cut(&self, side: impl IntoIterator<Item = NodeId>) -> Result<(), ClusterError> {
        let nodes = self.cluster.nodes();
        let known = |node| ClusterError::check_node(node, nodes);
        let side = side.into_iter().map(known).collect::<Result<Vec<_>, _>>()?;
        self.split(Some(NodeSet::of(nodes, side)));
        Ok(())
    }

    /// The cut is over, and both sides are told.
    pub fn heal(&self) {
        self.split(None);
    }

    fn split(&self, side: Option<NodeSet>) {
        self.cluster.shared.reach.cut(side);
        for inbox in &self.cluster.shared.inboxes {
            let _ = inbox.send(Mail::Order(Order::Look));
        }
    }

    /// Whom a node has for its leader.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn leader(&self, node: NodeId) -> Result<Option<Leadership>, ClusterError> {
        ClusterError::check_node(node, self.cluster.nodes())?;
        Ok(self.cluster.shared.post(0, node).node().0.leadership())
    }

    /// Waits until all nodes that live have settled on one that lives, but not longer than this.
    ///
    /// # Errors
    /// If a node has refused a message or panicked.
    pub fn wait(&self, limit: Duration) -> Result<Option<Leadership>, Down> {
        let deadline = Instant::now().checked_add(limit);
        loop {
            self.cluster.shared.check()?;
            if let Some(leadership) = self.settled() {
                return Ok(Some(leadership));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            std::thread::sleep(Self::NAP);
        }
    }

    /// How long to sleep before looking again.
    const NAP: Duration = Duration::from_micros(200);

    /// The nodes as they are. They are looked at one after the other.
    fn nodes(&self) -> Vec<E> {
        let nodes = NodeId::all(self.cluster.nodes());
        nodes.map(|node| self.cluster.shared.post(0, node).node().0).collect()
    }

    /// The leader that all have settled on, if so.
    fn settled(&self) -> Option<Leadership> {
        let nodes = self.nodes();
        let live = NodeId::all(nodes.len()).filter(|&node| !self.is_down(node));
        let live = NodeSet::of(nodes.len(), live);
        let done = E::is_done(&nodes.iter().collect::<Vec<_>>(), &live);
        let mut views = live.iter().filter_map(|node| nodes[node.index()].leadership());
        views.next().filter(|_| done)
    }

    fn is_down(&self, node: NodeId) -> bool {
        self.cluster.shared.reach.is_down(node)
    }

    fn order(&self, node: NodeId, order: Order) -> Result<(), ClusterError> {
        ClusterError::check_node(node, self.cluster.nodes())?;
        let _ = self.cluster.shared.inboxes[node.index()].send(Mail::Order(order));
        Ok(())
    }

    /// The messages sent so far.
    pub fn messages(&self) -> Traffic {
        self.cluster.messages()
    }

    /// Stops all nodes, and says what came of it.
    pub fn shutdown(self) -> AssemblyReport {
        let leader = self.settled();
        let views = self.nodes().iter().map(Election::leadership).collect();
        let down = NodeId::all(self.cluster.nodes()).filter(|&node| self.is_down(node)).collect();
        let Ended { messages, mut traces, .. } = self.cluster.shutdown();
        let trace = traces.pop().unwrap_or_default();
        AssemblyReport { messages, leader, views, down, time: time_to_settle(&trace), trace }
    }
}

/// What came of an election among threads.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AssemblyReport {
    /// The messages, by kind. What was sent to the dead counts.
    pub messages: Traffic,
    /// The leader, if all nodes that live have settled on it.
    pub leader: Option<Leadership>,
    /// Whom each node has for its leader. What the dead believed is among them.
    pub views: Vec<Option<Leadership>>,
    /// Who is down.
    pub down: Vec<NodeId>,
    /// How long it took from the last call, crash or recovery until the last node settled. None if
    /// nobody has settled since.
    pub time: Option<Duration>,
    /// Every event, in microseconds since the start.
    pub trace: Trace,
}

fn time_to_settle(trace: &Trace) -> Option<Duration> {
    let mut since = None;
    let mut settled = None;
    for event in &trace.events {
        match event.happening {
            Happening::Calls | Happening::Crashes | Happening::Learns(Notice::Recovered) => {
                (since, settled) = (Some(event.time), None);
            }
            Happening::Settles(_) => settled = Some(event.time),
            _ => {}
        }
    }
    let micros = settled?.as_units() - since?.as_units();
    Some(Duration::from_secs_f64(micros / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::BullyHalt;

    /// A node that recovers looks who is down. That may come to it after the other is up again.
    #[test]
    fn news_that_a_node_is_down_is_not_believed_when_it_is_up() {
        let nodes = BullyHalt::cluster(3).expect("three are enough");
        let assembly = Assembly::start(nodes, Duration::from_millis(20)).expect("it starts");
        let stale = Mail::Fate { node: NodeId(2), is_down: true };
        assert!(assembly.cluster.shared.inboxes[0].send(stale).is_ok());
        assembly.call(NodeId(0)).expect("it is there");
        let settled = assembly.wait(Duration::from_secs(60)).expect("nothing is refused");
        assert_eq!(settled.map(|it| it.leader), Some(NodeId(2)));
        let trace = assembly.shutdown().trace;
        let told = Happening::Learns(Notice::Down(NodeId(2)));
        assert!(trace.events.iter().all(|event| event.happening != told), "{trace}");
    }
}
