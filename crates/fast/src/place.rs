//! Where in its text a stretch stands that is encoded by itself: at the front, behind an added token or
//! behind another part. Whether a space is put in front of it depends on that.

/// Where in its text a stretch stands that is encoded by itself.
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
    /// The place of a section that begins at byte `start` of a text whose own place is `self`.
    pub fn of_section(self, start: usize) -> Self {
        match start {
            0 => self,
            _ => Self::Section,
        }
    }
}
