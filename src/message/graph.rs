//! Connected graphs: who is whose neighbour, both ways.
//!
//! A [`Topology`](super::Topology) says along which lines a lock's messages are relayed: a ring, or
//! a tree. A graph may have any number of ways between two nodes. Relaying along it would bring a
//! message twice, so only algorithms that are made for it run on it: the echo algorithm, and
//! elections that use it.

use std::collections::HashSet;
use std::fmt;

use super::random::Random;
use super::{ClusterError, NodeId};

/// A connected graph over the nodes of a cluster. Each edge can be used both ways.
///
/// ```
/// use exclusion::message::{Graph, NodeId};
///
/// let grid = Graph::grid(2, 3)?;
/// assert_eq!(grid.neighbours(NodeId(1)), [0, 2, 4].map(NodeId));
/// assert_eq!((grid.nodes(), grid.edges()), (6, 7));
///
/// let torn = Graph::from_edges(4, &[(NodeId(0), NodeId(1)), (NodeId(2), NodeId(3))]);
/// assert_eq!(
///     torn.unwrap_err().to_string(),
///     "the graph is in parts: no way leads from n0 to n2: join them by an edge"
/// );
/// # Ok::<(), exclusion::message::ClusterError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Graph {
    name: String,
    /// Each node's neighbours, in order.
    neighbours: Vec<Vec<NodeId>>,
    edges: usize,
}

