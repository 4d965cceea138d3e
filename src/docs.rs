//! The book: how the locks work, the distributed algorithms, how both are verified, and which lock
//! to take when.
//!
//! The pages are the files of `docs/`, which can also be read on a code host. A link of a
//! page names a label. At its end the page says which file the label means. Here the same labels
//! are defined first, as items of the crate, and in Markdown the first definition counts.

/// Labels that are named like the items they mean: `parent: item, item;`.
macro_rules! items {
    ($($parent:literal: $($item:literal),+;)*) => {
        concat!($($("[`", $item, "`]: ", $parent, $item, "\n",)+)*)
    };
}

/// Labels that are named otherwise than what they mean: `label => target;`.
macro_rules! targets {
    ($($label:literal => $target:literal;)*) => {
        concat!($("[`", $label, "`]: ", $target, "\n",)*)
    };
}

macro_rules! of_locks {
    () => {
        items! {
            "crate::": "BakeryMutex", "BakeryReentrantMutex", "BakerySemaphore", "Bypass",
                "TournamentMutex";
            "crate::lock::": "Leased", "Seat", "Seated", "raw", "wait";
            "crate::lock::raw::": "Bakery", "BlackWhiteBakery", "Packed", "Padded", "Peterson",
                "PetersonSwap", "Priority", "RawLock", "RwBakery", "Tournament", "Waiting",
                "Withdrawn";
            "crate::docs::": "cost", "mutants", "parity", "shared_memory", "verification", "which_lock";
        }
    };
}

macro_rules! of_locks_by_another_name {
    () => {
        targets! {
            "BakeryMutex<T, Bypass>" => "crate::BakeryMutex#bypass";
            "Seated<Peterson, T>" => "crate::lock::Seated";
            "seats" => "crate::lock::Seated::seats";
            "take_seats" => "crate::lock::Seated::take_seats";
            "seat_unchecked" => "crate::lock::Seated::seat_unchecked";
            "lock_unless" => "crate::lock::Seat::lock_unless";
            "cost.svg" =>
                "https://raw.githubusercontent.com/exclusion-rs/exclusion/main/docs/cost.svg";
        }
    };
}

#[cfg(feature = "message")]
macro_rules! of_messages {
    () => {
        items! {
            "crate::": "message";
            "crate::docs::": "elections", "explored", "failures", "messages", "proofs",
                "remedies";
            "crate::message::": "Bully", "BullyHalt", "BullyHalt::gated", "ChangRoberts", "Echo",
                "Elected", "Elected::planned", "Election", "Epoch", "Extinction", "Graph", "LeLann",
                "Leadership", "Renamed", "RingElection", "Witness";
            "crate::message::": "Detector", "Detector::reliable", "Detector::unreliable", "Fence",
                "Fenced", "Link", "Link::life", "Recovering", "Recovering::gated",
                "Recovering::promised";
            "crate::message::": "CarvalhoRoucairol", "CentralCoordinator", "Claims", "Exclusive",
                "Input", "Lamport", "Machine", "Maekawa", "Majority", "Outbox", "Output", "Phase", "Protocol",
                "RaymondK", "RicartAgrawala", "Shared", "SinghalDynamic", "actor", "quorum",
                "registry", "sim", "step", "step_lock";
            "crate::message::": "BantaEfficient", "BantaFair", "BantaK", "BantaSimple",
                "NaimiTrehel", "NaimiTrehelQueue", "Raymond", "RicartAgrawalaToken",
                "SinghalHeuristic", "SuzukiKasami", "TokenRing";
            "crate::message::": "Claims::bypass", "Claims::cost", "Claims::invariant",
                "Claims::order", "Claims::token", "Machine::CHANNELS",
                "Protocol::WITHDRAWS";
            "crate::message::fault::": "remedy";
            "crate::message::fault::remedy::": "MendedRing", "Regenerating", "Rerooting",
                "Succession", "Surviving";
            "crate::message::banta_efficient::": "Late::Hardened", "Late::Strict";
            "crate::message::sim::": "Delay", "Report", "Simulation::patience", "Workload";
            "crate::message::actor::": "Assembly", "Builder::period", "Builder::traced", "Cluster::shutdown",
                "Down", "Handle::lock_timeout";
        }
    };
}

/// A link to an item that this build leaves out leads to docs.rs.
#[cfg(not(feature = "message"))]
macro_rules! of_messages {
    () => {
        targets! {
            "elections" => "https://docs.rs/exclusion/latest/exclusion/docs/elections/index.html";
            "explored" => "https://docs.rs/exclusion/latest/exclusion/docs/explored/index.html";
            "failures" => "https://docs.rs/exclusion/latest/exclusion/docs/failures/index.html";
            "messages" => "https://docs.rs/exclusion/latest/exclusion/docs/messages/index.html";
            "proofs" => "https://docs.rs/exclusion/latest/exclusion/docs/proofs/index.html";
            "remedies" => "https://docs.rs/exclusion/latest/exclusion/docs/remedies/index.html";
        }
    };
}

