//! Nodes as processes, on loopback and in network namespaces: killed, stopped, restarted, cut off.

mod chaos;
mod faults;
mod harness;
mod increments;
mod mutants;
mod namespaces;
mod refusals;
