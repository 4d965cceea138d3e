//! The same for programs without an async runtime.
//!
//! ```no_run
//! use exclusion_net::{Configuration, SecretKey, Settings, blocking::Node};
//!
//! let node = Node::start(Settings {
//!     configuration: Configuration::read("cluster.toml".as_ref())?,
//!     me: 1,
//!     secret: SecretKey::read("1.key".as_ref())?,
//!     data: "data/1".into(),
//! })?;
//! let guard = node.handle("deploy")?.lock()?;
//! println!("inside, with fence {}", guard.fence());
//! drop(guard);
//! node.shutdown();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::{Down, Guard, NoSuchResource, Settings, StartError, Status};

/// A node that runs on threads of its own. None of its methods may be called from async code.
#[derive(Debug)]
pub struct Node {
    node: crate::Node,
    runtime: Arc<Runtime>,
}

impl Node {
    /// Starts a node. See [`Node::start`](crate::Node::start).
    ///
    /// # Errors
    /// As there; or if there can be no threads.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = Arc::new(runtime.map_err(StartError::Listen)?);
        let node = runtime.block_on(crate::Node::start(settings))?;
        Ok(Self { node, runtime })
    }

    /// A handle of a resource.
    ///
    /// # Errors
    /// If the configuration has none of this name.
    pub fn handle(&self, name: &str) -> Result<Handle, NoSuchResource> {
        Ok(Handle { handle: self.node.handle(name)?, runtime: self.runtime.clone() })
    }

    /// How it is.
    ///
    /// # Errors
    /// If it is shut down, or cannot go on.
    pub fn status(&self) -> Result<Status, Down> {
        self.runtime.block_on(self.node.status())
    }

    /// Shuts it down, after the guards that are out. See
    /// [`Node::shutdown`](crate::Node::shutdown).
    pub fn shutdown(self) {
        self.runtime.block_on(self.node.shutdown());
    }
}

/// A resource, as the users of one node see it.
#[derive(Clone, Debug)]
pub struct Handle {
    handle: crate::Handle,
    runtime: Arc<Runtime>,
}

impl Handle {
    /// The same resource, for a user that wants an error while nodes are missing.
    #[must_use]
    pub fn unless_incomplete(&self) -> Self {
        Self { handle: self.handle.unless_incomplete(), runtime: self.runtime.clone() }
    }

    /// Waits until it is inside.
    ///
    /// # Errors
    /// As [`Handle::lock`](crate::Handle::lock).
    pub fn lock(&self) -> Result<Guard, Down> {
        self.runtime.block_on(self.handle.lock())
    }

    /// Waits for so long at most.
    ///
    /// # Errors
    /// As [`Handle::lock_within`](crate::Handle::lock_within).
    pub fn lock_within(&self, limit: Duration) -> Result<Guard, Down> {
        self.runtime.block_on(self.handle.lock_within(limit))
    }

    /// Enters if nobody is inside or waits.
    ///
    /// # Errors
    /// As [`Handle::try_lock`](crate::Handle::try_lock).
    pub fn try_lock(&self) -> Result<Guard, Down> {
        self.runtime.block_on(self.handle.try_lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::tests::cluster;
    use crate::scratch::Folder;

    #[test]
    fn a_program_without_a_runtime_takes_turns_with_another() {
        let folder = Folder::new("blocking");
        let (text, keys) = cluster(2, "suzuki_kasami");
        let bind = |_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let sockets: Vec<_> = (0..2).map(bind).collect();
        let port = |place: usize| sockets[place].local_addr().unwrap().port().to_string();
        let text = text.replace("7101", &port(0)).replace("7102", &port(1));
        drop(sockets);
        let start = |me: u32| {
            let (configuration, secret) = (text.parse().unwrap(), keys[me as usize - 1].clone());
            let data = folder.path().join(me.to_string());
            Node::start(Settings { configuration, me, secret, data }).unwrap()
        };
        let nodes = [start(1), start(2)];
        let limit = Duration::from_secs(60);
        let mut last = None;
        for node in nodes.iter().cycle().take(6) {
            let guard = node.handle("one").unwrap().lock_within(limit).unwrap();
            assert!(Some(guard.fence()) > last, "fences grow");
            last = Some(guard.fence());
        }
        let guard = nodes[0].handle("one").unwrap().lock().unwrap();
        assert_eq!(nodes[1].handle("one").unwrap().try_lock().unwrap_err(), Down::Busy);
        assert!(nodes[0].status().unwrap().epoch.is_some());
        drop(guard);
        let [first, second] = nodes;
        first.shutdown();
        let down = second.handle("one").unwrap().unless_incomplete();
        while let Ok(guard) = down.lock() {
            drop(guard);
        }
        second.shutdown();
    }
}
