//! What a resource guards, and how users that are inside reach it.

use std::ops::{Deref, DerefMut};

use crate::lock::sync::threads::{ExclusiveAccess, ExclusiveCell, SharedAccess, SharedCell};
use crate::message::{Exclusive, Protocol, Shared};

/// How the data is kept for a kind of [`Access`](crate::message::Access).
pub trait Guarded: 'static {
    /// Where the data is.
    type Cell<T>;

    /// The data, for a user that is inside.
    type Inside<'a, T: 'a>: Deref<Target = T>;

    /// Puts the data away.
    fn guard<T>(data: T) -> Self::Cell<T>;

    /// Reaches for the data. None if it is in use after all: the protocol has let in too many.
    fn enter<T>(cell: &Self::Cell<T>) -> Option<Self::Inside<'_, T>>;

    /// The data back.
    fn into_inner<T>(cell: Self::Cell<T>) -> T;
}

impl Guarded for Exclusive {
    type Cell<T> = ExclusiveCell<T>;
    type Inside<'a, T: 'a> = ExclusiveAccess<'a, T>;

    fn guard<T>(data: T) -> ExclusiveCell<T> {
        ExclusiveCell::new(data)
    }

    fn enter<T>(cell: &ExclusiveCell<T>) -> Option<ExclusiveAccess<'_, T>> {
        cell.enter()
    }

    fn into_inner<T>(cell: ExclusiveCell<T>) -> T {
        cell.into_inner()
    }
}

impl Guarded for Shared {
    type Cell<T> = SharedCell<T>;
    type Inside<'a, T: 'a> = SharedAccess<'a, T>;

    fn guard<T>(data: T) -> SharedCell<T> {
        SharedCell::new(data)
    }

    fn enter<T>(cell: &SharedCell<T>) -> Option<SharedAccess<'_, T>> {
        cell.enter()
    }

    fn into_inner<T>(cell: SharedCell<T>) -> T {
        cell.into_inner()
    }
}

/// Where a cluster of this protocol keeps data of this type. It can be shared among threads if the
/// data can be sent, and also be shared itself where several may be inside.
pub type DataOf<P, T> = <<P as Protocol>::Access as Guarded>::Cell<T>;

/// The data, for a user of this protocol that is inside.
pub(super) type InsideOf<'a, P, T> = <<P as Protocol>::Access as Guarded>::Inside<'a, T>;

/// The data of an exclusive protocol, to change.
pub(super) fn data_mut<'a, P, T>(inside: &'a mut InsideOf<'_, P, T>) -> &'a mut T
where
    P: Protocol<Access = Exclusive>,
{
    inside.deref_mut()
}
