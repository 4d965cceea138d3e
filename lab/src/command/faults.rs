//! `lab faults`.

use clap::Args;
use exclusion::message::registry::{ALGORITHMS, Algorithm};
use exclusion::message::{NodeId, Role};
use lab::count::faults::{Blow, Layered, Plain, Survival, size};
use lab::count::safety::{self, Price, Safety};
use lab::explore::faults::{Cell, Plague, Seat, explore, markdown, pivot, plagues, reach};
use serde::Serialize;

use super::names;
use super::registry::algorithm;
use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab faults
  cargo lab faults central_coordinator
  cargo lab faults suzuki_kasami --crash token --trace
  cargo lab faults maekawa --crash holder --recover --json
  cargo lab faults lamport --loss 0.1
  cargo lab faults raymond --cut 0,1
  cargo lab faults raymond --cost
  cargo lab faults --all --json
  cargo lab faults --all --markdown")]
pub(crate) struct FaultsCommand {
    /// The algorithm (`lab list` names them) [default: each that is explored within seconds]
    #[arg(conflicts_with = "all", value_parser = names::name)]
    algorithm: Option<String>,
    /// Every algorithm, also those that take minutes
    #[arg(long)]
    all: bool,
    /// Only this: a node dies that is idle, has the token, is a requester, holder or arbiter
    #[arg(long, value_name = "ROLE", conflicts_with_all = ["loss", "cut", "lose"])]
    crash: Option<String>,
    /// Only this: one message of this kind is lost
    #[arg(long, value_name = "KIND", conflicts_with_all = ["loss", "cut"])]
    lose: Option<String>,
    /// Simulate: each message is lost with this probability
    #[arg(long, value_name = "P", conflicts_with = "cut")]
    loss: Option<f64>,
    /// Simulate: these nodes are cut off from the others for a while, separated by commas
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    cut: Vec<u32>,
    /// A node that dies comes back, where it recovers
    #[arg(long, conflicts_with_all = ["loss", "cut", "lose"])]
    recover: bool,
    /// Only this: what it costs to be safe. Messages per entry and delay of the plain algorithm, of
    /// the same over a link, and with link, detector and recovery
    #[arg(long, conflicts_with_all = ["crash", "lose", "loss", "cut", "recover", "trace"])]
    cost: bool,
    /// Print the shortest trace to the worst that can come of it
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    trace: bool,
    /// Print the table of the documentation
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object per algorithm and fault
    #[arg(long)]
    json: bool,
}

/// What a fault does to an algorithm, and to the same with the layers that are made for it.
#[derive(Serialize)]
struct Row {
    algorithm: &'static str,
    fault: String,
    /// The worst that can come of it, explored; or what came of it, simulated.
    plain: String,
    /// What came of it with the layers, simulated. Null if there is nothing to survive.
    recovering: Option<String>,
    /// Messages per entry with the layers, and how long an entry takes, in T.
    messages: Option<f64>,
    delay: Option<f64>,
    /// Of the messages per entry those by which detectors tell that their nodes live.
    heartbeats: Option<f64>,
    /// Messages about views in a run.
    view_messages: Option<f64>,
    /// How many steps the shortest way takes, and among how many nodes.
    steps: Option<usize>,
    nodes: usize,
    /// Whether what is promised was kept.
    ok: bool,
    #[serde(skip)]
    trace: Option<String>,
}

