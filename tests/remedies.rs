//! Remedies of single algorithms: one crash at every step, and what the survivors make of it.
#![cfg(feature = "check")]

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use exclusion::message::check::{Check, Checker, Model, Outcome};
use exclusion::message::fault::remedy::{
    MendedRing, Regenerating, Rerooting, Succession, Surviving,
};
use exclusion::message::{
    BullyHalt, CarvalhoRoucairol, Lamport, Maekawa, Majority, NaimiTrehel, NaimiTrehelQueue,
    NodeId, Protocol, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, RingElection,
    SinghalDynamic, SuzukiKasami,
};

/// With one crash at every step: exclusion among the living, no refusal, and from every state all
/// who wait can be served, though nobody asks anew and no more befalls them. Says how many states
/// there are.
fn survives<P>(check: Check<P>) -> usize
where
    P: Protocol<Message: Send + Sync> + Send + Sync + 'static,
{
    let check = check.crashes(1).serving_all();
    let checker = check.clone().checker().spawn_bfs().join();
    checker.assert_properties();
    let progress = check.progress().expect("it claims so");
    let stuck = progress.find_stuck(&check, 4_000_000).expect("few enough states");
    if let Some(path) = stuck {
        let actions: Vec<_> = path.into_actions().iter().map(ToString::to_string).collect();
        panic!("stuck after {actions:#?}");
    }
    checker.unique_state_count()
}

macro_rules! survive {
    ($($test:ident: $nodes:expr, $requests:expr;)*) => {
        $(#[test]
        fn $test() {
            let mut check = Check::new($nodes);
            for (node, times) in (0..).zip($requests) {
                check = check.requests_of(NodeId(node), times);
            }
            let states = survives(check);
            eprintln!("{}: {states} states", stringify!($test));
        })*
    };
}

survive! {
    ricart_and_agrawala_drop_the_dead: Surviving::cluster(RicartAgrawala::cluster(3).unwrap()), [1, 1, 1];
    ricart_and_agrawala_ask_the_dead_no_more: Surviving::cluster(RicartAgrawala::cluster(3).unwrap()), [2, 1, 0];
    lamport_drops_the_dead: Surviving::cluster(Lamport::cluster(3).unwrap()), [1, 1, 0];
    lamport_asks_the_dead_no_more: Surviving::cluster(Lamport::cluster(3).unwrap()), [2, 0, 1];
    carvalho_and_roucairol_take_the_permissions: Surviving::cluster(CarvalhoRoucairol::cluster(3).unwrap()), [1, 1, 1];
    carvalho_and_roucairol_keep_them: Surviving::cluster(CarvalhoRoucairol::cluster(3).unwrap()), [2, 1, 0];
    singhal_asks_the_dead_no_more: Surviving::cluster(SinghalDynamic::cluster(3).unwrap()), [1, 1, 1];
    raymond_counts_the_dead_as_consenting: Surviving::cluster(RaymondK::cluster(3, 2).unwrap()), [1, 1, 1];
    maekawa_frees_the_votes_of_the_dead: Surviving::cluster(Maekawa::grid(3).unwrap()), [1, 1, 1];
    maekawa_asks_all_that_live: Surviving::cluster(Maekawa::grid(3).unwrap()), [2, 1, 0];
    maekawa_frees_votes_in_a_square: Surviving::cluster(Maekawa::grid(4).unwrap()), [1, 1, 0, 0];
    majorities_free_the_votes_of_the_dead: Surviving::cluster(Majority::cluster(3).unwrap()), [1, 1, 0];
    a_coordinator_succeeds_another: Succession::cluster(BullyHalt::cluster(3).unwrap()), [1, 1, 0];
    a_coordinator_succeeds_one_that_was_inside:
        Succession::cluster(BullyHalt::cluster(3).unwrap()), [0, 1, 1];
    a_coordinator_succeeds_another_on_a_ring:
        Succession::cluster(RingElection::cluster(3).unwrap()), [1, 1, 0];
    suzuki_and_kasami_s_token_is_made_anew:
        Regenerating::<SuzukiKasami>::cluster(3).unwrap(), [1, 1, 1];
    suzuki_and_kasami_s_token_is_made_anew_after_entries:
        Regenerating::<SuzukiKasami>::cluster(3).unwrap(), [2, 1, 0];
    ricart_and_agrawala_s_token_is_made_anew:
        Regenerating::<RicartAgrawalaToken>::cluster(3).unwrap(), [1, 1, 1];
    the_ring_closes_around_the_dead: MendedRing::cluster(3).unwrap(), [1, 1, 1];
    the_ring_closes_around_the_dead_after_entries: MendedRing::cluster(3).unwrap(), [2, 1, 0];
    a_ring_of_two_becomes_one_of_one: MendedRing::cluster(2).unwrap(), [1, 1];
    raymond_s_tree_grows_anew: Rerooting::<Raymond>::cluster(3).unwrap(), [1, 1, 1];
    raymond_s_tree_grows_anew_after_entries: Rerooting::<Raymond>::cluster(3).unwrap(), [1, 2, 0];
    raymond_s_tree_of_two_becomes_one_of_one: Rerooting::<Raymond>::cluster(2).unwrap(), [1, 2];
    raymond_s_tree_of_four_grows_anew: Rerooting::<Raymond>::cluster(4).unwrap(), [0, 1, 0, 1];
    naimi_and_trehel_s_tree_grows_anew: Rerooting::<NaimiTrehel>::cluster(3).unwrap(), [1, 1, 1];
    naimi_and_trehel_s_tree_grows_anew_after_entries:
        Rerooting::<NaimiTrehel>::cluster(3).unwrap(), [1, 2, 0];
    the_tree_with_a_queue_grows_anew: Rerooting::<NaimiTrehelQueue>::cluster(3).unwrap(), [1, 1, 1];
}

