//! The algorithms in which a node asks permission. One paper, one file.

mod arbiter;
mod arbiters;
mod candidate;
pub mod carvalho_roucairol;
pub mod central;
mod confirmations;
pub mod lamport;
pub mod maekawa;
pub mod majority;
pub mod raymond_k;
pub mod ricart_agrawala;
pub mod singhal_dynamic;

pub use carvalho_roucairol::CarvalhoRoucairol;
pub use central::CentralCoordinator;
pub use lamport::Lamport;
pub use maekawa::Maekawa;
pub use majority::Majority;
pub use raymond_k::RaymondK;
pub use ricart_agrawala::RicartAgrawala;
pub use singhal_dynamic::SinghalDynamic;
