//! Quorums: whom a node must ask, so that any two nodes ask somebody in common.
//!
//! | arrangement | nodes | size of a set | a node is in |
//! |---|---|---|---|
//! | [`grid`], Maekawa 1985 | any | 2√n - 1, or just above | its size, if n is a square |
//! | [`triangle`] | t(t+1)/2 | t, about √(2n) | 2t of 2n sets, if it alternates |
//! | [`projective_plane`], Maekawa 1985 | q²+q+1 | q+1, about √n: the least | q+1 |
//! | [`circle`] | 2 or 3 | 2 | 2 |
//! | [`majority`] | any | ⌊n/2⌋ + 1 | ⌊n/2⌋ + 1 |
//! | [`weighted_majority`] | any | more than half of the weight | by weight |
//! | [`new`] | any | yours | yours |
//!
//! [`grid`]: Quorums::grid
//! [`triangle`]: Quorums::triangle
//! [`projective_plane`]: Quorums::projective_plane
//! [`circle`]: Quorums::circle
//! [`majority`]: Quorums::majority
//! [`weighted_majority`]: Quorums::weighted_majority
//! [`new`]: Quorums::new

mod error;
mod field;

use std::iter::{once, successors};
use std::ops::RangeInclusive;

use super::{NodeId, NodeSet};
use field::{Field, prime_of};

pub use error::QuorumError;

/// The quorums of a cluster: for each node one or more, which it uses in turn from request to
/// request.
///
/// 1. Any two sets of different nodes meet: a node that is in both grants to one node at a time.
/// 2. Each set holds its owner.
///
/// ```
/// use exclusion::message::{Quorums, NodeId};
///
/// let sets = Quorums::projective_plane(2)?;
/// assert_eq!(sets.nodes(), 7);
/// assert_eq!(sets.sizes(), 3..=3);
///
/// let [first, second] = [NodeId(0), NodeId(1)].map(|node| &sets.of(node)[0]);
/// assert!(first.meets(second));
/// # Ok::<(), exclusion::message::quorum::QuorumError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Quorums {
    /// A list for each node, never empty.
    lists: Vec<Vec<NodeSet>>,
}

/// Which set a node of a [`triangle`](Quorums::triangle) uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// Its column, and the row just above that column. The upper nodes are asked most.
    Column,
    /// Its row, and the column just right of that row. The lower nodes are asked most.
    Row,
    /// Both in turn: all nodes are asked equally often.
    Alternating,
}

impl Quorums {
    /// The most nodes there may be. A set has a bit for each node: here one set each takes 512 MiB,
    /// two take twice that.
    pub const MOST_NODES: usize = 1 << 16;

    /// The row and the column of a node, in a grid as near to a square as can be.
    ///
    /// The last row may be incomplete, and the sets meet all the same. Take nodes a and b. If a's
    /// row reaches b's column, they meet where it does. If not, a's row is the incomplete one and
    /// ends before b's column; then b is in another row, which is complete, and reaches a's column.
    /// The largest set has ⌈2√n⌉ - 1 nodes.
    ///
    /// ```
    /// use exclusion::message::{Quorums, NodeId};
    ///
    /// // 0 1 2
    /// // 3 4 5
    /// // 6 7
    /// let sets = Quorums::grid(8)?;
    /// assert_eq!(sets.of(NodeId(5))[0].to_string(), "{n2, n3, n4, n5}");
    /// assert_eq!(sets.of(NodeId(7))[0].to_string(), "{n1, n4, n6, n7}");
    /// # Ok::<(), exclusion::message::quorum::QuorumError>(())
    /// ```
    ///
    /// # Errors
    /// With fewer than 2 nodes, or more than [`MOST_NODES`](Self::MOST_NODES).
    pub fn grid(nodes: usize) -> Result<Self, QuorumError> {
        check_size(nodes)?;
        let width = (nodes - 1).isqrt() + 1;
        Ok(Self::one_each(nodes, |node| {
            let column = node % width;
            let row_start = node - column;
            let row = row_start..nodes.min(row_start + width);
            row.chain((column..nodes).step_by(width))
        }))
    }

