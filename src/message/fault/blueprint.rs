//! How to build a lock anew over the nodes that are left.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::message::actor::DataOf;
use crate::message::registry::{Algorithm, RegistryError, Shipped, Size, Visitor};
use crate::message::{NodeId, Protocol};

/// How to build a node of a lock, for any number of nodes from two.
pub trait Blueprint: Clone + Eq + Hash + fmt::Debug {
    /// The lock.
    type Lock: Protocol;

    /// One node of a cluster. All nodes must build from the same blueprint.
    ///
    /// # Panics
    /// If there is no such node, or fewer than two.
    fn build(&self, me: NodeId, nodes: usize) -> Self::Lock;

    /// How many may be inside at a time, among all nodes. Among fewer nodes it may be fewer.
    fn entries_at_a_time(&self) -> usize {
        1
    }
}

/// A lock of the [registry](crate::message::registry). An arrangement that does not exist for the
/// number of nodes falls back: a plane or a triangle to a grid.
pub struct FromRegistry<P> {
    algorithm: &'static Algorithm,
    /// How many may be inside at a time, where several may.
    entries: Option<usize>,
    lock: PhantomData<fn() -> P>,
}

impl<P: Shipped> FromRegistry<P> {
    /// The algorithm of which this is a cluster.
    ///
    /// # Panics
    /// If it is none of that algorithm, or empty.
    pub fn of(algorithm: &'static Algorithm, cluster: &[P]) -> Self {
        let entries = algorithm.several_entries.then(|| cluster[0].entries_at_a_time());
        let blueprint = Self { algorithm, entries, lock: PhantomData };
        let built = blueprint.cluster(cluster.len());
        assert!(built.is_ok_and(|it| it.is_some()), "{algorithm} is another type");
        blueprint
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// A cluster of the algorithm. None if it is of another type.
    fn cluster(&self, nodes: usize) -> Result<Option<Vec<P>>, RegistryError> {
        let entries = self.entries.map(|entries| entries.min(nodes - 1));
        self.algorithm.build(Size { nodes, entries }, OfType(PhantomData))
    }
}

impl<P: Shipped> Blueprint for FromRegistry<P> {
    type Lock = P;

    fn build(&self, me: NodeId, nodes: usize) -> P {
        let built = self.cluster(nodes).or_else(|_| {
            let grid = Algorithm::named("maekawa")?;
            grid.build(Size::of(nodes), OfType(PhantomData))
        });
        let mut cluster = built
            .ok()
            .flatten()
            .unwrap_or_else(|| panic!("{} cannot be for {nodes} nodes", self.algorithm));
        cluster.swap_remove(me.index())
    }

    fn entries_at_a_time(&self) -> usize {
        self.entries.unwrap_or(1)
    }
}

/// Takes a cluster that is known to be of a type.
struct OfType<P>(PhantomData<P>);

impl<P: Shipped> Visitor for OfType<P> {
    type Output = Option<Vec<P>>;

    fn visit<Q: Shipped>(self, _: &'static Algorithm, cluster: Vec<Q>) -> Option<Vec<P>>
    where
        DataOf<Q, ()>: Send + Sync,
    {
        let cluster: Box<dyn Any> = Box::new(cluster);
        cluster.downcast().ok().map(|cluster| *cluster)
    }
}

impl<P> Clone for FromRegistry<P> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<P> PartialEq for FromRegistry<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.algorithm.name, self.entries) == (other.algorithm.name, other.entries)
    }
}

impl<P> Eq for FromRegistry<P> {}

impl<P> Hash for FromRegistry<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.algorithm.name, self.entries).hash(state);
    }
}

impl<P> fmt::Debug for FromRegistry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FromRegistry").field(&self.algorithm.name).field(&self.entries).finish()
    }
}

#[cfg(feature = "serde")]
mod travel {
    use std::marker::PhantomData;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::FromRegistry;
    use crate::message::registry::Algorithm;

    /// By its name.
    impl<P> Serialize for FromRegistry<P> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            (self.algorithm.name, self.entries).serialize(serializer)
        }
    }

    impl<'de, P> Deserialize<'de> for FromRegistry<P> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let (name, entries) = <(String, Option<usize>)>::deserialize(deserializer)?;
            let algorithm = Algorithm::named(&name).map_err(D::Error::custom)?;
            Ok(Self { algorithm, entries, lock: PhantomData })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::registry::ALGORITHMS;
    use crate::message::{Maekawa, Quorums};

    struct EverySize;

    impl Visitor for EverySize {
        type Output = ();

        fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
            let blueprint = FromRegistry::of(algorithm, &cluster);
            for nodes in 2..=cluster.len() {
                for me in NodeId::all(nodes) {
                    let node = blueprint.build(me, nodes);
                    assert_eq!((node.id(), node.nodes()), (me, nodes), "{algorithm}");
                    assert!(node.entries_at_a_time() <= blueprint.entries_at_a_time());
                }
            }
        }
    }

    #[test]
    fn every_algorithm_can_be_built_over_any_number_of_survivors() {
        for algorithm in ALGORITHMS {
            algorithm.build(Size::of(algorithm.nodes_to_show), EverySize).expect("it is shown so");
        }
    }

    #[test]
    fn a_plane_falls_back_to_a_grid() {
        let plane = Algorithm::named("maekawa_plane").expect("there is one");
        let cluster = Maekawa::cluster(&Quorums::projective_plane_of(7).expect("the Fano plane"));
        let blueprint = FromRegistry::of(plane, &cluster);
        let grid = Maekawa::cluster(&Quorums::grid(6).expect("six are enough"));
        assert_eq!(blueprint.build(NodeId(4), 6), grid[4]);
        assert_eq!(blueprint.build(NodeId(4), 7), cluster[4]);
    }
}
