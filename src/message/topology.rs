//! Topologies: complete, ring, and trees of any shape.

use super::{ClusterError, NodeId};

/// The graph along whose edges messages travel.
///
/// ```
/// use exclusion::message::{NodeId, Topology};
///
/// let tree = Topology::k_ary_tree(7, 2)?;
/// assert_eq!(tree.neighbours(NodeId(1)), [0, 3, 4].map(NodeId));
/// assert_eq!(tree.diameter(), 4);
/// assert_eq!(Topology::ring(5)?.diameter(), 4, "a ring goes one way round");
/// # Ok::<(), exclusion::message::ClusterError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Topology {
    /// Each node reaches each other node.
    Complete(usize),
    /// Each node reaches the next, the last the first. One way.
    Ring(usize),
    /// Along the edges of a tree, both ways.
    Tree(Tree),
}

impl Topology {
    /// Each node reaches each other node.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn complete(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes).map(Self::Complete)
    }

    /// Each node reaches the next, the last the first.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn ring(nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes).map(Self::Ring)
    }

    /// A row: each node between its predecessor and its successor.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn line(nodes: usize) -> Result<Self, ClusterError> {
        Tree::line(nodes).map(Self::Tree)
    }

    /// Node 0 in the middle of all others.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn star(nodes: usize) -> Result<Self, ClusterError> {
        Tree::star(nodes).map(Self::Tree)
    }

    /// A balanced tree with `arity` children per node, filled level by level from node 0.
    ///
    /// # Errors
    /// Fewer than two nodes, or no children.
    pub fn k_ary_tree(nodes: usize, arity: usize) -> Result<Self, ClusterError> {
        Tree::k_ary(nodes, arity).map(Self::Tree)
    }

    /// The tree with these edges.
    ///
    /// # Errors
    /// If they are no tree, or name a node that is not there.
    pub fn tree(nodes: usize, edges: &[(NodeId, NodeId)]) -> Result<Self, ClusterError> {
        Tree::from_edges(nodes, edges).map(Self::Tree)
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        match self {
            Self::Complete(nodes) | Self::Ring(nodes) => *nodes,
            Self::Tree(tree) => tree.nodes(),
        }
    }

    /// The nodes that a node can send to, in order.
    pub fn neighbours(&self, node: NodeId) -> Vec<NodeId> {
        match self {
            Self::Complete(nodes) => node.others(*nodes).collect(),
            Self::Ring(nodes) => vec![NodeId::at((node.index() + 1) % nodes)],
            Self::Tree(tree) => tree.neighbours(node),
        }
    }

    /// The nodes that can send to a node, in order.
    pub fn sources(&self, node: NodeId) -> Vec<NodeId> {
        match self {
            Self::Ring(nodes) => vec![NodeId::at((node.index() + nodes - 1) % nodes)],
            Self::Complete(_) | Self::Tree(_) => self.neighbours(node),
        }
    }

    /// The neighbour on a node's way to each node; itself for itself.
    pub fn routes_from(&self, me: NodeId) -> Vec<NodeId> {
        let nodes = NodeId::all(self.nodes());
        match self {
            Self::Complete(_) => nodes.collect(),
            Self::Ring(count) => {
                let next = NodeId::at((me.index() + 1) % count);
                nodes.map(|to| if to == me { me } else { next }).collect()
            }
            Self::Tree(tree) => {
                nodes.map(|target| tree.towards(target)[me.index()].unwrap_or(target)).collect()
            }
        }
    }

    /// For each node, the neighbour on the way to each other node; itself for itself.
    pub fn routes(&self) -> Vec<Vec<NodeId>> {
        let nodes = NodeId::all(self.nodes());
        match self {
            Self::Complete(_) | Self::Ring(_) => nodes.map(|me| self.routes_from(me)).collect(),
            Self::Tree(tree) => {
                let mut routes = vec![Vec::with_capacity(self.nodes()); self.nodes()];
                for target in nodes {
                    for (me, next) in tree.towards(target).into_iter().enumerate() {
                        routes[me].push(next.unwrap_or(target));
                    }
                }
                routes
            }
        }
    }

    /// The longest way from a node to another, in messages.
    pub fn diameter(&self) -> usize {
        match self {
            Self::Complete(_) => 1,
            Self::Ring(nodes) => nodes - 1,
            Self::Tree(tree) => tree.diameter(),
        }
    }
}

