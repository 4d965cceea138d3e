//! What happened in a run, event by event: to read, to draw, and to replay.
//!
//! As text, one event per line:
//!
//! ```text
//! 0.000000 n0 requests
//! 0.000000 n0 sends 1 to n1: REQUEST Request(1.n0)
//! 1.000000 n1 receives 1 from n0
//! 2.000000 n0 enters
//! 3.000000 n0 leaves
//! 3.000000 n0 sets timer 0 for 2
//! 5.000000 n0 timer 0 runs out
//! 6.000000 n1 crashes
//! 7.000000 n0 learns that n1 is down
//! 7.000000 n0 calls an election
//! 9.000000 n0 settles on n0 in epoch 1
//! 9.500000 n1 misses 2 from n0
//! 9.500000 n2 doubles 3 from n0
//! 9.600000 n0 is cut off from n1 n2
//! 9.700000 n0 reaches all again
//! 9.800000 n2 pauses
//! 9.900000 n2 resumes
//! ```

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::{Epoch, Input, Leadership, Message, NodeId, Notice, Output, Timer};

/// A moment, in units of T (one message delay), to the millionth.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Time(pub u64);

impl Time {
    /// How many ticks there are to a unit.
    pub const TICKS: u64 = 1_000_000;

    /// This many units after the beginning.
    pub fn units(units: f64) -> Self {
        Self((units * Self::TICKS as f64).round() as u64)
    }

    /// This many ticks later, or the largest time.
    pub fn after(self, ticks: u64) -> Self {
        Self(self.0.saturating_add(ticks))
    }

    /// In units of T.
    pub fn as_units(self) -> f64 {
        self.0 as f64 / Self::TICKS as f64
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / Self::TICKS, self.0 % Self::TICKS)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Something that happened at a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Event {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// What.
    pub happening: Happening,
}

/// What can happen at a node. The first eight are inputs. From [`Crashes`](Self::Crashes) to
/// [`Resumes`](Self::Resumes) something befalls it or its channels. The others are what the node
/// did in answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Happening {
    /// It starts, and has something to do.
    Starts,
    /// It calls an election.
    Calls,
    /// Its user wants to enter.
    Requests,
    /// Its user leaves.
    Leaves,
    /// Its user takes its request back.
    Withdraws,
    /// A message arrives.
    Receives {
        /// Who sent it.
        from: NodeId,
        /// Its number.
        message: u64,
    },
    /// A timer runs out.
    TimesOut(Timer),
    /// It is told about a failure or a recovery.
    Learns(Notice),
    /// It crashes: it forgets its timers, and misses what arrives.
    Crashes,
    /// A message to it is lost.
    Misses {
        /// Who sent it.
        from: NodeId,
        /// Its number.
        message: u64,
    },
    /// A message to it will arrive once more than it was sent.
    Doubles {
        /// Who sent it.
        from: NodeId,
        /// Its number.
        message: u64,
    },
    /// What it sends to these nodes does not arrive from now on.
    CutOff(Vec<NodeId>),
    /// What it sends arrives again.
    Rejoins,
    /// It stands still: what comes to it waits.
    Pauses,
    /// It goes on.
    Resumes,
    /// It sends a message.
    Sends {
        /// To whom.
        to: NodeId,
        /// Its number: messages are counted from 1.
        message: u64,
        /// Its kind.
        kind: String,
        /// The whole message, for people to read.
        text: String,
    },
    /// Its user enters.
    Enters,
    /// It sets a timer.
    SetsTimer {
        /// Which.
        timer: Timer,
        /// For how many periods.
        periods: u32,
    },
    /// It settles on a leader.
    Settles(Leadership),
}

impl Happening {
    /// An input, as it is written down. Messages are numbered by whoever writes.
    pub fn of_input<M>(input: &Input<M>, number: u64) -> Self {
        match *input {
            Input::Start => Self::Starts,
            Input::Elect => Self::Calls,
            Input::Request => Self::Requests,
            Input::Release => Self::Leaves,
            Input::Withdraw => Self::Withdraws,
            Input::Receive { from, .. } => Self::Receives { from, message: number },
            Input::Timeout(timer) => Self::TimesOut(timer),
            Input::Notice(notice) => Self::Learns(notice),
        }
    }

