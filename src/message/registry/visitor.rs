//! What can be done with a cluster, whatever its algorithm.

use super::{Algorithm, ElectionAlgorithm};
use crate::message::actor::DataOf;
use crate::message::{Claims, Election};

/// What every algorithm of the registry can do: run under every runner, and travel if the feature
/// `serde` is on.
pub trait Shipped: Claims<Message: Portable + Send + Sync> + Portable + Send + Sync {}

impl<P: Claims<Message: Portable + Send + Sync> + Portable + Send + Sync> Shipped for P {}

/// Can be written to bytes and read again, if the feature `serde` is on.
#[cfg(feature = "serde")]
pub trait Portable: serde::Serialize + serde::de::DeserializeOwned + 'static {}

#[cfg(feature = "serde")]
impl<T: serde::Serialize + serde::de::DeserializeOwned + 'static> Portable for T {}

/// Can be written to bytes and read again, if the feature `serde` is on.
#[cfg(not(feature = "serde"))]
pub trait Portable: 'static {}

#[cfg(not(feature = "serde"))]
impl<T: 'static> Portable for T {}

/// Does something with a cluster, whatever its algorithm.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output
    where
        DataOf<P, ()>: Send + Sync;
}

/// What every election of the registry can do: run under every runner, and travel if the feature
/// `serde` is on.
pub trait ShippedElection:
    Election<Message: Portable + Send + Sync> + Portable + Send + Sync
{
}

impl<E: Election<Message: Portable + Send + Sync> + Portable + Send + Sync> ShippedElection for E {}

/// The same for elections.
pub trait ElectionVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<E: ShippedElection>(
        self,
        algorithm: &'static ElectionAlgorithm,
        cluster: Vec<E>,
    ) -> Self::Output;
}