/// A tree over the nodes of a cluster, kept as each node's parent. Node 0 is the root.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tree {
    parents: Vec<Option<NodeId>>,
}

impl Tree {
    /// A row of nodes.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn line(nodes: usize) -> Result<Self, ClusterError> {
        Self::k_ary(nodes, 1)
    }

    /// Node 0 in the middle.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn star(nodes: usize) -> Result<Self, ClusterError> {
        Self::k_ary(nodes, nodes)
    }

    /// A balanced tree with `arity` children per node, filled level by level from node 0.
    ///
    /// # Errors
    /// Fewer than two nodes, or no children.
    pub fn k_ary(nodes: usize, arity: usize) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        if arity == 0 {
            return Err(ClusterError::NotATree(
                "nodes without children: take an arity of 1 or more",
            ));
        }
        let parent = |index: usize| (index > 0).then(|| NodeId::at((index - 1) / arity));
        Ok(Self { parents: (0..nodes).map(parent).collect() })
    }

    /// The tree with these edges.
    ///
    /// # Errors
    /// If they are no tree, or name a node that is not there.
    pub fn from_edges(nodes: usize, edges: &[(NodeId, NodeId)]) -> Result<Self, ClusterError> {
        ClusterError::check_size(nodes)?;
        if edges.len() != nodes - 1 {
            return Err(ClusterError::NotATree("a tree of n nodes has n-1 edges"));
        }
        let mut neighbours = vec![Vec::new(); nodes];
        for &(one, other) in edges {
            ClusterError::check_node(one, nodes)?;
            ClusterError::check_node(other, nodes)?;
            neighbours[one.index()].push(other);
            neighbours[other.index()].push(one);
        }
        // With n-1 edges, a graph is connected exactly if it has no cycle.
        let mut parents = vec![None; nodes];
        let reached = walk(NodeId(0), &neighbours, |node, from| parents[node.index()] = from);
        if reached.len() != nodes {
            return Err(ClusterError::NotATree("some node is not connected"));
        }
        Ok(Self { parents })
    }

    /// The tree of these parents, which are known to form a tree.
    pub(super) fn with_parents(parents: Vec<Option<NodeId>>) -> Self {
        Self { parents }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// The next node on the way to the root; none for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.parents[node.index()]
    }

    /// The nodes next to one, in order.
    pub fn neighbours(&self, node: NodeId) -> Vec<NodeId> {
        let next_to =
            |&other: &NodeId| self.parent(other) == Some(node) || self.parent(node) == Some(other);
        NodeId::all(self.nodes()).filter(next_to).collect()
    }

    /// Every node's neighbours at once.
    pub fn adjacency(&self) -> Vec<Vec<NodeId>> {
        let mut neighbours = vec![Vec::new(); self.nodes()];
        for (index, &parent) in self.parents.iter().enumerate() {
            if let Some(parent) = parent {
                neighbours[index].push(parent);
                neighbours[parent.index()].push(NodeId::at(index));
            }
        }
        neighbours
    }

    /// For each node its neighbour on the way to the target; none for the target.
    ///
    /// # Panics
    /// If there is no such target.
    pub fn towards(&self, target: NodeId) -> Vec<Option<NodeId>> {
        let mut next = self.parents.clone();
        // Only the edges between the target and the root point the wrong way.
        let (mut node, mut came_from) = (Some(target), None);
        while let Some(here) = node {
            node = std::mem::replace(&mut next[here.index()], came_from);
            came_from = Some(here);
        }
        next
    }

    /// The way between two nodes, in edges.
    ///
    /// # Panics
    /// If one of them is not there.
    pub fn distance(&self, one: NodeId, other: NodeId) -> usize {
        let up = |node: NodeId| std::iter::successors(Some(node), |&node| self.parent(node));
        let (depth, other_depth) = (up(one).count(), up(other).count());
        let (deep, shallow) = if depth > other_depth { (one, other) } else { (other, one) };
        let climb = depth.abs_diff(other_depth);
        let together = up(deep).skip(climb).zip(up(shallow));
        climb + 2 * together.take_while(|(deep, shallow)| deep != shallow).count()
    }

    /// The longest way between two nodes, in edges.
    pub fn diameter(&self) -> usize {
        let neighbours = self.adjacency();
        // A node that is farthest from any start is one end of a longest path.
        let end = *walk(NodeId(0), &neighbours, |_, _| ()).last().expect("it has nodes");
        let mut distance = vec![0; self.nodes()];
        let order = walk(end, &neighbours, |node, from| {
            distance[node.index()] = from.map_or(0, |from: NodeId| distance[from.index()] + 1);
        });
        distance[order.last().expect("it has nodes").index()]
    }
}

