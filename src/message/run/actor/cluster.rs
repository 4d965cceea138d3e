//! The nodes of a cluster, and the threads that run them.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use scopeguard::ScopeGuard;

use super::data::{DataOf, Guarded};
use super::error::{Down, HandleError, IsDown, StartError};
use super::handle::Handle;
use super::post::{Mail, Post, Wires};
use super::reach::{Reach, Weather};
use super::record::Record;
use super::serve::serve;
use crate::lock::sync::threads::{Arc, JoinHandle, Mutex, Receiver, Sender, channel, spawn};
use crate::message::{Channels, ClusterError, Input, NodeId, Protocol, Trace, Traffic};

/// A cluster of nodes that run as threads. See the [module](super).
///
/// Dropping it shuts it down.
pub struct Cluster<P: Protocol, T> {
    pub(super) shared: Arc<Shared<P, T>>,
    threads: Vec<JoinHandle<()>>,
}

pub(super) struct Shared<P: Protocol, T> {
    pub(super) resources: Vec<Resource<P, T>>,
    pub(super) inboxes: Vec<Sender<Mail<P::Message>>>,
    /// The receiving ends. Each is locked by its node while that runs. They live here, so that
    /// sending never fails.
    pub(super) receivers: Vec<Mutex<Receiver<Mail<P::Message>>>>,
    pub(super) period: Duration,
    /// The seed from which messages are shuffled, if they are.
    pub(super) shuffle: Option<u64>,
    /// How messages are lost and doubled, if they are.
    pub(super) weather: Option<Weather>,
    /// Which nodes are down or cut off, where that is no reason for the others to stop.
    pub(super) reach: Reach,
    /// Why nobody is let in any more. The first reason stays.
    down: Mutex<Option<Down>>,
}

pub(super) struct Resource<P: Protocol, T> {
    name: String,
    pub(super) posts: Vec<Post<P>>,
    /// How many users are inside, counted by themselves: a check on the protocol.
    pub(super) inside: AtomicUsize,
    /// Where its steps are written down, if they are.
    pub(super) record: Option<Record>,
    /// Never contended: the protocol decides who gets it.
    pub(super) data: DataOf<P, T>,
}

impl<P: Protocol, T> Shared<P, T> {
    pub(super) fn wires(&self, resource: usize, me: NodeId) -> Wires<'_, P::Message> {
        let record = self.resources[resource].record.as_ref();
        let (inboxes, reach, period) = (&self.inboxes[..], &self.reach, self.period);
        Wires { me, resource, inboxes, reach, period, record }
    }

    pub(super) fn post(&self, resource: usize, node: NodeId) -> &Post<P> {
        &self.resources[resource].posts[node.index()]
    }

    /// Gives a node an input, and wakes its user if that lets it in. If the input is a message,
    /// `number` is that of the message.
    #[inline]
    pub(super) fn step(
        &self,
        resource: usize,
        me: NodeId,
        input: Input<P::Message>,
        number: u64,
    ) -> Result<(), IsDown> {
        let post = self.post(resource, me);
        let wires = self.wires(resource, me);
        let give = || {
            let mut state = post.state()?;
            // What comes to a node that is down is lost.
            if state.gone { Ok(false) } else { state.step(input, number, &wires) }
        };
        match self.watched(me, give) {
            Ok(true) => post.tell_user(),
            Ok(false) => {}
            Err(_) => return Err(IsDown),
        }
        Ok(())
    }

    /// Runs a node's own code, on whichever thread. If it fails or panics, the cluster is down.
    #[inline]
    pub(super) fn watched<R>(
        &self,
        me: NodeId,
        run: impl FnOnce() -> Result<R, Down>,
    ) -> Result<R, Down> {
        let watch = scopeguard::guard((), |()| self.bring_down(&Down::Panicked(me)));
        let result = run();
        ScopeGuard::into_inner(watch);
        if let Err(why) = &result {
            self.bring_down(why);
        }
        result
    }

    /// Nobody is let in from now on. Wakes all waiting users, and stops all nodes.
    #[cold]
    pub(super) fn bring_down(&self, why: &Down) {
        {
            let mut down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
            if down.is_some() {
                return;
            }
            *down = Some(why.clone());
        }
        for post in self.resources.iter().flat_map(|resource| &resource.posts) {
            post.tell_user_of_elsewhere();
        }
        for inbox in &self.inboxes {
            let _ = inbox.send(Mail::Stop);
        }
    }

    /// Whether somebody may still be let in.
    pub(super) fn check(&self) -> Result<(), Down> {
        match &*self.down.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(down) => Err(down.clone()),
            None => Ok(()),
        }
    }
}

