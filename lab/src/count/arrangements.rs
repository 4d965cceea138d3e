//! Chang's and Roberts' election on every ring of so many nodes, beside the three formulas.

use exclusion::message::sim::Contest;
use exclusion::message::{ChangRoberts, NodeId};
use serde::Serialize;

/// On more nodes there are too many rings to try them all.
pub const MOST_NODES: usize = 8;

/// The `ELECTION` messages of all rings, where all nodes call at the same moment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Arrangements {
    /// The election.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// How many rings: n!, since each is tried from each node on.
    pub arrangements: u64,
    /// The fewest messages on a ring,
    pub least: u64,
    /// the most,
    pub most: u64,
    /// all of them together,
    pub total: u64,
    /// and on average.
    pub mean: f64,
    /// n! times n·Hₙ, which is the total if the mean is n·Hₙ.
    pub expected_total: u64,
    /// Whether the fewest are 2n-1, the most n(n+1)/2, and the mean n·Hₙ, exactly; and the highest
    /// leads on every ring.
    pub ok: bool,
}

/// Holds the election on every ring of so many nodes.
///
/// # Errors
/// Fewer than two nodes, or more than [`MOST_NODES`].
pub fn on_all_rings(nodes: usize) -> Result<Arrangements, String> {
    if nodes > MOST_NODES {
        return Err(format!("{nodes} nodes have too many arrangements: take at most {MOST_NODES}"));
    }
    let mut order: Vec<_> = NodeId::all(nodes).collect();
    let (mut counts, mut highest_leads) = (Vec::new(), true);
    loop {
        let cluster = ChangRoberts::arranged(&order).map_err(|error| error.to_string())?;
        let report = Contest::new(cluster).initiators(order.iter().copied()).run();
        let report = report.map_err(|error| error.to_string())?;
        highest_leads &= report.leader.is_some_and(|it| it.leader.index() == nodes - 1);
        counts.push(report.messages.of("ELECTION"));
        if !advance(&mut order) {
            break;
        }
    }
    let n = nodes as u64;
    let arrangements = counts.len() as u64;
    let (least, most) = (counts.iter().copied().min(), counts.iter().copied().max());
    let total: u64 = counts.iter().sum();
    let harmonic: u64 = (1..=n).map(|i| arrangements / i).sum();
    let expected_total = n * harmonic;
    let formulas = (Some(2 * n - 1), Some(n * (n + 1) / 2), expected_total);
    Ok(Arrangements {
        algorithm: "chang_roberts",
        nodes,
        arrangements,
        least: least.unwrap_or_default(),
        most: most.unwrap_or_default(),
        total,
        mean: total as f64 / arrangements as f64,
        expected_total,
        ok: highest_leads && (least, most, total) == formulas,
    })
}

/// The next order by the alphabet, unless it is the last.
fn advance(order: &mut [NodeId]) -> bool {
    let Some(rise) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let larger = order.iter().rposition(|&node| node > order[rise]);
    order.swap(rise, larger.expect("the one behind it is"));
    order[rise + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let mut order: Vec<_> = NodeId::all(5).collect();
        let mut seen = std::collections::BTreeSet::from([order.clone()]);
        while advance(&mut order) {
            assert!(seen.insert(order.clone()), "{order:?} comes twice");
        }
        assert_eq!(seen.len(), 120);
    }
}
