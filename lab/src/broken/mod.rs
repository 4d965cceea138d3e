//! Algorithms that are wrong on purpose, each in one rule: to see that the [checker](exclusion::check) notices.
//!
//! Each is as short as can be, has no checks of its inputs beyond what it needs, and comes as a [`Check`] of the smallest
//! cluster that shows what is wrong.
//!
//! ```
//! use exclusion::check::{Checker, Model};
//! use lab::broken::permission::ricart_agrawala_ties;
//!
//! let checker = ricart_agrawala_ties().checker().spawn_bfs().join();
//! assert!(checker.discovery("mutual exclusion").is_some());
//! ```

pub mod banta;
pub mod maekawa;
pub mod permission;
pub mod singhal;
pub mod token;

use exclusion::check::Check;
use exclusion::protocol::Protocol;

/// An algorithm that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    /// What it is called.
    pub name: &'static str,
    /// What is wrong with it.
    pub why: &'static str,
    /// The properties that it violates.
    pub violates: &'static [&'static str],
}

/// Does something with a check, whatever its algorithm.
pub trait BrokenVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P>(self, check: Check<P>) -> Self::Output
    where
        P: Protocol<Message: Send + Sync> + Send + Sync + 'static;
}

macro_rules! broken {
    (
        $($name:literal is $make:path: $why:literal, violates $($property:literal),+;)*
        fair: $($fair:literal is $make_fair:path;)*
    ) => {
        /// Every algorithm that is wrong.
        pub const BROKEN: &[Broken] =
            &[$(Broken { name: $name, why: $why, violates: &[$($property),+] }),*];

        /// The right ones beside those that break the bound on bypassing, with the same bound.
        pub const FAIR: &[&str] = &[$($fair),*];

        /// Does something with the check of this name. None if there is no such.
        pub fn visit<V: BrokenVisitor>(name: &str, visitor: V) -> Option<V::Output> {
            match name {
                $($name => Some(visitor.visit($make())),)*
                $($fair => Some(visitor.visit($make_fair())),)*
                _ => None,
            }
        }
    };
}

broken! {
    "ricart_agrawala_ties" is permission::ricart_agrawala_ties:
        "requests of the same time confirm each other", violates "mutual exclusion";
    "ricart_agrawala_ties_held" is permission::ricart_agrawala_ties_held:
        "requests of the same time hold each other back", violates "no dead end";
    "carvalho_roucairol_empty" is permission::carvalho_roucairol_empty:
        "at first everybody has everybody's permission", violates "mutual exclusion";
    "carvalho_roucairol_one_request" is permission::carvalho_roucairol_one_request:
        "a permission given away to an older request is not asked for again", violates "no dead end";
    "maekawa_voting" is maekawa::maekawa_voting:
        "nobody gives a vote back before it has been inside", violates "no dead end";
    "maekawa_1985" is maekawa::maekawa_1985:
        "a waiting request that an older one comes before is not told", violates "no dead end";
    "lamport_unordered" is permission::lamport_unordered:
        "channels do not keep order", violates "mutual exclusion";
    "raymond_k_combined" is permission::raymond_k_combined:
        "an answer at once also answers a younger request that is held back", violates "mutual exclusion";
    "naimi_trehel_forwarding" is token::naimi_trehel_forwarding:
        "a request that finds the token resting is lost", violates "no dead end";
    "suzuki_kasami_stack" is token::suzuki_kasami_stack:
        "the token's queue is a stack", violates "bypass";
    "ricart_agrawala_token_lowest" is token::ricart_agrawala_token_lowest:
        "the next is looked for from the lowest number", violates "bypass";
    "raymond_greedy" is token::raymond_greedy:
        "a node that has the token serves itself first", violates "bypass";
    "singhal_heuristic_as_published" is singhal::singhal_heuristic_as_published:
        "the token makes nodes forget a request that is still on its way", violates "no dead end";
    "banta_4_as_printed" is banta::banta_4_as_printed:
        "old news of the good site are believed", violates "no dead end";
    "banta_5_strict_without_tmax" is banta::banta_5_strict_without_tmax:
        "a message takes longer than a period", violates "no dead end";
    "banta_6_semaphore" is banta::banta_6_semaphore:
        "the semaphore is never restored", violates "no dead end";
    "banta_6_k_releases" is banta::banta_6_k_releases:
        "the good site waits for k to leave, where fewer have entered", violates "no dead end";
    "banta_queue_copied" is banta::banta_queue_copied:
        "requests are copied to the token's queue, and stay where they were", violates "expected inputs only";
    fair:
    "suzuki_kasami_stack_fair" is token::suzuki_kasami_stack_fair;
    "ricart_agrawala_token_lowest_fair" is token::ricart_agrawala_token_lowest_fair;
    "raymond_greedy_fair" is token::raymond_greedy_fair;
}