impl<P, T> Cluster<P, T>
where
    P: Protocol<Message: Send> + Send + 'static,
    T: 'static,
    DataOf<P, T>: Send + Sync,
{
    /// Starts a cluster with one resource.
    ///
    /// # Errors
    /// Fewer than two nodes, or no threads for them.
    pub fn start(nodes: Vec<P>, data: T) -> Result<Self, StartError> {
        Self::builder().resource("resource", nodes, data).start()
    }

    /// A cluster with several resources, or with other settings.
    ///
    /// ```
    /// use exclusion::message::actor::Cluster;
    /// use exclusion::message::{NodeId, CentralCoordinator};
    ///
    /// let cluster = Cluster::builder()
    ///     .resource("printer", CentralCoordinator::coordinated_by(NodeId(0), 3)?, "a page")
    ///     .resource("scanner", CentralCoordinator::coordinated_by(NodeId(1), 3)?, "a photo")
    ///     .start()?;
    /// let mut printer = cluster.handle_for("printer", NodeId(2))?;
    /// let mut scanner = cluster.handle_for("scanner", NodeId(2))?;
    /// assert_eq!((*printer.lock()?, *scanner.lock()?), ("a page", "a photo"));
    ///
    /// let error = cluster.handle_for("plotter", NodeId(2)).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no resource is called 'plotter'; there are: printer, scanner"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<P, T> {
        Builder {
            resources: Vec::new(),
            period: Builder::<P, T>::PERIOD,
            shuffle: None,
            weather: None,
            traced: false,
        }
    }

    /// The handles of the first resource that nobody has taken.
    pub fn handles(&self) -> Vec<Handle<P, T>> {
        let nodes = NodeId::all(self.nodes());
        nodes.filter_map(|node| self.take(0, node).ok()).collect()
    }

    /// The handle of a node, for the first resource.
    ///
    /// # Errors
    /// If there is no such node, or the handle is taken.
    pub fn handle(&self, node: NodeId) -> Result<Handle<P, T>, HandleError> {
        self.take(0, node)
    }

    /// The handle of a node, for a resource.
    ///
    /// # Errors
    /// If there is no such resource or node, or the handle is taken.
    pub fn handle_for(&self, resource: &str, node: NodeId) -> Result<Handle<P, T>, HandleError> {
        self.take(self.find(resource)?, node)
    }

    fn take(&self, resource: usize, node: NodeId) -> Result<Handle<P, T>, HandleError> {
        ClusterError::check_node(node, self.nodes()).map_err(HandleError::UnknownNode)?;
        if self.shared.post(resource, node).set_taken(true) {
            return Err(HandleError::Taken(node));
        }
        Ok(Handle::new(self.shared.clone(), resource, node))
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.shared.inboxes.len()
    }

    /// The messages sent so far, for all resources.
    pub fn messages(&self) -> Traffic {
        let mut traffic = Traffic::default();
        for resource in 0..self.shared.resources.len() {
            traffic.merge(&self.sent_for(resource));
        }
        traffic
    }

    /// The messages sent so far for one resource.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn messages_of(&self, resource: &str) -> Result<Traffic, HandleError> {
        Ok(self.sent_for(self.find(resource)?))
    }

    /// Stops all nodes and waits for their threads. A user that waits to be let in is told so; one
    /// that is inside may stay and use the data. What the cluster guarded comes back, if all
    /// handles have been dropped before.
    pub fn shutdown(mut self) -> Ended<T> {
        self.stop();
        let messages = self.messages();
        let records = self.shared.resources.iter().filter_map(|it| it.record.as_ref());
        let traces = records.map(Record::trace).collect();
        let down = self.shared.check().expect_err("it has just been stopped");
        let shared = self.shared.clone();
        drop(self);
        let data = Arc::try_unwrap(shared).ok().map(|shared| {
            let cells = shared.resources.into_iter().map(|resource| resource.data);
            cells.map(P::Access::into_inner).collect()
        });
        Ended { messages, traces, down, data }
    }

    fn find(&self, name: &str) -> Result<usize, HandleError> {
        let mut names = self.shared.resources.iter().map(|resource| &resource.name);
        names.clone().position(|known| known == name).ok_or_else(|| HandleError::UnknownResource {
            name: name.to_owned(),
            known: names.by_ref().cloned().collect(),
        })
    }

    fn sent_for(&self, resource: usize) -> Traffic {
        let mut traffic = Traffic::default();
        for post in &self.shared.resources[resource].posts {
            traffic.merge(&post.sent());
        }
        traffic
    }
}

