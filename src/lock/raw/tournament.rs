//! The tournament (Peterson and Fischer 1977): a binary tree of two-seat locks.
//!
//! A contender climbs from its leaf to the root, and is inside when it has won the root.
//!
//! With `N` seats there are `N - 1` nodes, numbered from the root, 1, so that the children of `v`
//! are `2v` and `2v + 1`. Positions `N..2N` are the seats themselves: seat `s` enters at position
//! `N + s` and plays at each node above it, on the left if it comes from an even position and on
//! the right from an odd one. This gives a tree for every `N`, not only for powers of two. The
//! numbers of nodes that two seats play at differ by at most one.
//!
//! | state of a seat | meaning |
//! |---|---|
//! | holds no node | idle |
//! | holds the nodes from its leaf up to `v` | is playing at the parent of `v` |
//! | holds all nodes from its leaf to the root | inside |
//!
//! Invariants:
//! 1. At most one contender plays at a side of a node: it holds the node below.
//! 2. Nodes are released from the root down. From the leaf up, a neighbour could win the leaf,
//!    climb and play at a side that is still in use.
//!
//! The edges are those of the nodes. Each node carries the critical sections of every contender
//! that came through it, since a contender that releases it has released all nodes above before.
//!
//! Withdrawing is the same as releasing the nodes already won, from the top down.

use scopeguard::ScopeGuard;

use super::{
    Attendance, Peterson, Place, RawLock, Waiting, Withdrawn, array, fresh, unlocked,
    unlocked_at_first,
};

/// A tree of two-seat locks among `N` seats. The [layout](super::Layout) of its registers is that
/// of its nodes.
///
/// ```
/// use exclusion::lock::{Seated, raw::Tournament};
///
/// let mut cell = Seated::<Tournament<3>, _>::new(0);
/// let [mut a, mut b, mut c] = cell.seats();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *a.lock() += 1);
///     scope.spawn(move || *b.lock() += 1);
///     scope.spawn(move || *c.lock() += 1);
/// });
/// assert_eq!(cell.into_inner(), 3);
/// ```
///
/// # Fairness
/// No starvation. With [`Peterson`] nodes, once a contender plays at a node the other side passes
/// that node at most once before it; if it takes its steps promptly, at most `2^h - 1` others enter
/// before it, where `h` is the height of the tree. A contender that sleeps between two nodes can be
/// passed any number of times: no tournament bounds that.
///
/// A tournament without seats, or with nodes that do not have two, does not compile.
#[derive(Debug)]
pub struct Tournament<const N: usize, Node = Peterson> {
    /// Node `v` is at index `v`; index 0 is unused.
    nodes: [Node; N],
}

unlocked_at_first! { "tournament":
    [const N: usize] Tournament<N>,
    [const N: usize, Node: RawLock] Tournament<N, Node>
}

// SAFETY: the holder has won the root, and by invariant 1 the root's contract is kept.
unsafe impl<const N: usize, Node: RawLock> RawLock for Tournament<N, Node> {
    const SEATS: usize = {
        assert!(N > 0, "a tournament needs at least one seat");
        assert!(Node::SEATS == 2, "the nodes of a tournament have two seats");
        N
    };

    unlocked!(Self { nodes: array![fresh!(Node); N] });

    #[inline]
    unsafe fn acquire_among(
        &self,
        seat: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        let path = Path::of::<N>(seat);
        for level in 1..=path.height {
            let (node, side) = path.at(level);
            // SAFETY: we hold the nodes below this one.
            let withdraw =
                scopeguard::guard((), |()| unsafe { self.release_from(path, level - 1) });
            // SAFETY: by invariant 1 the side is ours: we hold the node below it, or it is our
            // leaf.
            unsafe { self.nodes[node].acquire(side, waiting)? };
            ScopeGuard::into_inner(withdraw);
        }
        Ok(())
    }

    #[inline]
    unsafe fn release(&self, seat: usize) {
        let path = Path::of::<N>(seat);
        // SAFETY: a contender that is inside holds all nodes of its path.
        unsafe { self.release_from(path, path.height) };
    }

    #[inline]
    fn is_idle(&self, seat: usize) -> bool {
        let path = Path::of::<N>(seat);
        // With a single seat there is nothing to hold.
        path.height == 0 || {
            let (leaf, side) = path.at(1);
            self.nodes[leaf].is_idle(side)
        }
    }

    fn places(&self, seat: usize, mut visit: impl FnMut(Place)) {
        let path = Path::of::<N>(seat);
        for level in 1..=path.height {
            let (node, side) = path.at(level);
            self.nodes[node].places(side, &mut visit);
        }
    }
}

