//! Where text stands that is encoded by itself: at the front, behind an added token or behind
//! another part; this decides whether a space is put in front of it.

/// Where text stands that is encoded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the front of its text.
    First,
    /// Behind an added token.
    Section,
    /// Behind another part; see [`Compiled::split_point`](super::Compiled::split_point).
    Inner,
}

impl Place {
    /// Where a section stands that begins with this byte of text which stands here.
    pub fn of_section(self, start: usize) -> Self {
        match start {
            0 => self,
            _ => Self::Section,
        }
    }
}
