//! Remedies of single algorithms: one crash at every step, and what the survivors make of it.
#![cfg(feature = "check")]

use exclusion::message::check::{Action, Check, Checker, Model, Progress};
use exclusion::message::fault::remedy::Surviving;
use exclusion::message::{
    CarvalhoRoucairol, Lamport, Maekawa, Majority, Protocol, RaymondK, RicartAgrawala,
    SinghalDynamic,
};

/// With one crash at every step: exclusion among the living, no refusal, and from every state all
/// who wait can be served, though nobody asks anew and no more befalls them. Says how many states
/// there are.
fn survives<P>(check: Check<P>) -> usize
where
    P: Protocol<Message: Send + Sync> + Send + Sync + 'static,
{
    let checker = check.clone().crashes(1).checker().spawn_bfs().join();
    checker.assert_properties();
    let progress: Progress<Check<P>> = Progress {
        name: "all that live and wait can be served",
        goal: |_, state| state.violation.is_some() || state.waiting().next().is_none(),
        counts: |action| !action.is_fault() && !matches!(action, Action::Request(_)),
    };
    let check = check.crashes(1);
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
            let mut check = Check::new(Surviving::cluster($nodes));
            for (node, times) in (0..).zip($requests) {
                check = check.requests_of(exclusion::message::NodeId(node), times);
            }
            let states = survives(check);
            eprintln!("{}: {states} states", stringify!($test));
        })*
    };
}

survive! {
    ricart_and_agrawala_drop_the_dead: RicartAgrawala::cluster(3).unwrap(), [1, 1, 1];
    ricart_and_agrawala_ask_the_dead_no_more: RicartAgrawala::cluster(3).unwrap(), [2, 1, 0];
    lamport_drops_the_dead: Lamport::cluster(3).unwrap(), [1, 1, 0];
    lamport_asks_the_dead_no_more: Lamport::cluster(3).unwrap(), [2, 0, 1];
    carvalho_and_roucairol_take_the_permissions: CarvalhoRoucairol::cluster(3).unwrap(), [1, 1, 1];
    carvalho_and_roucairol_keep_them: CarvalhoRoucairol::cluster(3).unwrap(), [2, 1, 0];
    singhal_asks_the_dead_no_more: SinghalDynamic::cluster(3).unwrap(), [1, 1, 1];
    raymond_counts_the_dead_as_consenting: RaymondK::cluster(3, 2).unwrap(), [1, 1, 1];
    maekawa_frees_the_votes_of_the_dead: Maekawa::grid(3).unwrap(), [1, 1, 1];
    maekawa_asks_all_that_live: Maekawa::grid(3).unwrap(), [2, 1, 0];
    maekawa_frees_votes_in_a_square: Maekawa::grid(4).unwrap(), [1, 1, 0, 0];
    majorities_free_the_votes_of_the_dead: Majority::cluster(3).unwrap(), [1, 1, 0];
}
