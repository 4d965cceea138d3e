//! Graphs, as commands take them.

use exclusion::message::{Graph, NodeId};

/// How a graph is written.
pub(super) const HELP: &str = "complete, ring, line, star, tree, grid, hypercube, random, \
                               random:EDGES, random:EDGES:SEED, or edges as 0-1,1-2,2-0";

/// The graph of this name over so many nodes; or with these edges.
///
/// # Errors
/// If there is no such graph, and what to write instead.
pub(super) fn graph(text: &str, nodes: usize) -> Result<Graph, String> {
    let made = match text.split(':').collect::<Vec<_>>()[..] {
        ["complete"] => Graph::complete(nodes),
        ["ring"] => Graph::ring(nodes),
        ["line"] => Graph::line(nodes),
        ["star"] => Graph::star(nodes),
        ["tree"] => Graph::tree(nodes, 2),
        ["grid"] => {
            let rows = (1..=nodes).take_while(|rows| rows * rows <= nodes);
            let rows = rows.filter(|rows| nodes.is_multiple_of(*rows)).last().unwrap_or(0);
            Graph::grid(rows, nodes / rows.max(1))
        }
        ["hypercube"] => Graph::hypercube(nodes),
        ["random"] => Graph::random(nodes, usual_edges(nodes), 1),
        ["random", edges] => Graph::random(nodes, number(edges, text)?, 1),
        ["random", edges, seed] => {
            Graph::random(nodes, number(edges, text)?, number(seed, text)? as u64)
        }
        _ => Graph::from_edges(nodes, &edges(text)?),
    };
    made.map_err(|error| error.to_string())
}

/// Twice as many edges as nodes, where there are so many.
fn usual_edges(nodes: usize) -> usize {
    (2 * nodes).min(nodes * nodes.saturating_sub(1) / 2)
}

fn no_graph(text: &str) -> String {
    format!("no graph is called '{text}': take {HELP}")
}

fn number(digits: &str, text: &str) -> Result<usize, String> {
    digits.parse().map_err(|_| no_graph(text))
}

fn edges(text: &str) -> Result<Vec<(NodeId, NodeId)>, String> {
    let node = |digits: &str| digits.parse().map(NodeId).map_err(|_| no_graph(text));
    let edge = |ends: &str| {
        let (one, other) = ends.split_once('-').ok_or_else(|| no_graph(text))?;
        Ok((node(one)?, node(other)?))
    };
    text.split(',').map(edge).collect()
}
