//! Clusters of actors to test.

use exclusion::message::Protocol;
use exclusion::message::actor::{Cluster, DataOf, Handle};

/// A cluster around a number.
pub fn cluster<P>(nodes: Vec<P>) -> Cluster<P, u64>
where
    P: Protocol<Message: Send> + Send + 'static,
    DataOf<P, u64>: Send + Sync,
{
    Cluster::start(nodes, 0).expect("it starts")
}

/// Its first two handles.
pub fn pair<P>(cluster: &Cluster<P, u64>) -> [Handle<P, u64>; 2]
where
    P: Protocol<Message: Send> + Send + 'static,
    DataOf<P, u64>: Send + Sync,
{
    let mut handles = cluster.handles().into_iter();
    [(); 2].map(|()| handles.next().expect("two nodes"))
}