impl FaultsCommand {
    pub(crate) fn run(&self) -> Outcome {
        let algorithms: Vec<&'static Algorithm> = match &self.algorithm {
            Some(name) => vec![algorithm(name)?],
            None => {
                ALGORITHMS.iter().filter(|it| self.all || self.cost || reach(it).soon).collect()
            }
        };
        if self.cost {
            return self.tell_cost(&algorithms);
        }
        if self.markdown {
            say(markdown(&self.cells(&algorithms)?).trim_end());
            return Ok(true);
        }
        let mut all_ok = true;
        for algorithm in algorithms {
            for row in self.rows(algorithm)? {
                all_ok &= row.ok;
                self.show(&row);
            }
        }
        Ok(all_ok)
    }

    /// Tells what it costs to be safe.
    fn tell_cost(&self, algorithms: &[&'static Algorithm]) -> Outcome {
        if self.markdown {
            let all = algorithms.iter().copied().map(Safety::of).collect::<Result<Vec<_>, _>>()?;
            say(safety::markdown(&all).trim_end());
            return Ok(true);
        }
        if !self.json {
            say("messages per entry, from asking to entering in T, and heartbeats per T");
            say(format_args!(
                "{:26}{:>14}{:>16}{:>26}{:>24}",
                "algorithm", "plain", "link", "link, detector, recovery", "a tenth lost"
            ));
        }
        for algorithm in algorithms {
            let safety = Safety::of(algorithm)?;
            if self.json {
                say_json(&safety);
                continue;
            }
            let [plain, link] = [safety.plain, safety.link]
                .map(|Price { messages, delay, .. }| format!("{messages:.1} {delay:5.1}T"));
            let [recovering, losing] =
                [safety.recovering, safety.losing].map(|Price { messages, heartbeats, delay }| {
                    format!("{messages:.1} {delay:5.1}T {heartbeats:5.1}")
                });
            let name = safety.algorithm;
            say(format_args!("{name:26}{plain:>14}{link:>16}{recovering:>26}{losing:>24}"));
        }
        Ok(true)
    }

    fn show(&self, row: &Row) {
        if self.json {
            return say_json(row);
        }
        let with = row.recovering.as_deref().unwrap_or("-");
        let cost = match (row.messages, row.delay) {
            (Some(messages), Some(delay)) => {
                format!("with the layers {messages:.1} messages per entry, {delay:.1} T")
            }
            _ => String::new(),
        };
        let head = format!("{:25} {:24} {:20} {with}", row.algorithm, row.fault, row.plain);
        say(head.trim_end());
        if !cost.is_empty() {
            say(format_args!("{:25} {cost}", ""));
        }
        if let Some(trace) = row.trace.as_ref().filter(|_| self.trace) {
            trace.lines().for_each(|line| say(format_args!("  {line}")));
        }
    }

    fn rows(&self, algorithm: &'static Algorithm) -> Result<Vec<Row>, String> {
        if let Some(blow) = self.simulated(algorithm)? {
            return Ok(vec![simulated(algorithm, &blow)?]);
        }
        let cells = self.cells(&[algorithm])?;
        cells.into_iter().map(|cell| self.explored(algorithm, &cell)).collect()
    }

    /// What is only simulated, if anything.
    fn simulated(&self, algorithm: &'static Algorithm) -> Result<Option<Blow>, String> {
        if let Some(chance) = self.loss {
            if !(0.0..1.0).contains(&chance) {
                return Err(format!("{chance} is no probability: take 0 or more, and less than 1"));
            }
            return Ok(Some(Blow::Loss(chance)));
        }
        let nodes = size(algorithm).nodes;
        if let Some(unknown) = self.cut.iter().find(|node| **node as usize >= nodes) {
            return Err(format!("there is no n{unknown}: the nodes are n0 to n{}", nodes - 1));
        }
        let side: Vec<_> = self.cut.iter().copied().map(NodeId).collect();
        Ok((!side.is_empty()).then_some(Blow::Cut(side)))
    }

    /// The cells that were asked for.
    fn cells(&self, algorithms: &[&'static Algorithm]) -> Result<Vec<Cell>, String> {
        let seat = self.crash.as_deref().map(Seat::named).transpose()?;
        let mut cells = Vec::new();
        for algorithm in algorithms {
            let plagues = plagues(algorithm).map_err(|error| error.to_string())?;
            let wanted = |plague: &Plague| match (plague, seat, &self.lose) {
                (_, None, None) => true,
                (Plague::Dies(it), Some(seat), _) => *it == seat,
                (Plague::Lost(it), None, Some(kind)) => it == kind,
                _ => false,
            };
            let chosen: Vec<_> = plagues.iter().copied().filter(wanted).collect();
            if let (true, Some(kind)) = (chosen.is_empty(), &self.lose) {
                let kinds = plagues.iter().filter_map(|plague| match plague {
                    Plague::Lost(kind) => Some(*kind),
                    Plague::Dies(_) => None,
                });
                let kinds = kinds.collect::<Vec<_>>().join(", ");
                return Err(format!("{algorithm} sends no '{kind}': take one of {kinds}"));
            }
            for plague in chosen {
                cells.push(explore(algorithm, plague)?);
            }
        }
        Ok(cells)
    }

    fn explored(&self, algorithm: &'static Algorithm, cell: &Cell) -> Result<Row, String> {
        let back_after = self.recover.then_some(60.0);
        let blow = match cell.plague {
            Plague::Lost(kind) => Some(Blow::LoseOne(kind)),
            Plague::Dies(seat) => {
                let role = match seat {
                    Seat::Idle | Seat::Arbiter => Role::Idle,
                    Seat::IdleWithToken => Role::IdleWithToken,
                    Seat::Requester => Role::Requester,
                    Seat::Holder => Role::Holder,
                };
                let arbiter = (seat == Seat::Arbiter).then(|| pivot(algorithm, cell.nodes));
                Some(Blow::Crash { role, only: arbiter.flatten(), back_after })
            }
        };
        let blow = blow.filter(|_| cell.outcome.is_some());
        let survival = blow.map(|blow| layered(algorithm, &blow)).transpose()?;
        Ok(Row {
            algorithm: algorithm.name,
            fault: cell.plague.name() + if self.recover { " and comes back" } else { "" },
            plain: cell.verdict(),
            ok: survival.as_ref().is_none_or(Survival::is_served),
            messages: survival.as_ref().map(|it| it.messages),
            delay: survival.as_ref().map(|it| it.delay),
            heartbeats: survival.as_ref().map(|it| it.heartbeats),
            view_messages: survival.as_ref().map(|it| it.view_messages),
            recovering: survival.map(|it| it.verdict),
            steps: cell.trace.as_ref().map(|_| cell.steps()),
            nodes: cell.nodes,
            trace: cell.trace.as_ref().map(ToString::to_string),
        })
    }
}

fn layered(algorithm: &'static Algorithm, blow: &Blow) -> Result<Survival, String> {
    algorithm.build(size(algorithm), Layered(blow)).map_err(|error| error.to_string())
}

fn simulated(algorithm: &'static Algorithm, blow: &Blow) -> Result<Row, String> {
    let size = size(algorithm);
    let plain = algorithm.build(size, Plain(blow)).map_err(|error| error.to_string())?;
    let survival = layered(algorithm, blow)?;
    Ok(Row {
        algorithm: algorithm.name,
        fault: blow.name(),
        plain: plain.verdict,
        ok: survival.is_served(),
        messages: Some(survival.messages),
        delay: Some(survival.delay),
        heartbeats: Some(survival.heartbeats),
        view_messages: Some(survival.view_messages),
        recovering: Some(survival.verdict),
        steps: None,
        nodes: size.nodes,
        trace: None,
    })
}
