//! What a drop-in mutex has of lock_api's by its own name.
//!
//! A drop-in mutex is a wrapper and dereferences to lock_api's. Methods are found that way, but not
//! paths such as `Mutex::lock(&mutex)` or `.map(Mutex::lock)`. So it forwards them.

/// The methods of lock_api's mutex, and serde's traits, for one drop-in type.
macro_rules! forward {
    ($mutex:ident, [$($bound:tt)*] [$($bare:tt)*], $raw:ident, $guard:ident, $with:ident) => {
        /// What lock_api's mutex has, so that its paths work here.
        impl<T: ?Sized, $($bound)*> $mutex<T, $($bare)*> {
            /// Waits for the lock.
            #[inline]
            pub fn lock(&self) -> $guard<'_, T, $($bare)*> {
                self.0.lock()
            }

            /// The lock, if nobody has to be waited for.
            #[inline]
            pub fn try_lock(&self) -> Option<$guard<'_, T, $($bare)*>> {
                self.0.try_lock()
            }

            /// Waits for the lock at most so long.
            #[cfg(feature = "std")]
            #[inline]
            pub fn try_lock_for(
                &self,
                timeout: std::time::Duration,
            ) -> Option<$guard<'_, T, $($bare)*>>
            where
                $raw<$($bare)*>: lock_api::RawMutexTimed<Duration = std::time::Duration>,
            {
                self.0.try_lock_for(timeout)
            }

            /// Waits for the lock until then.
            #[cfg(feature = "std")]
            #[inline]
            pub fn try_lock_until(
                &self,
                deadline: std::time::Instant,
            ) -> Option<$guard<'_, T, $($bare)*>>
            where
                $raw<$($bare)*>: lock_api::RawMutexTimed<Instant = std::time::Instant>,
            {
                self.0.try_lock_until(deadline)
            }

            /// Whether `try_lock` would fail now.
            #[inline]
            pub fn is_locked(&self) -> bool {
                self.0.is_locked()
            }

            /// The data, which nobody else can have now.
            #[inline]
            pub const fn get_mut(&mut self) -> &mut T {
                self.0.get_mut()
            }

            /// Where the data is.
            #[inline]
            pub const fn data_ptr(&self) -> *mut T {
                self.0.data_ptr()
            }
        }

        #[cfg(feature = "serde")]
        impl<T: ?Sized + serde::Serialize, $($bound)*> serde::Serialize for $mutex<T, $($bare)*> {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.0.lock().serialize(to)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, T: serde::Deserialize<'de>, $($bound)*> serde::Deserialize<'de>
            for $mutex<T, $($bare)*>
        {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                T::deserialize(from).map(Self::$with)
            }
        }
    };
}
pub(super) use forward;

/// `from` and `default` of a drop-in type whose parameters are not written out: those by default.
macro_rules! by_default {
    ($mutex:ident) => {
        impl<T> $mutex<T> {
            /// Puts `value` behind a lock, as `new`. The trait `From` has it for other parameters.
            #[allow(clippy::should_implement_trait, reason = "it does, for all parameters")]
            pub fn from(value: T) -> Self {
                Self::new(value)
            }

            /// The data's default behind a lock. The trait `Default` has it for other parameters.
            #[allow(clippy::should_implement_trait, reason = "it does, for all parameters")]
            pub fn default() -> Self
            where
                T: Default,
            {
                Self::new(T::default())
            }
        }
    };
}
pub(super) use by_default;
