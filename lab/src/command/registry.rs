//! What the commands ask of the registry.

use exclusion::message::actor::DataOf;
use exclusion::message::registry::{Algorithm, ElectionAlgorithm, Shipped, Size, Visitor};
use lab::explore::broken::Broken;

use super::names::did_you_mean;

/// The algorithm of this name; or what to do instead, if it is a broken variant.
pub(super) fn algorithm(name: &str) -> Result<&'static Algorithm, String> {
    Algorithm::named(name).map_err(|unknown| match Broken::named(name) {
        Some(broken) => format!(
            "'{name}' is broken on purpose ({}): see it with `lab check {name}`, or drawn with \
             `lab diagram {name} --from counterexample`",
            broken.why
        ),
        None => did_you_mean(name) + &unknown.to_string(),
    })
}

/// The election of this name; or what to do instead, if it is something else.
pub(super) fn election(name: &str) -> Result<&'static ElectionAlgorithm, String> {
    ElectionAlgorithm::named(name).map_err(|unknown| {
        let what = match (Algorithm::named(name), Broken::named(name)) {
            (Ok(_), _) => "is a lock: see it with `lab messages --algorithms",
            (_, Some(_)) => "is broken on purpose: see it with `lab check",
            _ => return did_you_mean(name) + &unknown.to_string(),
        };
        format!("'{name}' {what} {name}`")
    })
}

/// Whether there is a cluster of this size.
pub(super) fn fits(algorithm: &'static Algorithm, size: Size) -> bool {
    algorithm.build(size, Fits).is_ok()
}

/// Builds a cluster, and does nothing with it.
pub(super) struct Fits;

impl Visitor for Fits {
    type Output = ();

    fn visit<P: Shipped>(self, _: &'static Algorithm, _: Vec<P>) {}
}

/// Also says how many may be inside at a time.
pub(super) struct WithEntries<V>(pub(super) V);

impl<V: Visitor> Visitor for WithEntries<V> {
    type Output = (usize, V::Output);

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output
    where
        DataOf<P, ()>: Send + Sync,
    {
        (cluster[0].entries_at_a_time(), self.0.visit(algorithm, cluster))
    }
}
