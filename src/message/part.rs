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

/// Methods of a [`Machine`] that wraps another, and hands these inputs to a method of its own,
/// which gives them to the part.
///
/// ```
/// use exclusion::message::{Input, Machine, NodeId, Outbox, Refused, RicartAgrawala};
/// use exclusion::message::{forward_inputs, ricart_agrawala, step_part};
///
/// /// Ricart's and Agrawala's algorithm, as it is.
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// struct Wrapped(RicartAgrawala);
///
/// impl Wrapped {
///     fn give(
///         &mut self,
///         input: Input<ricart_agrawala::Message>,
///         out: &mut Outbox<ricart_agrawala::Message>,
///     ) -> Result<(), Refused> {
///         for output in step_part(&mut self.0, input)? {
///             out.forward(output, |message| message);
///         }
///         Ok(())
///     }
/// }
///
/// impl Machine for Wrapped {
///     type Message = ricart_agrawala::Message;
///     fn id(&self) -> NodeId {
///         self.0.id()
///     }
///     fn nodes(&self) -> usize {
///         self.0.nodes()
///     }
///     forward_inputs!(give: request, release, receive);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! forward_inputs {
    ($give:ident: $($input:ident),+) => {
        $($crate::forward_inputs!(@$input $give);)+
    };
    (@start $give:ident) => {
        fn start(&mut self, out: &mut $crate::message::Outbox<Self::Message>) {
            self.$give($crate::message::Input::Start, out).expect("a start is never refused");
        }
    };
    (@elect $give:ident) => {
        $crate::forward_inputs!(@plain elect Elect $give);
    };
    (@request $give:ident) => {
        $crate::forward_inputs!(@plain request Request $give);
    };
    (@release $give:ident) => {
        $crate::forward_inputs!(@plain release Release $give);
    };
    (@withdraw $give:ident) => {
        $crate::forward_inputs!(@plain withdraw Withdraw $give);
    };
    (@plain $name:ident $input:ident $give:ident) => {
        fn $name(
            &mut self,
            out: &mut $crate::message::Outbox<Self::Message>,
        ) -> Result<(), $crate::message::Refused> {
            self.$give($crate::message::Input::$input, out)
        }
    };
    (@receive $give:ident) => {
        fn receive(
            &mut self,
            from: $crate::message::NodeId,
            message: Self::Message,
            out: &mut $crate::message::Outbox<Self::Message>,
        ) -> Result<(), $crate::message::Refused> {
            self.$give($crate::message::Input::Receive { from, message }, out)
        }
    };
    (@timeout $give:ident) => {
        fn timeout(
            &mut self,
            timer: $crate::message::Timer,
            out: &mut $crate::message::Outbox<Self::Message>,
        ) -> Result<(), $crate::message::Refused> {
            self.$give($crate::message::Input::Timeout(timer), out)
        }
    };
    (@notice $give:ident) => {
        fn notice(
            &mut self,
            notice: $crate::message::Notice,
            out: &mut $crate::message::Outbox<Self::Message>,
        ) -> Result<(), $crate::message::Refused> {
            self.$give($crate::message::Input::Notice(notice), out)
        }
    };
}

/// Does something that may be refused half way. Then nothing has changed.
pub(super) fn whole<M: Machine>(
    machine: &mut M,
    act: impl FnOnce(&mut M) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let before = machine.clone();
    act(machine).inspect_err(|_| *machine = before)
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