/// Visits all nodes in order of their distance from the start, each with the node it was reached
/// from.
fn walk(
    start: NodeId,
    neighbours: &[Vec<NodeId>],
    mut visit: impl FnMut(NodeId, Option<NodeId>),
) -> Vec<NodeId> {
    let mut seen = vec![false; neighbours.len()];
    seen[start.index()] = true;
    visit(start, None);
    let mut order = vec![start];
    let mut position = 0;
    while let Some(&node) = order.get(position) {
        position += 1;
        for &next in &neighbours[node.index()] {
            if !std::mem::replace(&mut seen[next.index()], true) {
                visit(next, Some(node));
                order.push(next);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(numbers: [u32; N]) -> [NodeId; N] {
        numbers.map(NodeId)
    }

    #[test]
    fn diameters_are_those_of_the_shapes() {
        for n in 2..40 {
            assert_eq!(Topology::complete(n).unwrap().diameter(), 1);
            assert_eq!(Topology::ring(n).unwrap().diameter(), n - 1);
            assert_eq!(Topology::line(n).unwrap().diameter(), n - 1);
            assert_eq!(Topology::star(n).unwrap().diameter(), if n == 2 { 1 } else { 2 });
        }
        assert_eq!(Topology::k_ary_tree(15, 2).unwrap().diameter(), 6);
        assert_eq!(Topology::k_ary_tree(13, 3).unwrap().diameter(), 4);
    }

    #[test]
    fn neighbours_are_mutual_in_trees_and_one_way_in_rings() {
        let edges = [(0, 3), (3, 1), (1, 2), (3, 4)].map(|(a, b)| (NodeId(a), NodeId(b)));
        let Topology::Tree(tree) = Topology::tree(5, &edges).unwrap() else { unreachable!() };
        assert_eq!(tree.neighbours(NodeId(3)), ids([0, 1, 4]));
        for node in NodeId::all(5) {
            let mut adjacent = tree.adjacency()[node.index()].clone();
            adjacent.sort_unstable();
            assert_eq!(tree.neighbours(node), adjacent);
        }
        assert_eq!(tree.diameter(), 3);
        assert_eq!(Topology::ring(3).unwrap().neighbours(NodeId(2)), ids([0]));
        assert_eq!(Topology::complete(3).unwrap().neighbours(NodeId(1)), ids([0, 2]));
    }

    #[test]
    fn every_way_leads_to_the_target() {
        let tree = Tree::k_ary(20, 3).unwrap();
        for target in NodeId::all(20) {
            let next = tree.towards(target);
            for start in NodeId::all(20) {
                let way = std::iter::successors(Some(start), |node| next[node.index()]);
                assert_eq!(way.clone().last(), Some(target));
                assert_eq!(way.count() - 1, tree.distance(start, target));
            }
        }
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let edge = |a, b| (NodeId(a), NodeId(b));
        let tree = |n, edges: &[_]| Topology::tree(n, edges).unwrap_err().to_string();
        assert_eq!(tree(0, &[]), "0 nodes are no cluster: take 2 or more");
        assert!(tree(3, &[edge(0, 1)]).contains("n-1 edges"));
        assert!(tree(4, &[edge(0, 1), edge(1, 2), edge(2, 0)]).contains("not connected"));
        assert!(tree(2, &[edge(0, 2)]).contains("there is no n2: the nodes are n0 to n1"));
        assert!(Topology::k_ary_tree(3, 0).unwrap_err().to_string().contains("arity"));
        assert_eq!(Topology::ring(1).unwrap_err(), ClusterError::TooFewNodes(1));
    }
}