impl<P: Protocol, T> Cluster<P, T> {
    fn stop(&mut self) {
        self.shared.bring_down(&Down::Shutdown);
        for thread in self.threads.drain(..) {
            // A panic has been told to all users.
            let _ = thread.join();
        }
    }
}

impl<P: Protocol, T> fmt::Debug for Cluster<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources: Vec<_> = self.shared.resources.iter().map(|it| &it.name).collect();
        f.debug_struct("Cluster")
            .field("nodes", &self.shared.inboxes.len())
            .field("resources", &resources)
            .finish_non_exhaustive()
    }
}

impl<P: Protocol, T> Drop for Cluster<P, T> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What is left of a cluster that was [shut down](Cluster::shutdown).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ended<T> {
    /// The messages sent, for all resources.
    pub messages: Traffic,
    /// What happened, a trace for each resource, if the cluster was [traced](Builder::traced).
    pub traces: Vec<Trace>,
    /// Why it ended: the first reason. [`Down::Shutdown`] if nothing was wrong before.
    pub down: Down,
    /// What the resources guarded, in the order in which they were added. None if a handle still
    /// existed.
    pub data: Option<Vec<T>>,
}

impl<T> Ended<T> {
    /// What the first resource guarded. None if a handle still existed.
    pub fn into_data(self) -> Option<T> {
        self.data?.into_iter().next()
    }
}

/// A cluster to be started.
#[derive(Debug)]
#[must_use = "call `start`"]
pub struct Builder<P: Protocol, T> {
    resources: Vec<(String, Vec<P>, T)>,
    period: Duration,
    shuffle: Option<u64>,
    weather: Option<Weather>,
    traced: bool,
}

