//! The majority mode: the agreed state and the locks explored, the storage crashed, clusters in one
//! process.

mod chaos;
mod cluster;
mod quic;
mod roster;
mod site;
mod storage;
mod support;