    /// An output, as it is written down. Messages are numbered by whoever writes.
    pub fn of_output<M: Message>(output: &Output<M>, number: u64) -> Self {
        match output {
            Output::Send { to, message } => Self::Sends {
                to: *to,
                message: number,
                kind: message.kind().to_owned(),
                text: format!("{message:?}"),
            },
            &Output::SetTimer { timer, periods } => Self::SetsTimer { timer, periods },
            Output::Enter => Self::Enters,
            Output::Leader(leadership) => Self::Settles(*leadership),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.time, self.node)?;
        match &self.happening {
            Happening::Starts => write!(f, "starts"),
            Happening::Calls => write!(f, "calls an election"),
            Happening::Crashes => write!(f, "crashes"),
            Happening::Misses { from, message } => write!(f, "misses {message} from {from}"),
            Happening::Doubles { from, message } => write!(f, "doubles {message} from {from}"),
            Happening::CutOff(others) => {
                write!(f, "is cut off from")?;
                others.iter().try_for_each(|other| write!(f, " {other}"))
            }
            Happening::Rejoins => write!(f, "reaches all again"),
            Happening::Pauses => write!(f, "pauses"),
            Happening::Resumes => write!(f, "resumes"),
            Happening::Requests => write!(f, "requests"),
            Happening::Leaves => write!(f, "leaves"),
            Happening::Withdraws => write!(f, "withdraws"),
            Happening::Receives { from, message } => write!(f, "receives {message} from {from}"),
            Happening::TimesOut(Timer(timer)) => write!(f, "timer {timer} runs out"),
            Happening::Learns(Notice::Down(node)) => write!(f, "learns that {node} is down"),
            Happening::Learns(Notice::Up(node)) => write!(f, "learns that {node} is up"),
            Happening::Learns(Notice::Recovered) => write!(f, "recovers"),
            Happening::Sends { to, message, kind, text } => {
                write!(f, "sends {message} to {to}: {kind} {text}")
            }
            Happening::Enters => write!(f, "enters"),
            Happening::SetsTimer { timer, periods } => {
                write!(f, "sets timer {} for {periods}", timer.0)
            }
            Happening::Settles(Leadership { epoch, leader }) => {
                write!(f, "settles on {leader} in epoch {epoch}")
            }
        }
    }
}

/// The events of a run, in order.
///
/// A trace that was read or decoded may be of another cluster, or of none:
/// [`replay`](super::replay) says where it departs from what the nodes do.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trace {
    /// The events, in order.
    pub events: Vec<Event>,
}

impl Trace {
    /// Writes down one more event.
    pub fn note(&mut self, time: Time, node: NodeId, happening: Happening) {
        self.events.push(Event { time, node, happening });
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events.iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

/// A line that is not an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseTraceError {
    /// Which line, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

impl fmt::Display for ParseTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} is not an event: '{}'; expected for example '1.000000 n1 receives 1 from n0'",
            self.line, self.text
        )
    }
}

impl Error for ParseTraceError {}

impl FromStr for Trace {
    type Err = ParseTraceError;

    /// Reads what [`Display`](fmt::Display) writes. Empty lines, and lines that begin with `#`, are
    /// skipped.
    fn from_str(text: &str) -> Result<Self, ParseTraceError> {
        let mut events = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if !line.trim().is_empty() && !line.starts_with('#') {
                events.push(
                    parse_event(line).ok_or_else(|| ParseTraceError {
                        line: index + 1,
                        text: line.to_owned(),
                    })?,
                );
            }
        }
        Ok(Self { events })
    }
}

