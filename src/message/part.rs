//! Machines that are a part of another: the election of a lock, or a lock under other names.

use super::{Input, Machine, Outbox, Output, Refused, step};

/// Gives an input to a machine that is a part of another, and hands over its outputs. What it sends
/// to itself has been delivered.
///
/// ```
/// use exclusion::message::{Input, NodeId, Outbox, Output, RicartAgrawala, step_part};
///
/// let mut part = RicartAgrawala::node(NodeId(0), 3)?;
/// let mut out: Outbox<Option<_>> = Outbox::new();
/// for output in step_part(&mut part, Input::Request)? {
///     out.forward(output, Some);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`step`]: what a part refuses the whole refuses.
pub fn step_part<M: Machine>(
    part: &mut M,
    input: Input<M::Message>,
) -> Result<Vec<Output<M::Message>>, Refused> {
    let mut out = Outbox::new();
    step(part, input, &mut out)?;
    Ok(out.drain().collect())
}

impl<M> Outbox<M> {
    /// Does what a part wants done, with its messages made into those of the whole.
    pub fn forward<N>(&mut self, output: Output<N>, message_of: impl FnOnce(N) -> M) {
        match output {
            Output::Send { to, message } => self.send(to, message_of(message)),
            Output::SetTimer { timer, periods } => self.set_timer(timer, periods),
            Output::Enter => self.enter(),
            Output::Leader(leadership) => self.settle(leadership),
        }
    }
}
