//! The Arrow PyCapsule interface: columns of strings come in, lists of ids go out, neither copied
//! into Python objects.

mod lists;
mod strings;

pub use lists::arrow_lists;
pub use strings::Strings;
