//! What befalls nodes, as it is written on the command line.

use clap::Args;
use exclusion::message::sim::Fault;
use exclusion::message::{ClusterError, NodeId};

/// What befalls the nodes of a run that is drawn.
#[derive(Args)]
pub(super) struct Fates {
    /// Nodes that go down, each with a time, as 0@4
    #[arg(long, value_name = "NODE@TIME", value_delimiter = ',')]
    crash: Vec<String>,
    /// Nodes that come back, each with a time, as 0@12
    #[arg(long, value_name = "NODE@TIME", value_delimiter = ',', requires = "crash")]
    recover: Vec<String>,
    /// Nodes that stand still, each with two times, as 2@3-8
    #[arg(long, value_name = "NODE@FROM-TO", value_delimiter = ',')]
    pause: Vec<String>,
    /// Nodes that are cut off from the others, joined by +, with two times, as 0+1@4-15
    #[arg(long, value_name = "NODES@FROM-TO")]
    cut: Option<String>,
}

impl Fates {
    /// Whether nothing befalls them.
    pub(super) fn is_empty(&self) -> bool {
        let Self { crash, recover, pause, cut } = self;
        crash.is_empty() && recover.is_empty() && pause.is_empty() && cut.is_none()
    }

    /// What befalls so many nodes, and when.
    pub(super) fn faults(&self, nodes: usize) -> Result<Vec<(f64, Fault)>, String> {
        let mut faults = Vec::new();
        for (texts, fault) in
            [(&self.crash, Fault::Crash as fn(NodeId) -> Fault), (&self.recover, Fault::Recover)]
        {
            for text in texts {
                let (node, time) = parted(text, "0@4")?;
                faults.push((moment(time, text)?, fault(member(node, nodes)?)));
            }
        }
        for text in &self.pause {
            let (node, span) = parted(text, "2@3-8")?;
            let (node, (from, to)) = (member(node, nodes)?, span_of(span, text)?);
            faults.extend([(from, Fault::Pause(node)), (to, Fault::Resume(node))]);
        }
        if let Some(text) = &self.cut {
            let (side, span) = parted(text, "0+1@4-15")?;
            let side = side.split('+').map(|node| member(node, nodes));
            let mut side = side.collect::<Result<Vec<_>, _>>()?;
            side.sort_unstable();
            side.dedup();
            if side.len() == nodes {
                return Err("a cut leaves somebody on the other side: name fewer with --cut".into());
            }
            let (from, to) = span_of(span, text)?;
            faults.extend([(from, Fault::Cut(side)), (to, Fault::Heal)]);
        }
        Ok(faults)
    }
}

fn parted<'a>(text: &'a str, example: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once('@').ok_or_else(|| format!("'{text}' has no time: write it as {example}"))
}

fn member(text: &str, nodes: usize) -> Result<NodeId, String> {
    let number = text.trim_start_matches('n').parse();
    let node = NodeId(number.map_err(|_| format!("'{text}' is no node: take a number"))?);
    ClusterError::check_node(node, nodes).map_err(|error| error.to_string())
}

fn moment(time: &str, text: &str) -> Result<f64, String> {
    let time = time.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0);
    time.ok_or_else(|| format!("'{text}' has no time: take a number of T, 0 or more"))
}

fn span_of(span: &str, text: &str) -> Result<(f64, f64), String> {
    let (from, to) = span
        .split_once('-')
        .ok_or_else(|| format!("'{text}' has no end: write from and to, as 3-8"))?;
    let (from, to) = (moment(from, text)?, moment(to, text)?);
    if from < to { Ok((from, to)) } else { Err(format!("'{text}' ends before it begins")) }
}