    /// A row and a column of a triangle, which have one node in common with any other such pair,
    /// and not two as in the grid.
    ///
    /// Number rows and columns from 0, and call column k with row k-1 line k. Node (r, c) is on
    /// lines c and r+1 and on no other. So lines j < k meet in one node, (k-1, j), and each of the
    /// t+1 lines has t nodes. A node uses line c ([`Scheme::Column`]), line r+1 ([`Scheme::Row`]),
    /// or both in turn, which makes each line the set of t nodes.
    ///
    /// ```
    /// use exclusion::message::quorum::{Quorums, Scheme};
    /// use exclusion::message::NodeId;
    ///
    /// // 0
    /// // 1 2
    /// // 3 4 5
    /// let sets = Quorums::triangle(6, Scheme::Alternating)?;
    /// let [column, row] = sets.of(NodeId(2)) else { panic!("two in turn") };
    /// assert_eq!(column.to_string(), "{n0, n2, n4}");
    /// assert_eq!(row.to_string(), "{n1, n2, n5}");
    /// # Ok::<(), exclusion::message::quorum::QuorumError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of nodes is not 3, 6, 10, 15, or another t(t+1)/2 up to
    /// [`MOST_NODES`](Self::MOST_NODES).
    pub fn triangle(nodes: usize, scheme: Scheme) -> Result<Self, QuorumError> {
        check_size(nodes)?;
        let triangular = |rows: usize| rows * (rows + 1) / 2;
        let rows = ((8 * nodes + 1).isqrt() - 1) / 2;
        if triangular(rows) != nodes {
            let nearest = nearest(nodes, (2..).map(triangular));
            return Err(QuorumError::NotTriangular { nodes, nearest });
        }

        let crossing = |one: usize, other: usize| one.min(other) + triangular(one.max(other) - 1);
        let line = |line| {
            let others = (0..=rows).filter(|&other| other != line);
            NodeSet::of(nodes, others.map(|other| NodeId::at(crossing(line, other))))
        };
        let places = (0..rows).flat_map(|row| (0..=row).map(move |column| (row, column)));
        let lists = places.map(|(row, column)| match scheme {
            Scheme::Column => vec![line(column)],
            Scheme::Row => vec![line(row + 1)],
            Scheme::Alternating => vec![line(column), line(row + 1)],
        });
        Ok(Self { lists: lists.collect() })
    }

    /// The lines of a finite projective plane: the smallest sets there can be if all nodes do equal
    /// work.
    ///
    /// Order q gives q²+q+1 nodes and sets of q+1, for each prime power q. As Singer showed in
    /// 1938, the points can be numbered so that all lines are one line, turned: node i's set is
    /// that line with i added, and since 0 is on the line, i is on its own. Order 1 counts as one:
    /// three nodes, and any two of them a line.
    ///
    /// ```
    /// use exclusion::message::Quorums;
    ///
    /// let sets = Quorums::projective_plane(4)?;
    /// assert_eq!((sets.nodes(), sets.sizes()), (21, 5..=5));
    /// assert!(Quorums::projective_plane(6).is_err());
    /// # Ok::<(), exclusion::message::quorum::QuorumError>(())
    /// ```
    ///
    /// # Errors
    /// If the order is neither 1 nor a prime power, or the nodes are more than
    /// [`MOST_NODES`](Self::MOST_NODES).
    pub fn projective_plane(order: usize) -> Result<Self, QuorumError> {
        let nodes = nodes_of_plane(order);
        if nodes > Self::MOST_NODES {
            return Err(QuorumError::TooManyNodes(nodes));
        }
        let line = match (order, Field::of_order(order)) {
            (_, Some(field)) => turning_line(&field),
            (1, None) => vec![0, 1],
            (_, None) => {
                let nearest = nearest(nodes, orders().map(nodes_of_plane)).map(order_of_plane);
                return Err(QuorumError::NoPlane { order, nearest });
            }
        };
        Ok(Self::one_each(nodes, |node| line.iter().map(move |point| (point + node) % nodes)))
    }

    /// The projective plane with so many nodes.
    ///
    /// # Errors
    /// If there is none: with other than 3, 7, 13, 21, 31, 57 or another q²+q+1 nodes, for 1 or a
    /// prime power q, up to [`MOST_NODES`](Self::MOST_NODES).
    pub fn projective_plane_of(nodes: usize) -> Result<Self, QuorumError> {
        check_size(nodes)?;
        let order = order_of_plane(nodes);
        if nodes_of_plane(order) == nodes && is_order(&order) {
            return Self::projective_plane(order);
        }
        let nearest = nearest(nodes, orders().map(nodes_of_plane));
        Err(QuorumError::NotAPlane { nodes, nearest })
    }

    /// Each node with the one that follows it: the smallest sets among three, and where plain
    /// voting deadlocks.
    ///
    /// # Errors
    /// With other than 2 or 3 nodes: pairs of more do not all meet.
    pub fn circle(nodes: usize) -> Result<Self, QuorumError> {
        check_size(nodes)?;
        if nodes > 3 {
            return Err(QuorumError::NotACircle(nodes));
        }
        Ok(Self::one_each(nodes, |node| [node, (node + 1) % nodes].into_iter()))
    }

