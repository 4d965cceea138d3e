//! Clusters of actors to test.

use exclusion::message::Protocol;
use exclusion::message::actor::{Cluster, Handle};

/// A cluster around a number.
pub fn cluster<P: Protocol<Message: Send> + Send + 'static>(nodes: Vec<P>) -> Cluster<P, u64> {
    Cluster::start(nodes, 0).expect("it starts")
}

/// Its first two handles.
pub fn pair<P: Protocol<Message: Send> + Send + 'static>(
    cluster: &Cluster<P, u64>,
) -> [Handle<P, u64>; 2] {
    let mut handles = cluster.handles().into_iter();
    [(); 2].map(|()| handles.next().expect("two nodes"))
}
