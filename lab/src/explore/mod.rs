//! Exhaustive exploration: of the algorithms, of the locks register by register, and of variants of
//! both that are broken on purpose.

pub mod armies;
pub mod broken;
pub mod drafts;
pub mod elected;
pub mod elections;
pub mod erased;
pub mod exploration;
pub mod faults;
pub mod readers_program;
pub mod registers;
pub mod scope;
pub mod scopes;
pub mod seat_program;
