//! Unicode's four normalization forms, with the alignment.
//!
//! Text that the quick check finds to be normalized already is left as it is.

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use crate::text::AlignedText;

macro_rules! forms {
    ($($form:ident by $is_normalized:ident;)*) => {$(
        pub(super) fn $form(text: &mut AlignedText) {
            let old = text.clone();
            let old = old.as_str();
            if !old.is_ascii() && $is_normalized(old.chars()) != IsNormalized::Yes {
                text.rewrite(old.$form().map(|(c, growth)| (c, growth.into())));
            }
        }
    )*};
}

forms! {
    nfc by is_nfc_quick;
    nfd by is_nfd_quick;
    nfkc by is_nfkc_quick;
    nfkd by is_nfkd_quick;
}
