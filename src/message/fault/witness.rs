//! A witness: what breaks the tie of two halves.
//!
//! Half of the nodes are no majority. If a cut leaves two halves, neither goes on, or both do:
//! split brain. A witness is reached by another channel than the nodes use among themselves, for
//! example a disk that both sides can write. It takes the side of whoever asks first, once in an
//! epoch.
//!
//! | the nodes in reach | with the witness | without |
//! |---|---|---|
//! | more than half | go on | go on |
//! | half | go on, if it took their side | stand still |
//! | fewer | stand still | stand still |
//!
//! # What it promises
//! In an epoch at most one side goes on. Since an epoch that was granted is never granted to
//! another, and an older one never again, a side that was cut off cannot come back with an old
//! grant. If the witness itself is down, half of the nodes stand still, as without one.

use crate::message::{Epoch, NodeId};

/// Who may go on, if half of the nodes are out of reach. See the [module](self).
///
/// ```
/// use exclusion::message::{Epoch, NodeId, Witness};
///
/// let mut disk = Witness::default();
/// let epoch = Epoch { number: 1, called_by: None };
/// // Four nodes are cut into two halves. Both halves ask.
/// assert!(disk.goes_on(epoch, NodeId(2), 2, 4));
/// assert!(!disk.goes_on(epoch, NodeId(0), 2, 4));
/// // A majority does not need it, and a minority does not get it.
/// assert!(disk.goes_on(epoch, NodeId(0), 3, 4));
/// assert!(!disk.goes_on(epoch, NodeId(2), 1, 4));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Witness {
    /// The last epoch in which it took a side, and whose.
    taken: Option<(Epoch, NodeId)>,
}

impl Witness {
    /// Asks it to take the side that a node speaks for. It does so for the first that asks in an
    /// epoch, and says yes to the same again. It refuses an epoch that is older than the last.
    pub fn takes_side(&mut self, epoch: Epoch, speaker: NodeId) -> bool {
        match self.taken {
            Some((last, _)) if last > epoch => false,
            Some((last, side)) if last == epoch => side == speaker,
            _ => {
                self.taken = Some((epoch, speaker));
                true
            }
        }
    }

    /// Whether a side of so many nodes, of so many in all, may go on in an epoch. It asks the
    /// witness only if the side is exactly half.
    pub fn goes_on(&mut self, epoch: Epoch, speaker: NodeId, side: usize, nodes: usize) -> bool {
        match (2 * side).cmp(&nodes) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => self.takes_side(epoch, speaker),
            std::cmp::Ordering::Less => false,
        }
    }

    /// The last epoch in which it took a side, and whose.
    pub fn taken(&self) -> Option<(Epoch, NodeId)> {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(number: u64) -> Epoch {
        Epoch { number, called_by: None }
    }

    /// Two halves ask, each in the epochs 1 to 3, in every order of their questions.
    #[test]
    fn in_no_order_of_questions_do_both_halves_go_on_in_an_epoch() {
        let halves = [NodeId(0), NodeId(2)];
        let mut orders = 0;
        for order in 0..1_u32 << 6 {
            if order.count_ones() != 3 {
                continue;
            }
            orders += 1;
            let mut witness = Witness::default();
            let mut asked = [0, 0];
            let mut granted = [[false; 2]; 4];
            for turn in 0..6 {
                let half = (order >> turn & 1) as usize;
                asked[half] += 1;
                let number = asked[half];
                granted[number as usize][half] = witness.goes_on(epoch(number), halves[half], 2, 4);
            }
            assert!(granted.iter().all(|sides| sides != &[true, true]), "{order:06b}");
            assert!(granted.iter().any(|sides| sides != &[false, false]), "{order:06b}");
        }
        assert_eq!(orders, 20);
    }

    #[test]
    fn a_side_that_was_cut_off_cannot_come_back_with_an_older_epoch() {
        let mut witness = Witness::default();
        assert!(witness.takes_side(epoch(2), NodeId(2)));
        assert!(!witness.takes_side(epoch(1), NodeId(0)));
        assert!(witness.takes_side(epoch(2), NodeId(2)), "it may ask again");
        assert!(witness.takes_side(epoch(3), NodeId(0)));
        assert!(!witness.takes_side(epoch(2), NodeId(2)), "that is over");
    }
}