impl Graph {
    /// Everybody is everybody's neighbour.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn complete(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        Self::new("complete".to_owned(), nodes, NodeId::pairs(nodes))
    }

    /// A ring that can be walked both ways.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn ring(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        let last = (nodes > 2).then(|| (NodeId(0), NodeId::at(nodes - 1)));
        Self::new("ring".to_owned(), nodes, row(nodes).chain(last))
    }

    /// A row of nodes.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn line(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        Self::new("line".to_owned(), nodes, row(nodes))
    }

    /// Node 0 in the middle of all others.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn star(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        let rays = (1..nodes).map(|node| (NodeId(0), NodeId::at(node)));
        Self::new("star".to_owned(), nodes, rays)
    }

    /// A balanced tree with `arity` children a node, filled row by row from node 0.
    ///
    /// # Errors
    /// Fewer than two nodes, or no children.
    pub fn tree(nodes: usize, arity: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        if arity == 0 {
            return Err(ClusterError::NotAGraph(
                "nodes without children: take an arity of 1 or more",
            ));
        }
        let edges = (1..nodes).map(|node| (NodeId::at((node - 1) / arity), NodeId::at(node)));
        Self::new("tree".to_owned(), nodes, edges)
    }

    /// Rows and columns; a node's neighbours are beside, above and below it.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn grid(rows: usize, columns: usize) -> Result<Self, ClusterError> {
        let nodes = ClusterError::check_size(rows.saturating_mul(columns))?;
        let beside = NodeId::all(nodes)
            .filter(|node| node.index() % columns + 1 < columns)
            .map(|node| (node, NodeId(node.0 + 1)));
        let below =
            NodeId::all(nodes - columns).map(|node| (node, NodeId::at(node.index() + columns)));
        Self::new(format!("grid {rows}x{columns}"), nodes, beside.chain(below))
    }

    /// The corners of a cube of any dimension: neighbours differ in one bit of their numbers.
    ///
    /// # Errors
    /// Fewer than two nodes, or a number that is no power of two.
    pub fn hypercube(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        if !nodes.is_power_of_two() {
            return Err(ClusterError::NotACube { nodes, below: nodes.next_power_of_two() / 2 });
        }
        let bits = nodes.trailing_zeros();
        let corners = NodeId::all(nodes).flat_map(move |node| {
            let up = (0..bits).map(move |bit| NodeId(node.0 | 1 << bit));
            up.filter(move |&other| other != node).map(move |other| (node, other))
        });
        Self::new("hypercube".to_owned(), nodes, corners)
    }

    /// So many edges at random, from a seed: first a tree, so that it is connected, then the
    /// others.
    ///
    /// # Errors
    /// Fewer than two nodes; fewer edges than a tree has, or more than there are pairs.
    pub fn random(nodes: usize, edges: usize, seed: u64) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        let (least, most) = (nodes - 1, nodes * (nodes - 1) / 2);
        if !(least..=most).contains(&edges) {
            return Err(ClusterError::Edges { edges, nodes, least, most });
        }
        let name = format!("random with {edges} edges from seed {seed}");
        let mut random = Random::new(seed);
        let mut chosen = HashSet::new();
        let mut listed = Vec::with_capacity(edges);
        for node in 1..nodes {
            let edge = (NodeId::at(random.below(node)), NodeId::at(node));
            chosen.insert(edge);
            listed.push(edge);
        }
        while listed.len() < edges {
            let (one, other) = (random.below(nodes), random.below(nodes));
            let edge = (NodeId::at(one.min(other)), NodeId::at(one.max(other)));
            if one != other && chosen.insert(edge) {
                listed.push(edge);
            }
        }
        Self::new(name, nodes, listed)
    }

    /// The graph with these edges.
    ///
    /// # Errors
    /// If it is not connected, has an edge twice or from a node to itself, or names a node that is
    /// not there.
    pub fn from_edges(nodes: usize, edges: &[(NodeId, NodeId)]) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        Self::new("given".to_owned(), nodes, edges.iter().copied())
    }

    fn new(
        name: String,
        nodes: usize,
        edges: impl IntoIterator<Item = (NodeId, NodeId)>,
    ) -> Result<Self, ClusterError> {
        let mut neighbours = vec![Vec::new(); nodes];
        for (one, other) in edges {
            ClusterError::check_node(one, nodes)?;
            ClusterError::check_node(other, nodes)?;
            if one == other {
                return Err(ClusterError::Loop(one));
            }
            neighbours[one.index()].push(other);
            neighbours[other.index()].push(one);
        }
        for (node, list) in NodeId::all(nodes).zip(&mut neighbours) {
            list.sort_unstable();
            if let Some(pair) = list.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(ClusterError::DoubleEdge(node, pair[0]));
            }
        }
        let edges = neighbours.iter().map(Vec::len).sum::<usize>() / 2;
        let graph = Self { name, neighbours, edges };
        match graph.unreachable() {
            Some(node) => Err(ClusterError::NotConnected(node)),
            None => Ok(graph),
        }
    }

    /// The first node that cannot be reached from node 0.
    fn unreachable(&self) -> Option<NodeId> {
        let mut reached = vec![false; self.nodes()];
        reached[0] = true;
        let mut to_visit = vec![NodeId(0)];
        while let Some(node) = to_visit.pop() {
            for &next in self.neighbours(node) {
                if !std::mem::replace(&mut reached[next.index()], true) {
                    to_visit.push(next);
                }
            }
        }
        reached.iter().position(|reached| !reached).map(NodeId::at)
    }

    /// What it is called: its shape, and how large it is where its nodes do not tell.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.neighbours.len()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// The neighbours of a node, in order.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.neighbours[node.index()]
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The edges of a row of nodes.
fn row(nodes: usize) -> impl Iterator<Item = (NodeId, NodeId)> {
    NodeId::all(nodes).zip(NodeId::all(nodes).skip(1))
}

