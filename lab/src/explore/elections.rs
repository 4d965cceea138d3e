//! Elections, explored: what befalls them, and what they claim.

use exclusion::message::NodeId;
use exclusion::message::check::{Check, Timers};
use exclusion::message::registry::{ElectionAlgorithm, ElectionVisitor, ShippedElection};

use super::exploration::ModelVisitor;
use super::scope::Within;

impl<V: ModelVisitor> ElectionVisitor for Within<'_, V> {
    type Output = V::Output;

    fn visit<E: ShippedElection>(
        self,
        algorithm: &'static ElectionAlgorithm,
        cluster: Vec<E>,
    ) -> V::Output {
        let Self { scope, visitor } = self;
        // A timer of one period is not one of two.
        let timers = match scope.timers {
            Timers::InTime if algorithm.within_tmax => Timers::Timed,
            timers => timers,
        };
        let calls = NodeId::all(scope.requests.len()).zip(&scope.requests);
        let check = calls
            .fold(Check::election(cluster), |check, (node, &times)| check.requests_of(node, times))
            .channels(scope.channels.unwrap_or(E::CHANNELS))
            .timers(timers);
        visitor.visit(algorithm.name, scope.befall(check))
    }
}