/// Two crashes: a census that is under way begins again, or another one holds it.
#[test]
fn a_tree_grows_anew_twice() {
    let check = Check::new(Rerooting::<Raymond>::cluster(3).unwrap()).requests_of(NodeId(0), 0);
    let aftermath = check.crashes(2).aftermath(4_000_000).expect("few enough states");
    eprintln!("two crashes: {} states", aftermath.states);
    assert_eq!(aftermath.outcome, Outcome::Harmless);
    let check = Check::new(Rerooting::<NaimiTrehel>::cluster(4).unwrap()).requests(0);
    let check = check.requests_of(NodeId(3), 1).crashes(2);
    let aftermath = check.aftermath(4_000_000).expect("few enough states");
    eprintln!("two crashes of four: {} states", aftermath.states);
    assert_eq!(aftermath.outcome, Outcome::Harmless);
}

/// A token is made only if it is gone: in no state does a node know of a second one unless one that
/// had the token, or was to have it, is down.
#[test]
fn a_token_is_made_anew_only_when_it_is_gone() {
    // Node 0 has the token, and never asks; only node 2 may die, and it never asks either.
    let check = Check::new(Rerooting::<Raymond>::cluster(3).unwrap()).requests(0);
    let check = check.requests_of(NodeId(1), 1).crashes(1).crashes_of([NodeId(2)]);
    let made = |check: &Check<Rerooting<Raymond>>| {
        let mut made = false;
        let (mut seen, mut to_visit) = (HashSet::new(), check.init_states());
        while let Some(state) = to_visit.pop() {
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            made |= state.nodes.iter().any(|node| node.tokens_before() > Some(0));
            let mut actions = Vec::new();
            check.actions(&state, &mut actions);
            to_visit.extend(actions.into_iter().filter_map(|it| check.next_state(&state, it)));
        }
        made
    };
    assert!(!made(&check), "it was not gone");
    assert!(made(&check.crashes_of([NodeId(0)])), "it was");
}