/// Whether these parents are a tree over all nodes whose edges lead to the root, and the root's way
/// is nowhere.
///
/// # Errors
/// What is wrong with them.
pub(super) fn check_spanning(parents: &[Option<NodeId>], root: NodeId) -> Result<(), &'static str> {
    const UNKNOWN: u8 = 0;
    const ON_THE_WAY: u8 = 1;
    const LEADS_THERE: u8 = 2;
    let mut known = vec![UNKNOWN; parents.len()];
    if parents[root.index()].is_some() {
        return Err("the root has a parent");
    }
    known[root.index()] = LEADS_THERE;
    let mut way = Vec::new();
    for start in 0..parents.len() {
        let mut here = start;
        while known[here] == UNKNOWN {
            known[here] = ON_THE_WAY;
            way.push(here);
            here = parents[here].ok_or("a node has no parent, and is not the root")?.index();
        }
        if known[here] == ON_THE_WAY {
            return Err("a way goes round in a circle");
        }
        way.drain(..).for_each(|node| known[node] = LEADS_THERE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_has_its_edges() {
        for n in [2, 3, 4, 8, 16, 33] {
            assert_eq!(Graph::complete(n).unwrap().edges(), n * (n - 1) / 2);
            assert_eq!(Graph::ring(n).unwrap().edges(), if n == 2 { 1 } else { n });
            assert_eq!(Graph::line(n).unwrap().edges(), n - 1);
            assert_eq!(Graph::star(n).unwrap().edges(), n - 1);
            assert_eq!(Graph::tree(n, 2).unwrap().edges(), n - 1);
            assert_eq!(Graph::random(n, n * (n - 1) / 2, 7).unwrap().edges(), n * (n - 1) / 2);
            if n.is_power_of_two() {
                let dimension = n.trailing_zeros() as usize;
                assert_eq!(Graph::hypercube(n).unwrap().edges(), n * dimension / 2);
            }
        }
        let grid = Graph::grid(3, 5).unwrap();
        assert_eq!((grid.edges(), grid.name()), (3 * 4 + 2 * 5, "grid 3x5"));
        assert_eq!(grid.neighbours(NodeId(7)), [2, 6, 8, 12].map(NodeId));
        assert_eq!(Graph::hypercube(8).unwrap().neighbours(NodeId(5)), [1, 4, 7].map(NodeId));
    }

    #[test]
    fn neighbours_are_mutual_and_the_seed_is_all_that_chance_has() {
        let graph = Graph::random(50, 120, 3).unwrap();
        for node in NodeId::all(50) {
            let mut neighbours = graph.neighbours(node).iter();
            assert!(neighbours.all(|&other| graph.neighbours(other).contains(&node)));
        }
        assert_eq!(graph, Graph::random(50, 120, 3).unwrap());
        assert_ne!(graph.neighbours, Graph::random(50, 120, 4).unwrap().neighbours);
    }

    #[test]
    fn what_is_no_connected_graph_is_refused_with_what_to_do() {
        let edge = |a, b| (NodeId(a), NodeId(b));
        let given = |n, edges: &[_]| Graph::from_edges(n, edges).unwrap_err().to_string();
        assert!(
            given(3, &[edge(0, 1)]).ends_with("no way leads from n0 to n2: join them by an edge")
        );
        assert_eq!(
            given(2, &[edge(1, 1)]),
            "the edges are no graph: one leads from n1 to itself: leave it out"
        );
        assert_eq!(
            given(3, &[edge(0, 1), edge(2, 1), edge(1, 2)]),
            "the edges are no graph: n1 and n2 are joined twice: name that edge once"
        );
        assert!(given(2, &[edge(0, 5)]).contains("there is no n5: the nodes are n0 to n1"));
        assert_eq!(
            Graph::hypercube(6).unwrap_err().to_string(),
            "6 nodes are no hypercube: take 4 or 8"
        );
        let random = |edges| Graph::random(5, edges, 1).unwrap_err().to_string();
        assert_eq!(random(3), "3 edges are no connected graph of 5 nodes: take 4 to 10");
        assert!(random(11).ends_with("take 4 to 10"));
        assert_eq!(Graph::ring(1).unwrap_err(), ClusterError::TooFewNodes(1));
        assert_eq!(Graph::grid(0, 9).unwrap_err(), ClusterError::TooFewNodes(0));
        assert!(Graph::tree(4, 0).unwrap_err().to_string().contains("arity"));
    }

    #[test]
    fn parents_span_a_graph_only_if_each_way_leads_to_the_root() {
        let parents = |numbers: [i32; 4]| numbers.map(|it| u32::try_from(it).ok().map(NodeId));
        let check = |numbers| check_spanning(&parents(numbers), NodeId(2));
        assert_eq!(check([1, 2, -1, 0]), Ok(()));
        assert_eq!(check([1, 0, -1, 2]), Err("a way goes round in a circle"));
        assert_eq!(check([-1, 2, -1, 0]), Err("a node has no parent, and is not the root"));
        assert_eq!(check([1, 2, 3, 2]), Err("the root has a parent"));
    }
}