    /// A node and the ⌊n/2⌋ that follow it, the first after the last.
    ///
    /// # Errors
    /// With fewer than 2 nodes, or more than [`MOST_NODES`](Self::MOST_NODES).
    pub fn majority(nodes: usize) -> Result<Self, QuorumError> {
        check_size(nodes)?;
        Self::weighted_majority(&vec![1; nodes])
    }

    /// A node and those that follow it, the first after the last, until they have more than half of
    /// the weight.
    ///
    /// ```
    /// use exclusion::message::{Quorums, NodeId};
    ///
    /// let sets = Quorums::weighted_majority(&[5, 1, 1, 1])?;
    /// assert_eq!(sets.of(NodeId(0))[0].to_string(), "{n0}");
    /// assert_eq!(sets.of(NodeId(2))[0].to_string(), "{n0, n2, n3}");
    /// # Ok::<(), exclusion::message::quorum::QuorumError>(())
    /// ```
    ///
    /// # Errors
    /// If a node has weight 0, with fewer than 2 nodes, or more than
    /// [`MOST_NODES`](Self::MOST_NODES).
    pub fn weighted_majority(weights: &[u64]) -> Result<Self, QuorumError> {
        let nodes = check_size(weights.len())?;
        if let Some(weightless) = weights.iter().position(|&weight| weight == 0) {
            return Err(QuorumError::ZeroWeight(NodeId::at(weightless)));
        }
        let total: u128 = weights.iter().copied().map(u128::from).sum();
        Ok(Self::one_each(nodes, |node| {
            let mut gathered = 0;
            (node..nodes).chain(0..node).take_while(move |&member| {
                let wanting = 2 * gathered <= total;
                gathered += u128::from(weights[member]);
                wanting
            })
        }))
    }

    /// Your own sets, one for each node in order.
    ///
    /// ```
    /// use exclusion::message::{Quorums, NodeId};
    ///
    /// let circle = [[0, 1], [1, 2], [2, 0]].map(|set| set.map(NodeId));
    /// assert!(Quorums::new(circle).is_ok());
    ///
    /// let pairs = [[0, 1], [0, 1], [2, 3], [2, 3]].map(|set| set.map(NodeId));
    /// let error = Quorums::new(pairs).unwrap_err();
    /// assert!(error.to_string().starts_with("{n0, n1} of n0 and {n2, n3} of n2 do not meet"));
    /// ```
    ///
    /// # Errors
    /// If two sets do not meet, a set is empty, does not hold its owner, or holds a node that there
    /// is not, with fewer than 2 nodes, or more than [`MOST_NODES`](Self::MOST_NODES).
    pub fn new<Members>(sets: impl IntoIterator<Item = Members>) -> Result<Self, QuorumError>
    where
        Members: IntoIterator<Item = NodeId>,
    {
        let sets: Vec<Vec<NodeId>> =
            sets.into_iter().map(|set| set.into_iter().collect()).collect();
        let nodes = check_size(sets.len())?;
        for (owner, set) in NodeId::all(nodes).zip(&sets) {
            if let Some(&node) = set.iter().find(|node| node.index() >= nodes) {
                return Err(QuorumError::UnknownNode { owner, node, nodes });
            }
        }
        let lists = sets.into_iter().map(|set| vec![NodeSet::of(nodes, set)]).collect();
        let sets = Self { lists };
        sets.check()?;
        Ok(sets)
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.lists.len()
    }