impl<const N: usize, Node: RawLock> Tournament<N, Node> {
    /// Releases the nodes of `path` from `level` down to the leaf.
    ///
    /// # Safety
    /// The caller holds them.
    #[inline]
    unsafe fn release_from(&self, path: Path, level: u32) {
        for level in (1..=level).rev() {
            let (node, side) = path.at(level);
            // SAFETY: as promised by the caller.
            unsafe { self.nodes[node].release(side) };
        }
    }
}

/// The way from a seat to the root.
#[derive(Clone, Copy)]
struct Path {
    position: usize,
    height: u32,
}

impl Path {
    #[inline]
    fn of<const N: usize>(seat: usize) -> Self {
        assert!(seat < N, "seat {seat} of {N}");
        let position = N + seat;
        Self { position, height: position.ilog2() }
    }

    /// The node that is `level` above the seat, and the side we come from.
    #[inline]
    fn at(self, level: u32) -> (usize, usize) {
        (self.position >> level, (self.position >> (level - 1)) & 1)
    }
}

#[cfg(all(test, not(exclusion_loom)))]
mod tests {
    use super::*;
    extern crate std;
    use std::cell::RefCell;
    use std::collections::HashSet;
    use std::vec::Vec;

    fn paths<const N: usize>() -> Vec<Vec<(usize, usize)>> {
        (0..N)
            .map(|seat| {
                let path = Path::of::<N>(seat);
                (1..=path.height).map(|level| path.at(level)).collect()
            })
            .collect()
    }

    /// Each side of each node is reached from exactly one node below, or is one seat's leaf.
    fn is_a_tree<const N: usize>() {
        let mut sides = HashSet::new();
        for path in paths::<N>() {
            let mut below = None;
            for (node, side) in path {
                assert!((1..N).contains(&node), "node {node} of {N} seats");
                sides.insert((node, side));
                if let Some(below) = below {
                    assert_eq!((node, side), (below / 2, below % 2));
                }
                below = Some(node);
            }
            assert_eq!(below.unwrap_or(1), 1, "every path ends at the root");
        }
        assert_eq!(sides.len(), 2 * (N - 1));
    }

    #[test]
    fn any_number_of_seats_makes_a_tree() {
        is_a_tree::<1>();
        is_a_tree::<2>();
        is_a_tree::<3>();
        is_a_tree::<4>();
        is_a_tree::<5>();
        is_a_tree::<6>();
        is_a_tree::<7>();
        is_a_tree::<8>();
        is_a_tree::<13>();
        is_a_tree::<64>();
    }

    #[test]
    fn the_leaves_of_a_power_of_two_are_where_the_source_puts_them() {
        for (seat, path) in paths::<8>().into_iter().enumerate() {
            assert_eq!(path[0], (4 + seat / 2, seat % 2));
            assert_eq!(path.len(), 3);
        }
    }

    std::thread_local!(static RELEASED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) });

    /// A node that notes when it is released.
    struct Noting(Peterson);

    // SAFETY: Peterson's lock.
    unsafe impl RawLock for Noting {
        const SEATS: usize = 2;
        const UNLOCKED: Self = Self(<Peterson>::UNLOCKED);

        unsafe fn acquire_among(
            &self,
            side: usize,
            present: &impl Attendance,
            waiting: &impl Waiting,
        ) -> Result<(), Withdrawn> {
            // SAFETY: the same contract.
            unsafe { self.0.acquire_among(side, present, waiting) }
        }

        unsafe fn release(&self, side: usize) {
            RELEASED.with_borrow_mut(|released| released.push(core::ptr::from_ref(self).addr()));
            // SAFETY: the same contract.
            unsafe { self.0.release(side) };
        }

        fn is_idle(&self, side: usize) -> bool {
            self.0.is_idle(side)
        }

        fn places(&self, side: usize, visit: impl FnMut(Place)) {
            self.0.places(side, visit);
        }
    }

    /// The numbers of the nodes that `run` releases, in order.
    fn releases(run: impl FnOnce(&Tournament<8, Noting>)) -> Vec<usize> {
        let tree = Tournament::<8, Noting>::UNLOCKED;
        RELEASED.take();
        run(&tree);
        let number_of = |address| {
            (1..8).find(|&v| core::ptr::from_ref(&tree.nodes[v]).addr() == address).unwrap()
        };
        RELEASED.take().into_iter().map(number_of).collect()
    }

    #[test]
    fn nodes_are_released_from_the_root_down() {
        let released = releases(|tree| {
            // SAFETY: nobody else uses the tree.
            unsafe {
                assert!(tree.try_acquire(5));
                tree.release(5);
            }
        });
        assert_eq!(released, [1, 3, 6]);
    }

    #[test]
    fn who_withdraws_releases_what_it_won_from_the_top_down() {
        let released = releases(|tree| {
            // SAFETY: nobody else uses the tree, and seats 0 and 5 meet at the root.
            unsafe {
                assert!(tree.try_acquire(0));
                assert!(!tree.try_acquire(5));
            }
        });
        assert_eq!(released, [3, 6]);
    }
}