#[cfg(all(feature = "check", not(exclusion_loom)))]
macro_rules! of_the_checker {
    () => {
        items! {
            "crate::message::": "check";
            "crate::message::check::": "Check::as_claimed", "Check::election";
        }
    };
}

/// A link to an item that this build leaves out leads to docs.rs.
#[cfg(not(all(feature = "check", not(exclusion_loom))))]
macro_rules! of_the_checker {
    () => {
        targets! {
            "check" => "https://docs.rs/exclusion/latest/exclusion/message/check/index.html";
            "Check::as_claimed" =>
                "https://docs.rs/exclusion/latest/exclusion/message/check/struct.Check.html";
            "Check::election" =>
                "https://docs.rs/exclusion/latest/exclusion/message/check/struct.Check.html";
        }
    };
}

/// Files that are no part of the library.
macro_rules! of_the_repository {
    () => {
        targets! {
            "own_protocol.rs" =>
                "https://github.com/exclusion-rs/exclusion/blob/main/examples/own_protocol.rs";
            "split_brain.svg" =>
                "https://raw.githubusercontent.com/exclusion-rs/exclusion/main/docs/split_brain.svg";
        }
    };
}

macro_rules! labels {
    () => {
        concat!(
            of_locks!(),
            of_locks_by_another_name!(),
            of_messages!(),
            of_the_checker!(),
            of_the_repository!(),
            "\n"
        )
    };
}

#[doc = labels!()]
#[doc = include_str!("../docs/shared-memory.md")]
pub mod shared_memory {}

#[cfg(feature = "message")]
#[doc = labels!()]
#[doc = include_str!("../docs/messages.md")]
pub mod messages {}

#[cfg(feature = "message")]
#[doc = labels!()]
#[doc = include_str!("../docs/elections.md")]
pub mod elections {}

#[cfg(feature = "message")]
#[doc = labels!()]
#[doc = include_str!("../docs/failures.md")]
pub mod failures {}

#[cfg(feature = "message")]
#[doc = labels!()]
#[doc = include_str!("../docs/remedies.md")]
pub mod remedies {}

#[doc = labels!()]
#[doc = include_str!("../docs/verification.md")]
pub mod verification {}

#[cfg(feature = "message")]
#[doc = labels!()]
#[doc = include_str!("../docs/explored.md")]
pub mod explored {}

#[cfg(feature = "message")]
#[doc = labels!()]
#[doc = include_str!("../docs/proofs.md")]
pub mod proofs {}

#[doc = labels!()]
#[doc = include_str!("../docs/which-lock.md")]
pub mod which_lock {}

#[doc = labels!()]
#[doc = include_str!("../docs/parity.md")]
pub mod parity {}

#[doc = labels!()]
#[doc = include_str!("../docs/cost.md")]
pub mod cost {}

#[doc = labels!()]
#[doc = include_str!("../docs/mutants.md")]
pub mod mutants {}

/// The examples of the README are tested too.
#[cfg(all(doctest, feature = "message"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(all(test, feature = "message"))]
mod tests {
    const PAGES: [&str; 11] = [
        include_str!("../docs/shared-memory.md"),
        include_str!("../docs/messages.md"),
        include_str!("../docs/elections.md"),
        include_str!("../docs/failures.md"),
        include_str!("../docs/remedies.md"),
        include_str!("../docs/verification.md"),
        include_str!("../docs/explored.md"),
        include_str!("../docs/proofs.md"),
        include_str!("../docs/which-lock.md"),
        include_str!("../docs/parity.md"),
        include_str!("../docs/cost.md"),
    ];

    /// The labels that a text defines, and what they mean.
    fn definitions(text: &str) -> impl Iterator<Item = (&str, &str)> {
        text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "))
    }

    #[test]
    fn every_label_that_a_page_defines_as_a_file_is_defined_here_first() {
        let here: Vec<_> = definitions(labels!()).map(|(label, _)| label).collect();
        for (label, target) in PAGES.into_iter().flat_map(definitions) {
            let known = target.starts_with("https://") || here.contains(&label);
            assert!(known, "{label} would lead to {target}, which is no page of the documentation");
        }
    }

    #[test]
    fn no_label_is_defined_twice() {
        let here: Vec<_> = definitions(labels!()).map(|(label, _)| label).collect();
        for (position, label) in here.iter().enumerate() {
            assert!(!here[..position].contains(label), "{label} is");
        }
    }
}