    /// The sets of a node: the first for its first request, and so on in turn. Never empty.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn of(&self, node: NodeId) -> &[NodeSet] {
        &self.lists[node.index()]
    }

    /// The size of the smallest set, and of the largest.
    pub fn sizes(&self) -> RangeInclusive<usize> {
        let sizes = self.owned().map(|(_, set)| set.len());
        let (smallest, largest) =
            sizes.fold((usize::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
        smallest..=largest
    }

    /// In how many sets each node is: how much it is asked if all nodes want in equally often.
    ///
    /// ```
    /// use exclusion::message::quorum::{Quorums, Scheme};
    ///
    /// assert_eq!(Quorums::triangle(6, Scheme::Column)?.load(), [5, 4, 3, 3, 2, 1]);
    /// assert_eq!(Quorums::triangle(6, Scheme::Alternating)?.load(), [6; 6]);
    /// # Ok::<(), exclusion::message::quorum::QuorumError>(())
    /// ```
    pub fn load(&self) -> Vec<usize> {
        let mut load = vec![0; self.nodes()];
        for node in self.owned().flat_map(|(_, set)| set.iter()) {
            load[node.index()] += 1;
        }
        load
    }

    /// A single set for each node.
    fn one_each<Members>(nodes: usize, members: impl Fn(usize) -> Members) -> Self
    where
        Members: Iterator<Item = usize>,
    {
        let set = |node| NodeSet::of(nodes, members(node).map(NodeId::at));
        Self { lists: (0..nodes).map(|node| vec![set(node)]).collect() }
    }

    /// Every set, with its owner.
    fn owned(&self) -> impl Iterator<Item = (NodeId, &NodeSet)> + Clone {
        let lists = NodeId::all(self.nodes()).zip(&self.lists);
        lists.flat_map(|(owner, list)| list.iter().map(move |set| (owner, set)))
    }

    /// Whether they keep both laws.
    fn check(&self) -> Result<(), QuorumError> {
        for (owner, set) in self.owned() {
            if set.is_empty() {
                return Err(QuorumError::Empty(owner));
            }
            if !set.contains(owner) {
                return Err(QuorumError::WithoutOwner { owner, set: set.clone() });
            }
        }
        let mut rest = self.owned();
        while let Some((owner, set)) = rest.next() {
            // Two sets of one node always do: both hold it.
            if let Some((other, apart)) = rest.clone().find(|(_, other)| !set.meets(other)) {
                let sets = [set.clone(), apart.clone()];
                return Err(QuorumError::Apart { owners: [owner, other], sets });
            }
        }
        Ok(())
    }
}

/// The number of nodes, if it is one that makes sense and fits in memory.
fn check_size(nodes: usize) -> Result<usize, QuorumError> {
    match nodes {
        0 | 1 => Err(QuorumError::TooFewNodes(nodes)),
        2..=Quorums::MOST_NODES => Ok(nodes),
        _ => Err(QuorumError::TooManyNodes(nodes)),
    }
}

/// Of all sizes that there are, in order, the next below and the next above. Where one of them
/// would be too few or too many, the next two on the other side.
fn nearest(nodes: usize, sizes: impl Iterator<Item = usize>) -> [usize; 2] {
    let sizes: Vec<_> = sizes.take_while(|&size| size <= Quorums::MOST_NODES).collect();
    let above = sizes.partition_point(|&size| size < nodes).clamp(1, sizes.len() - 1);
    [sizes[above - 1], sizes[above]]
}

/// Whether a plane of this order is known.
fn is_order(order: &usize) -> bool {
    *order == 1 || prime_of(*order).is_some()
}

/// The orders of all planes that are known.
fn orders() -> impl Iterator<Item = usize> {
    (1..).filter(is_order)
}

fn nodes_of_plane(order: usize) -> usize {
    order.saturating_add(1).saturating_mul(order).saturating_add(1)
}

/// The order of the plane with so many nodes, or of the largest with fewer.
fn order_of_plane(nodes: usize) -> usize {
    ((4 * nodes - 3).isqrt() - 1) / 2
}

/// A line of the plane over the field, whose other lines are this one with 1, 2, 3 and so on added
/// to its points.
///
/// A point is a triple of the field's elements, not all 0, and its multiples. A triple is a
/// polynomial of degree 2, and x times it, modulo one of degree 3, is again a triple. That takes
/// lines to lines. If it also takes the first point through all points before it comes back, then
/// we number the points as it goes and each step adds 1.
fn turning_line(field: &Field) -> Vec<usize> {
    let order = field.order();
    let pairs = (0..order).flat_map(|a| (0..order).map(move |b| (a, b)));
    // What x³ is. A constant term of 0 would leave x without an inverse, and the first point
    // without a way back.
    let cubes = pairs.flat_map(|(square, linear)| (1..order).map(move |one| [one, linear, square]));
    for [one, linear, square] in cubes {
        let times_x = |&[a, b, c]: &[usize; 3]| {
            let plus = |term, times| field.add(term, field.mul(c, times));
            Some([plus(0, one), plus(a, linear), plus(b, square)])
        };
        // The first point is 1. Its multiples have neither x nor x²; the points of the line have no
        // x².
        let walk =
            successors(times_x(&[1, 0, 0]), times_x).take_while(|point| point[1..] != [0, 0]);
        let points: Vec<_> = once([1, 0, 0]).chain(walk).collect();
        if points.len() == order * order + order + 1 {
            return (0..points.len()).filter(|&at| points[at][2] == 0).collect();
        }
    }
    unreachable!("every finite field has a primitive polynomial of degree 3")
}

#[cfg(test)]
mod tests;
