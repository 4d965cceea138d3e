//! Nodes of a cluster that are killed, stand still, come back, or are stopped.

use std::time::Duration;

use super::cluster::{Cluster, Shared};
use super::data::DataOf;
use super::error::{Down, KillError};
use super::post::{Mail, Order, State};
use crate::lock::sync::threads::MutexGuard;
use crate::message::{ClusterError, NodeId, Phase, Protocol};

/// How long to sleep before looking again.
const NAP: Duration = Duration::from_micros(200);

impl<P, T> Cluster<P, T>
where
    P: Protocol<Message: Send> + Send + 'static,
    T: 'static,
    DataOf<P, T>: Send + Sync,
{
    /// Stops a node for good, as if its machine were switched off. What need not fall goes on: the
    /// users of nodes that [can do without it](Protocol::goes_on_without) are served as before.
    /// Those of the others are told when they ask. If one of these waits already, or the user of
    /// the node is inside, nobody may ever be served again: then the whole cluster is down.
    ///
    /// ```
    /// use exclusion::message::actor::{Cluster, Down};
    /// use exclusion::message::{CentralCoordinator, NodeId};
    ///
    /// let cluster = Cluster::start(CentralCoordinator::cluster(3)?, 0)?;
    /// let [mut one, mut other] = [cluster.handle(NodeId(1))?, cluster.handle(NodeId(2))?];
    /// cluster.stop_node(NodeId(2))?;
    /// *one.lock()? += 1;
    /// assert_eq!(other.lock().unwrap_err(), Down::Stopped(NodeId(2)));
    /// // Nobody can do without the coordinator.
    /// cluster.stop_node(NodeId(0))?;
    /// assert_eq!(one.lock().unwrap_err(), Down::Stopped(NodeId(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such node.
    pub fn stop_node(&self, node: NodeId) -> Result<(), ClusterError> {
        ClusterError::check_node(node, self.nodes())?;
        let why = Down::Stopped(node);
        if self.shared.strand(node, &why) {
            self.order_crash(node);
        } else {
            self.shared.bring_down(&why);
        }
        Ok(())
    }

    /// Kills a node: what comes to it is lost, and its user is told. The others are told that it is
    /// down, and go on as far as their algorithm can: one that
    /// [recovers](crate::message::Recovering) does. Users of another may wait for ever; let them
    /// [give up](super::Handle::lock_timeout). Nothing happens if it is down.
    ///
    /// # Errors
    /// If there is no such node; or if its user is inside. What it holds cannot be taken from it,
    /// so it must leave first.
    pub fn kill_node(&self, node: NodeId) -> Result<(), KillError> {
        ClusterError::check_node(node, self.nodes()).map_err(KillError::Cluster)?;
        let mut posts = self.shared.posts_of(node);
        if posts.iter().any(|state| state.user == Phase::Inside) {
            return Err(KillError::Inside(node));
        }
        for state in &mut posts {
            state.bury(&Down::Stopped(node));
        }
        drop(posts);
        self.order_crash(node);
        Ok(())
    }

    /// Brings back a node that was killed. It is told that it was down, and the others that it is
    /// up. It keeps what it would have on a disk: its whole state. Only a protocol that recovers
    /// makes sense of that. Nothing happens if it is not down.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn restart_node(&self, node: NodeId) -> Result<(), ClusterError> {
        self.order(node, Order::Recover)?;
        while self.shared.reach.is_down(node) && self.shared.check().is_ok() {
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    /// Lets a node stand still: messages, timers and notices wait. Its user may still ask and
    /// leave, but hears nothing.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn pause_node(&self, node: NodeId) -> Result<(), ClusterError> {
        self.order(node, Order::Pause)
    }

    /// Lets a node go on, with all that has come to it.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn resume_node(&self, node: NodeId) -> Result<(), ClusterError> {
        self.order(node, Order::Resume)
    }

    fn order(&self, node: NodeId, order: Order) -> Result<(), ClusterError> {
        ClusterError::check_node(node, self.nodes())?;
        let _ = self.shared.inboxes[node.index()].send(Mail::Order(order));
        Ok(())
    }

    /// The node's thread is told, and has obeyed when this returns. Its user wakes.
    fn order_crash(&self, node: NodeId) {
        let _ = self.shared.inboxes[node.index()].send(Mail::Order(Order::Crash));
        for resource in &self.shared.resources {
            resource.posts[node.index()].tell_user_of_elsewhere();
        }
        while !self.shared.reach.is_down(node) && self.shared.check().is_ok() {
            std::thread::sleep(NAP);
        }
    }
}

impl<P: Protocol, T> Shared<P, T> {
    /// The states of a node, for each resource. A node that has panicked has none: the cluster is
    /// down then.
    fn posts_of(&self, node: NodeId) -> Vec<MutexGuard<'_, State<P>>> {
        self.resources.iter().filter_map(|it| it.posts[node.index()].state().ok()).collect()
    }

    /// Tells the users of those nodes that cannot do without the dead one, if the others can go on.
    /// Says whether they can.
    fn strand(&self, dead: NodeId, why: &Down) -> bool {
        // All are locked, in the same order as by everybody, so that nobody asks meanwhile.
        let mut clusters: Vec<Vec<_>> = self
            .resources
            .iter()
            .map(|it| it.posts.iter().filter_map(|post| post.state().ok()).collect())
            .collect();
        if clusters.iter().any(|states| states.len() < self.inboxes.len()) {
            return false;
        }
        for states in &mut clusters {
            let others = dead.others(states.len()).filter(|it| states[it.index()].fate.is_none());
            let others: Vec<_> = others.collect();
            let goes_on =
                |it: &NodeId| states[it.index()].node.goes_on_without(&states[dead.index()].node);
            let (well, stranded): (Vec<_>, Vec<_>) = others.into_iter().partition(goes_on);
            let waits = |it: &NodeId| states[it.index()].user == Phase::Waiting;
            let inside = states[dead.index()].user == Phase::Inside;
            if inside || well.is_empty() || stranded.iter().any(waits) {
                return false;
            }
            for node in stranded {
                states[node.index()].fate = Some(why.clone());
            }
        }
        for states in &mut clusters {
            states[dead.index()].bury(why);
        }
        true
    }
}

impl<P: Protocol> State<P> {
    /// The node is down, and its user is told why it is not served.
    fn bury(&mut self, why: &Down) {
        self.user = Phase::Idle;
        self.gave_up = false;
        self.gone = true;
        self.fate = Some(why.clone());
    }
}
