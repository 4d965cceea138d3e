//! Graphs, as commands take them.

use exclusion::message::registry::{Electorate, RegistryError};
use exclusion::message::{Graph, NodeId};

/// Larger graphs fill the memory.
const MOST_NODES: usize = 1_000_000;
const MOST_EDGES: usize = 10_000_000;

/// How a graph is written.
pub(super) const HELP: &str = "complete, ring, line, star, tree, grid, hypercube, random, \
                               random:EDGES, random:EDGES:SEED, or edges as 0-1,1-2,2-0";

/// The graph of this name over so many nodes; or with these edges.
///
/// # Errors
/// If there is no such graph, and what to write instead.
pub(super) fn graph(text: &str, nodes: usize) -> Result<Graph, String> {
    if nodes > MOST_NODES {
        return Err(format!("{nodes} nodes would take too long: take at most {MOST_NODES}"));
    }
    let made = match text.split(':').collect::<Vec<_>>()[..] {
        ["complete"] => {
            Electorate::check_complete(nodes).map_err(|error| in_words(&error))?;
            Graph::complete(nodes)
        }
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
        ["random", count] => Graph::random(nodes, few_edges(count, text)?, 1),
        ["random", count, seed] => {
            Graph::random(nodes, few_edges(count, text)?, number(seed, text)? as u64)
        }
        _ => Graph::from_edges(nodes, &edges(text)?),
    };
    made.map_err(|error| error.to_string())
}

/// The error. Where another graph would help, it also says how to name one.
pub(super) fn in_words(error: &RegistryError) -> String {
    match error {
        RegistryError::TooManyEdges { .. } => {
            format!("{error} with --graph, such as ring, tree or random")
        }
        _ => error.to_string(),
    }
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

/// A number of edges that the memory can hold.
fn few_edges(digits: &str, text: &str) -> Result<usize, String> {
    match number(digits, text)? {
        edges if edges > MOST_EDGES => {
            Err(format!("{edges} edges would take too long: take at most {MOST_EDGES}"))
        }
        edges => Ok(edges),
    }
}

fn edges(text: &str) -> Result<Vec<(NodeId, NodeId)>, String> {
    let node = |digits: &str| digits.parse().map(NodeId).map_err(|_| no_graph(text));
    let edge = |ends: &str| {
        let (one, other) = ends.split_once('-').ok_or_else(|| no_graph(text))?;
        Ok((node(one)?, node(other)?))
    };
    text.split(',').map(edge).collect()
}
