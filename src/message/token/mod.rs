//! The algorithms in which holding a token is the permission. One paper, one file.

pub mod banta_efficient;
pub mod banta_fair;
pub mod banta_k;
pub mod banta_simple;
mod cycle;
mod good_site;
pub mod naimi_trehel;
pub mod naimi_trehel_queue;
mod number;
mod queue;
pub mod raymond;
pub mod ricart_agrawala_token;
pub mod singhal_heuristic;
pub mod suzuki_kasami;
pub mod suzuki_kasami_fifo;
pub mod suzuki_kasami_fifo_ring;
pub mod token_ring;

pub use banta_efficient::BantaEfficient;
pub use banta_fair::BantaFair;
pub use banta_k::BantaK;
pub use banta_simple::BantaSimple;
pub use naimi_trehel::NaimiTrehel;
pub use naimi_trehel_queue::NaimiTrehelQueue;
pub use queue::{NamedTwice, NodeQueue};
pub use raymond::Raymond;
pub use ricart_agrawala_token::RicartAgrawalaToken;
pub use singhal_heuristic::SinghalHeuristic;
pub use suzuki_kasami::SuzukiKasami;
pub use suzuki_kasami_fifo::SuzukiKasamiFifo;
pub use suzuki_kasami_fifo_ring::SuzukiKasamiFifoRing;
pub use token_ring::TokenRing;