fn parse_event(line: &str) -> Option<Event> {
    // Only a sent message has a text.
    let (head, text) =
        line.split_once(": ").map_or((line, None), |(head, text)| (head, Some(text)));
    let words: Vec<&str> = head.split(' ').collect();
    let [time, node, ref happening @ ..] = words[..] else { return None };
    if text.is_some() != (happening.first() == Some(&"sends")) {
        return None;
    }
    let happening = match *happening {
        ["starts"] => Happening::Starts,
        ["calls", "an", "election"] => Happening::Calls,
        ["crashes"] => Happening::Crashes,
        ["misses", message, "from", from] => {
            Happening::Misses { from: parse_node(from)?, message: message.parse().ok()? }
        }
        ["doubles", message, "from", from] => {
            Happening::Doubles { from: parse_node(from)?, message: message.parse().ok()? }
        }
        ["is", "cut", "off", "from", ref others @ ..] => {
            let others: Option<Vec<_>> = others.iter().map(|other| parse_node(other)).collect();
            Happening::CutOff(others.filter(|others| !others.is_empty())?)
        }
        ["reaches", "all", "again"] => Happening::Rejoins,
        ["pauses"] => Happening::Pauses,
        ["resumes"] => Happening::Resumes,
        ["settles", "on", leader, "in", "epoch", epoch] => Happening::Settles(Leadership {
            epoch: parse_epoch(epoch)?,
            leader: parse_node(leader)?,
        }),
        ["requests"] => Happening::Requests,
        ["leaves"] => Happening::Leaves,
        ["withdraws"] => Happening::Withdraws,
        ["enters"] => Happening::Enters,
        ["recovers"] => Happening::Learns(Notice::Recovered),
        ["learns", "that", node, "is", "down"] => {
            Happening::Learns(Notice::Down(parse_node(node)?))
        }
        ["learns", "that", node, "is", "up"] => Happening::Learns(Notice::Up(parse_node(node)?)),
        ["receives", message, "from", from] => {
            Happening::Receives { from: parse_node(from)?, message: message.parse().ok()? }
        }
        ["timer", timer, "runs", "out"] => Happening::TimesOut(Timer(timer.parse().ok()?)),
        ["sets", "timer", timer, "for", periods] => Happening::SetsTimer {
            timer: Timer(timer.parse().ok()?),
            periods: periods.parse().ok()?,
        },
        ["sends", message, "to", to] => {
            let (kind, text) = text?.split_once(' ')?;
            Happening::Sends {
                to: parse_node(to)?,
                message: message.parse().ok()?,
                kind: kind.to_owned(),
                text: text.to_owned(),
            }
        }
        _ => return None,
    };
    Some(Event { time: parse_time(time)?, node: parse_node(node)?, happening })
}

fn parse_node(text: &str) -> Option<NodeId> {
    text.strip_prefix('n')?.parse().ok().map(NodeId)
}

fn parse_epoch(text: &str) -> Option<Epoch> {
    let (number, called_by) = match text.split_once('.') {
        Some((number, node)) => (number, Some(parse_node(node)?)),
        None => (text, None),
    };
    Some(Epoch { number: number.parse().ok()?, called_by })
}

fn parse_time(text: &str) -> Option<Time> {
    let (units, ticks) = text.split_once('.')?;
    if ticks.len() != 6 {
        return None;
    }
    let units: u64 = units.parse().ok()?;
    units.checked_mul(Time::TICKS)?.checked_add(ticks.parse().ok()?).map(Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
0.000000 n1 starts
0.000000 n0 requests
0.000000 n0 sends 1 to n1: REQUEST Request { of: 1.n0, set: {n1} }
1.500000 n1 receives 1 from n0
2.000000 n0 enters
3.000000 n0 leaves
3.000000 n0 sets timer 4 for 2
5.000001 n0 timer 4 runs out
6.000000 n0 learns that n1 is down
7.000000 n0 learns that n1 is up
8.000000 n1 crashes
8.000000 n1 recovers
8.000000 n1 calls an election
9.000000 n1 settles on n1 in epoch 3
9.000000 n0 settles on n1 in epoch 3.n1
9.100000 n1 misses 7 from n0
9.200000 n1 doubles 8 from n0
9.300000 n1 is cut off from n0 n2
9.400000 n1 reaches all again
9.500000 n2 pauses
9.600000 n2 resumes
";

    #[test]
    fn what_is_written_can_be_read_again() {
        let trace: Trace = TEXT.parse().unwrap();
        assert_eq!(trace.events.len(), 21);
        assert_eq!(trace.to_string(), TEXT);
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        for wrong in [
            "nonsense",
            "1.000000 n1",
            "1.0 n1 enters",
            "1.000000 1 enters",
            "1.000000 n1 receives x from n0",
            "1.000000 n1 sends 1 to n0",
            "1.000000 n1 enters: junk",
            "1.000000 n1 is cut off from",
            "99999999999999999999.000000 n1 enters",
        ] {
            let error = format!("# a comment\n\n{wrong}").parse::<Trace>().unwrap_err();
            assert_eq!((error.line, error.text.as_str()), (3, wrong));
        }
    }
}
