//! Fencing numbers: what a holder shows to the resource, which refuses an older one.
//!
//! A lock among nodes that may be suspected wrongly cannot keep two users from believing that they
//! are inside. What it can do is to number the entries. The resource remembers the greatest number
//! that it has seen, and refuses a smaller one. So what an overtaken holder writes does no harm.

use std::error::Error;
use std::fmt;

use crate::message::{Epoch, NodeSet};

/// The number of an entry. It grows with each entry, through every recovery.
///
/// Fences are ordered by their epoch, and within an epoch by the entry. A node that admits its user
/// takes one more than the greatest entry that any message of the epoch has brought it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fence {
    /// The epoch of the view in which its holder was admitted.
    pub epoch: Epoch,
    /// Which entry of the epoch it is, from 1.
    pub entry: u64,
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.epoch, self.entry)
    }
}

/// What a user is told when it is let in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Admission {
    /// What to show to the resource.
    pub fence: Fence,
    /// The nodes that were lost since the last entry, without having said that their users were
    /// outside. A user that was inside when its node died is among them: the data may be half
    /// written. Of a node that is not among them it is certain that its user has left.
    pub perhaps_inside: NodeSet,
}

/// A value that refuses an older fence than it has seen.
///
/// ```
/// use exclusion::message::{Epoch, Fence, Fenced};
///
/// let fence = |epoch, entry| Fence { epoch: Epoch::numbered(epoch), entry };
/// let mut balance = Fenced::new(100);
/// *balance.write(fence(0, 7))? -= 30;
/// *balance.write(fence(1, 1))? -= 30;
/// // The first holder was suspected wrongly, and has been overtaken.
/// assert!(balance.write(fence(0, 7)).is_err());
/// assert_eq!(*balance.read(), 40);
/// # Ok::<(), exclusion::message::Overtaken>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fenced<T> {
    value: T,
    seen: Option<Fence>,
    /// Whether several may be inside at a time, so that only epochs are compared.
    shared: bool,
}

impl<T> Fenced<T> {
    /// A value for a lock that lets in one at a time.
    pub fn new(value: T) -> Self {
        Self { value, seen: None, shared: false }
    }

    /// A value for a lock that lets in several at a time. Their fences are of one epoch, and in no
    /// order: what is refused is an older epoch.
    pub fn for_several(value: T) -> Self {
        Self { value, seen: None, shared: true }
    }

    /// The value, to change, for the holder of this fence.
    ///
    /// # Errors
    /// If a holder with a greater fence has been here.
    pub fn write(&mut self, fence: Fence) -> Result<&mut T, Overtaken> {
        self.admit(fence)?;
        Ok(&mut self.value)
    }

    /// Notes a fence without a change, so that older holders are refused from now on.
    ///
    /// # Errors
    /// If a holder with a greater fence has been here.
    pub fn admit(&mut self, fence: Fence) -> Result<(), Overtaken> {
        let is_older = |seen: Fence| match self.shared {
            true => fence.epoch < seen.epoch,
            false => fence < seen,
        };
        match self.seen {
            Some(seen) if is_older(seen) => Err(Overtaken { shown: fence, seen }),
            seen => {
                self.seen = seen.max(Some(fence));
                Ok(())
            }
        }
    }

    /// The value as it is. Whoever decides by what it reads [shows](Self::admit) its fence first.
    pub fn read(&self) -> &T {
        &self.value
    }

    /// The greatest fence that it has seen.
    pub fn seen(&self) -> Option<Fence> {
        self.seen
    }

    /// The value back.
    pub fn into_inner(self) -> T {
        self.value
    }
}

/// A holder has been overtaken: it was suspected, and another was admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overtaken {
    /// The fence that it has shown.
    pub shown: Fence,
    /// The greater one that the resource has seen.
    pub seen: Fence,
}

impl fmt::Display for Overtaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, seen } = self;
        write!(f, "fence {shown} is older than {seen}, which was seen: leave, and lock again")
    }
}

impl Error for Overtaken {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::NodeId;

    fn fence(number: u64, caller: u32, entry: u64) -> Fence {
        Fence { epoch: Epoch::called_by(number, NodeId(caller)), entry }
    }

    #[test]
    fn a_fence_is_ordered_by_epoch_then_caller_then_entry() {
        let first = Fence { epoch: Epoch::default(), entry: 99 };
        let order = [first, fence(1, 0, 5), fence(1, 1, 1), fence(1, 1, 2), fence(2, 0, 1)];
        assert!(order.is_sorted());
        assert_eq!(order[1].to_string(), "1.n0/5");
    }

    #[test]
    fn an_older_fence_is_refused_and_changes_nothing() {
        let mut cell = Fenced::new(0);
        for _ in 0..2 {
            *cell.write(fence(1, 0, 2)).expect("the same holder may write again") += 1;
        }
        let before = cell.clone();
        let overtaken = cell.write(fence(1, 0, 1)).expect_err("it is older");
        assert_eq!(
            overtaken.to_string(),
            "fence 1.n0/1 is older than 1.n0/2, which was seen: leave, and lock again"
        );
        assert_eq!(cell, before);
        assert_eq!(cell.into_inner(), 2);
    }

    #[test]
    fn among_several_holders_only_an_older_epoch_is_refused() {
        let mut cell = Fenced::for_several(());
        cell.admit(fence(1, 0, 2)).expect("nobody was here");
        cell.admit(fence(1, 0, 1)).expect("both may be inside");
        assert_eq!(cell.seen(), Some(fence(1, 0, 2)));
        cell.admit(fence(2, 0, 1)).expect("a later epoch");
        assert!(cell.admit(fence(1, 0, 3)).is_err());
    }
}
