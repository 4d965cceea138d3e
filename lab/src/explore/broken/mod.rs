//! Algorithms that are broken on purpose, each in one rule: to see that the
//! [checker](exclusion::message::check) notices.
//!
//! Each is short, checks its inputs only where it must, and is a model of the smallest cluster that
//! shows the flaw. Each also exists with that one rule mended, and nothing else changed. The mended
//! one holds, so the counterexample is due to the flaw.
//!
//! ```
//! use exclusion::message::check::{Checker, Model};
//! use lab::explore::broken::permission::ricart_agrawala_ties;
//!
//! let checker = ricart_agrawala_ties(true).checker().spawn_bfs().join();
//! assert!(checker.discovery("mutual exclusion").is_some());
//! ricart_agrawala_ties(false).checker().spawn_bfs().join().assert_properties();
//! ```

pub mod altered;
pub mod banta;
pub mod banta_fair;
pub mod elections;
pub mod link;
pub mod maekawa;
pub mod maekawa_voting;
pub mod majority;
pub mod permission;
pub mod raymond_k;
pub mod recovery;
pub mod registers;
pub mod remedies;
pub mod singhal;
pub mod started;
pub mod token;
pub mod waves;

use crate::explore::drafts;
use crate::explore::exploration::{Explored, ModelVisitor, Shown};

/// An algorithm that is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    /// What it is called.
    pub name: &'static str,
    /// What is wrong with it.
    pub why: &'static str,
    /// The property that it violates.
    pub violates: &'static str,
}

impl Broken {
    /// The variant of this name, if there is one.
    pub fn named(name: &str) -> Option<&'static Self> {
        BROKEN.iter().find(|broken| broken.name == name)
    }

    /// Whether it was refuted in what it violates.
    pub fn is_refuted(&self, explored: &Explored) -> bool {
        self.counterexample(explored).is_some()
    }

    /// The path to where it does not hold.
    pub fn counterexample<'a>(&self, explored: &'a Explored) -> Option<&'a Shown> {
        let finding = explored.refuted().find(|finding| finding.property == self.violates);
        finding.and_then(|finding| finding.counterexample.as_ref())
    }

    /// A row of the table in the documentation.
    pub fn markdown(&self, explored: &Explored) -> String {
        let Self { name, why, violates } = self;
        let Explored { nodes, requests, states, .. } = explored;
        let steps = self.counterexample(explored).map_or(0, Shown::steps);
        format!("| `{name}` | {why} | {nodes} | {requests} | {violates} | {steps} | {states} |")
    }
}

macro_rules! broken {
    ($(
        $name:literal is $flawed:expr, mended $mended:expr, violates $property:literal:
            $why:literal;
    )*) => {
        /// Every algorithm that is broken.
        pub const BROKEN: &[Broken] =
            &[$(Broken { name: $name, why: $why, violates: $property }),*];

        /// Shows the model of this name to the visitor. None if there is no such model.
        pub fn with_broken<V: ModelVisitor>(name: &str, visitor: V) -> Option<V::Output> {
            match name {
                $($name => Some(visitor.visit($name, $flawed)),)*
                _ => None,
            }
        }

        /// Shows the mended model of this name to the visitor. None if there is no such model.
        pub fn with_mended<V: ModelVisitor>(name: &str, visitor: V) -> Option<V::Output> {
            match name {
                $($name => Some(visitor.visit($name, $mended)),)*
                _ => None,
            }
        }
    };
}

/// Variants whose constructor takes whether to be flawed.
macro_rules! switched {
    (
        $($name:literal is $make:path, violates $property:literal: $why:literal;)*
        also $($rest:tt)*
    ) => {
        broken! {
            $($name is $make(true), mended $make(false), violates $property: $why;)*
            $($rest)*
        }
    };
}