impl<P, T> Builder<P, T>
where
    P: Protocol<Message: Send> + Send + 'static,
    T: 'static,
    DataOf<P, T>: Send + Sync,
{
    /// The period of timers, unless it is set: ten milliseconds.
    pub const PERIOD: Duration = Duration::from_millis(10);

    /// Adds a resource: its name, the nodes that agree about it, and what it guards. All resources
    /// have equally many nodes, and a thread serves the same node of each.
    pub fn resource(mut self, name: impl Into<String>, nodes: Vec<P>, data: T) -> Self {
        self.resources.push((name.into(), nodes, data));
        self
    }

    /// The period of timers, Tmax: longer than any message takes from one node to the next.
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Lets messages overtake each other at random, as channels without order may.
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.shuffle = Some(seed);
        self
    }

    /// Lets messages be lost, and arrive twice, with these probabilities, by a seed. Algorithms do
    /// not stand that by themselves: put a [`Link`](crate::message::Link) under them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use exclusion::message::actor::Cluster;
    /// use exclusion::message::{Link, RicartAgrawala};
    ///
    /// let nodes = Link::over(RicartAgrawala::cluster(3)?);
    /// let builder = Cluster::builder().resource("tally", nodes, 0);
    /// let cluster = builder.period(Duration::from_millis(2)).losing(0.1, 0.1, 7).start()?;
    /// for user in &mut cluster.handles() {
    ///     *user.lock()? += 1;
    /// }
    /// assert_eq!(cluster.shutdown().into_data(), Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn losing(mut self, loss: f64, duplication: f64, seed: u64) -> Self {
        self.weather = Some(Weather { loss, duplication, seed });
        self
    }

    /// Writes down every step, in microseconds since the start. The trace can be drawn, and
    /// [replayed](crate::message::replay).
    ///
    /// ```
    /// use exclusion::message::actor::Cluster;
    /// use exclusion::message::{CentralCoordinator, NodeId, replay};
    ///
    /// let nodes = CentralCoordinator::cluster(2)?;
    /// let cluster = Cluster::builder().resource("log", nodes.clone(), 0).traced().start()?;
    /// *cluster.handle(NodeId(1))?.lock()? += 1;
    /// let trace = cluster.shutdown().traces.remove(0);
    /// assert!(trace.to_string().contains("n1 enters"));
    /// replay(nodes, &trace)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn traced(mut self) -> Self {
        self.traced = true;
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// Fewer than two nodes, nodes in the wrong order, resources of one name or with different
    /// numbers of nodes, shuffling for a protocol that needs order, or no threads.
    pub fn start(self) -> Result<Cluster<P, T>, StartError> {
        let first = self.resources.first().ok_or(StartError::NoResource)?.1.len();
        for (index, (name, nodes, _)) in self.resources.iter().enumerate() {
            if self.resources[..index].iter().any(|(earlier, ..)| earlier == name) {
                return Err(StartError::SameName(name.clone()));
            }
            if nodes.len() != first {
                let (resource, nodes) = (name.clone(), nodes.len());
                return Err(StartError::OtherNodes { resource, nodes, first });
            }
            ClusterError::check_places(nodes).map_err(StartError::Cluster)?;
        }
        if self.shuffle.is_some() && P::CHANNELS == Channels::Fifo {
            return Err(StartError::NeedsOrder);
        }

        let (inboxes, receivers): (Vec<_>, Vec<_>) = (0..first).map(|_| channel()).unzip();
        let resources = self.resources.into_iter().map(|(name, nodes, data)| Resource {
            name,
            posts: nodes.into_iter().map(Post::new).collect(),
            inside: AtomicUsize::new(0),
            record: self.traced.then(Record::new),
            data: P::Access::guard(data),
        });
        let shared = Arc::new(Shared {
            resources: resources.collect(),
            inboxes,
            receivers: receivers.into_iter().map(Mutex::new).collect(),
            period: self.period,
            shuffle: self.shuffle,
            weather: self.weather,
            reach: Reach::new(first),
            down: Mutex::new(None),
        });
        // Before any thread runs and any user asks. If a node fails, everybody is told.
        for resource in 0..shared.resources.len() {
            for me in NodeId::all(first) {
                let _ = shared.step(resource, me, Input::Start, 0);
            }
        }
        // If a thread cannot be had, dropping the cluster stops those that run.
        let mut cluster = Cluster { shared, threads: Vec::with_capacity(first) };
        for me in NodeId::all(first) {
            let thread = cluster.start_node(me).map_err(StartError::Thread)?;
            cluster.threads.push(thread);
        }
        Ok(cluster)
    }
}

impl<P, T> Cluster<P, T>
where
    P: Protocol<Message: Send> + Send + 'static,
    T: 'static,
    DataOf<P, T>: Send + Sync,
{
    fn start_node(&self, me: NodeId) -> std::io::Result<JoinHandle<()>> {
        let shared = self.shared.clone();
        spawn(format!("exclusion {me}"), move || serve(&shared, me))
    }
}