switched! {
    "bakery_hasty" is registers::bakery_hasty, violates "mutual exclusion":
        "nobody says that it is choosing";
    "bakery_ties" is registers::bakery_ties, violates "mutual exclusion":
        "of equal tickets both go first";
    "bakery_polite" is registers::bakery_polite, violates "no deadlock":
        "of equal tickets none goes first";
    "bakery_backwards" is registers::bakery_backwards, violates "first come, first served":
        "the higher ticket goes first";
    "rw_bakery_hasty" is registers::rw_bakery_hasty, violates "mutual exclusion":
        "a reader does not wait for a seat that is choosing";
    "rw_bakery_ties" is registers::rw_bakery_ties, violates "mutual exclusion":
        "a reader and a writer of the same number both go first";
    "rw_bakery_readers_first" is registers::rw_bakery_readers_first,
        violates "first come, first served":
        "readers go before all writers";
    "rw_bakery_miscounted" is registers::rw_bakery_miscounted, violates "mutual exclusion":
        "one reader more than may is let in";
    "black_white_hasty" is registers::black_white_hasty, violates "mutual exclusion":
        "nobody says that it is choosing a colour";
    "tournament_leaf_first" is registers::tournament_leaf_first, violates "mutual exclusion":
        "the tree is released from the leaf";
    "ricart_agrawala_ties" is permission::ricart_agrawala_ties, violates "mutual exclusion":
        "requests of the same time confirm each other";
    "ricart_agrawala_ties_held" is permission::ricart_agrawala_ties_held, violates "no deadlock":
        "requests of the same time hold each other back";
    "ricart_agrawala_own_number" is permission::ricart_agrawala_own_number, violates "bypass":
        "a node does not count on from its own numbers";
    "ricart_agrawala_youngest" is permission::ricart_agrawala_youngest, violates "order":
        "the younger of two requests goes first";
    "carvalho_roucairol_empty" is permission::carvalho_roucairol_empty, violates "mutual exclusion":
        "at first everybody has everybody's permission";
    "carvalho_roucairol_one_request" is permission::carvalho_roucairol_one_request,
        violates "no deadlock":
        "a permission given away to an older request is not asked for again";
    "maekawa_1985" is maekawa::maekawa_1985, violates "no deadlock":
        "a waiting request that an older one comes before is not told";
    "majority_half" is majority::majority_half, violates "mutual exclusion":
        "half of the nodes are enough";
    "majority_early_release" is majority::majority_early_release, violates "invariant":
        "a RELEASE that comes before its REQUEST is forgotten";
    "majority_stale_confirm" is majority::majority_stale_confirm, violates "mutual exclusion":
        "a CONFIRM of a request that is over counts for the next";
    "lamport_unordered" is permission::lamport_unordered, violates "mutual exclusion":
        "channels do not keep order";
    "raymond_k_combined" is raymond_k::raymond_k_combined, violates "mutual exclusion":
        "an answer at once also answers a younger request that is held back";
    "raymond_k_late_answer" is raymond_k::raymond_k_late_answer, violates "mutual exclusion":
        "an answer that comes late counts for the next request";
    "naimi_trehel_forwarding" is token::naimi_trehel_forwarding, violates "no deadlock":
        "a request that finds the token resting is lost";
    "suzuki_kasami_stack" is token::suzuki_kasami_stack, violates "bypass":
        "the token's queue is a stack";
    "suzuki_kasami_kept" is token::suzuki_kasami_kept, violates "one token":
        "a node that sends the token on keeps it too";
    "suzuki_kasami_stale" is token::suzuki_kasami_stale, violates "expected inputs only":
        "a request is served whatever its number";
    "ricart_agrawala_token_lowest" is token::ricart_agrawala_token_lowest, violates "bypass":
        "the next is looked for from the lowest number";
    "raymond_greedy" is token::raymond_greedy, violates "bypass":
        "a node that has the token serves itself first";
    "banta_4_as_printed" is banta::banta_4_as_printed, violates "no deadlock":
        "old news of the good site are believed";
    "banta_holder_asks" is banta::banta_holder_asks, violates "no deadlock":
        "a site asks for the token that it has";
    "banta_queue_copied" is banta::banta_queue_copied, violates "expected inputs only":
        "requests are copied to the token's queue, and stay where they were";
    "banta_fair_twice" is banta_fair::banta_fair_twice, violates "expected inputs only":
        "a request that is on the token's queue is put there again";
    "banta_5_strict_without_tmax" is banta::banta_5_strict_without_tmax, violates "no deadlock":
        "a message takes longer than a period";
    "banta_6_semaphore" is banta::banta_6_semaphore, violates "no deadlock":
        "the semaphore is never restored";
    "banta_6_k_releases" is banta::banta_6_k_releases, violates "no deadlock":
        "the good site waits for k to leave, where fewer have entered";
    "banta_6_early_release" is banta::banta_6_early_release, violates "no deadlock":
        "a site that is told of a leaving before the token comes forgets it";
    "banta_6_numbers" is banta::banta_6_numbers, violates "no deadlock":
        "of two sites the lower number is told, not the one that comes first";
    "bully_one_period" is elections::bully_one_period, violates "agreement":
        "a node waits for one period instead of two";
    "bully_without_second_timer" is elections::bully_without_second_timer, violates "all can settle":
        "a node that was answered waits for ever";
    "bully_leads_at_once" is elections::bully_leads_at_once, violates "agreement":
        "a node that comes back leads without asking for the epoch";
    "bully_last_coordinator" is elections::bully_last_coordinator, violates "all can settle":
        "without epochs the last coordinator is believed, not the greatest epoch";
    "bully_old_view" is elections::bully_old_view, violates "all can settle":
        "a node that recovers keeps the leader that it had";
    "bully_halt_without_lives" is elections::bully_halt_without_lives, violates "one leader":
        "a node that comes back has forgotten its epoch, and takes an answer to its former life";
    "bully_halt_split_brain" is elections::bully_halt_split_brain, violates "one leader":
        "the network is cut, and nobody counts who acknowledges";
    "bully_majority_told_late" is elections::bully_majority_told_late, violates "one leader":
        "a leader that is cut off is told later than the others";
    "ring_orphan" is elections::ring_orphan, violates "all can settle":
        "only its caller takes a list off the ring";
    "ring_without_epochs" is elections::ring_without_epochs, violates "all can settle":
        "of two lists the last counts, not the greater epoch";
    "ring_drops_late_list" is elections::ring_drops_late_list, violates "all can settle":
        "a list that comes late is dropped, and the one that is under way is not sent again";
    "ring_dead_winner" is elections::ring_dead_winner, violates "all can settle":
        "a winner that is known to be down is followed";
    "le_lann_unordered" is elections::le_lann_unordered, violates "agreement":
        "channels do not keep order";
    "echo_counts_messages" is elections::echo_counts_messages, violates "invariant":
        "a node counts messages, not neighbours";
    "extinction_count_kept" is elections::extinction_count_kept, violates "invariant":
        "what was heard of a smaller wave counts for the greater";
    "raymond_hasty" is started::raymond_hasty, violates "expected inputs only":
        "the lock starts while parents still change";
    "central_empty_desk" is started::central_empty_desk, violates "mutual exclusion":
        "a coordinator that comes back forgets who is inside";
    "chang_roberts_crash" is elections::chang_roberts_crash, violates "all can settle":
        "a node goes down";
    "le_lann_crash" is elections::le_lann_crash, violates "all can settle":
        "a node goes down";
    "echo_crash" is elections::echo_crash, violates "all can settle":
        "a node goes down";
    "extinction_crash" is elections::extinction_crash, violates "all can settle":
        "a node goes down";
    "chang_roberts_recovery" is elections::chang_roberts_recovery, violates "all can settle":
        "a node goes down, and has forgotten all when it comes back";
    "le_lann_recovery" is elections::le_lann_recovery, violates "all can settle":
        "a node goes down, and has forgotten all when it comes back";
    "echo_recovery" is elections::echo_recovery, violates "all can settle":
        "a node goes down, and has forgotten all when it comes back";
    "extinction_recovery" is elections::extinction_recovery, violates "all can settle":
        "a node goes down, and has forgotten all when it comes back";
    "recovery_untold" is recovery::recovery_untold, violates "all can be served":
        "nobody is told that a node is down";
    "recovery_without_promise" is recovery::recovery_without_promise,
        violates "mutual exclusion":
        "a node that was halted goes on with the old lock until the new one is installed";
    "recovery_without_epoch" is recovery::recovery_without_epoch,
        violates "expected inputs only":
        "a token of the old view is taken for one of the new";
    "recovery_minority" is recovery::recovery_minority, violates "invariant":
        "a node that is cut off makes a view of its own";
    "link_without_filter" is link::link_without_filter, violates "mutual exclusion":
        "what has come before is taken once more";
    "link_without_lives" is link::link_without_lives, violates "all can be served":
        "what a node says after a restart is taken for what it said before";
    "carvalho_roucairol_unnoticed" is remedies::carvalho_roucairol_unnoticed,
        violates "mutual exclusion":
        "a permission is taken without word that its owner is down";
    "majority_dead_votes" is remedies::majority_dead_votes, violates "all can be served":
        "arbiters keep the vote of a candidate that is down";
    "succession_empty_desk" is remedies::succession_empty_desk, violates "mutual exclusion":
        "a coordinator that succeeds another begins with an empty desk";
    "suzuki_kasami_made_early" is remedies::suzuki_kasami_made_early,
        violates "mutual exclusion":
        "the token is made anew before the others have reported";
    also
    "echo_two_initiators" is elections::echo_two_initiators(),
        mended elections::extinction_two_initiators(), violates "invariant":
        "two initiators are not told apart";
    "bully_split_brain" is elections::bully_split_brain(),
        mended elections::bully_majority(), violates "one leader":
        "the network is cut, and each half elects";
    "maekawa_voting" is maekawa::maekawa_voting(), mended maekawa::maekawa_remedied(),
        violates "no deadlock":
        "nobody gives a vote back before it has been inside";
    "singhal_heuristic_as_published" is singhal::singhal_heuristic_as_published(),
        mended singhal::singhal_heuristic_remedied(), violates "no deadlock":
        "the token makes nodes forget a request that is still in flight";
    "banta_first_draft" is drafts::first_draft(), mended drafts::remembered(),
        violates "no deadlock":
        "a request that comes second, or finds no token, is forgotten";
    "banta_basic" is drafts::basic(), mended drafts::passed_on(), violates "no deadlock":
        "a request that comes after the token has left is kept where it is";
}
