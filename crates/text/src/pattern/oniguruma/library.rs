//! The few calls of the library that patterns need.
//!
//! Look here for how they are compiled. The crate `onig` does so under one lock of the process,
//! which a fork may leave locked; the library itself only needs to be initialized by one thread, and
//! then shares nothing but constants.

use std::ptr::{null, null_mut};

use onig_sys::{
    ONIG_MAX_ERROR_MESSAGE_LEN, ONIG_MISMATCH, ONIG_NORMAL, ONIG_OPTION_NONE,
    ONIG_SYN_OP2_QMARK_TILDE_ABSENT_GROUP, ONIGERR_MATCH_STACK_LIMIT_OVER,
    ONIGERR_RETRY_LIMIT_IN_MATCH_OVER, ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER, OnigErrorInfo,
    OnigMatchParam, OnigRegex, OnigRegion, OnigSyntaxType,
};

use super::Tried;
use crate::mem::lazy::LazyStatic;

/// A compiled expression in Oniguruma's own syntax, of text in UTF-8.
pub(crate) struct Expression(OnigRegex);

// SAFETY: searching only reads the expression, and nothing else has the pointer.
unsafe impl Send for Expression {}
// SAFETY: as above.
unsafe impl Sync for Expression {}

/// The library's own syntax, without absent operators, `(?~…)`: these take time in proportion to the
/// square of the text, and count no steps.
static SYNTAX: LazyStatic<OnigSyntaxType> = LazyStatic::new(|| {
    // SAFETY: the library never writes to its constants.
    let mut syntax = unsafe { *onig_sys::OnigDefaultSyntax };
    syntax.op2 &= !ONIG_SYN_OP2_QMARK_TILDE_ABSENT_GROUP;
    syntax
});

/// The deepest nesting of an expression. The library parses by recursion, with some 600 bytes of stack per
/// nested class, and allows 4,096 by default: more than a thread has room for.
const MAX_DEPTH: u32 = 1_000;

fn utf8() -> onig_sys::OnigEncoding {
    &raw mut onig_sys::OnigEncodingUTF8
}

impl Expression {
    /// Initializes the library, which may not happen twice at once. A child that is forked meanwhile
    /// would wait for it forever; see [`crate::initialize_libraries`].
    #[expect(clippy::disallowed_types, reason = "it is done before anybody forks")]
    pub(crate) fn initialize() {
        static DONE: std::sync::Once = std::sync::Once::new();
        DONE.call_once(|| {
            let mut encodings = [utf8()];
            // SAFETY: the list has one entry, and no other thread is in the library yet.
            unsafe {
                onig_sys::onig_initialize(encodings.as_mut_ptr(), 1);
                onig_sys::onig_set_parse_depth_limit(MAX_DEPTH);
            }
        });
    }

    /// Compiles `source`.
    ///
    /// # Errors
    /// What the library finds wrong with it, or an absent operator.
    pub(in crate::pattern) fn new(source: &str) -> Result<Self, String> {
        Self::with_syntax(source, &raw const *SYNTAX)
    }

    /// Whether the library compiles `source` with all of its own syntax.
    pub(in crate::pattern) fn is_accepted_by_oniguruma(source: &str) -> bool {
        // SAFETY: a constant of the library.
        let own = unsafe { onig_sys::OnigDefaultSyntax };
        Self::with_syntax(source, own).is_ok()
    }

    /// As [`Self::new`], in a syntax of the library or of ours, which is a constant.
    fn with_syntax(source: &str, syntax: *const OnigSyntaxType) -> Result<Self, String> {
        Self::initialize();
        let mut regex: OnigRegex = null_mut();
        let mut info = OnigErrorInfo {
            enc: null_mut(),
            par: null_mut(),
            par_end: null_mut(),
        };
        let bytes = source.as_bytes().as_ptr_range();
        // SAFETY: the range is that of a string, the library is initialized and gives back a pointer
        // that is its own, and the syntax is a constant.
        let code = unsafe {
            onig_sys::onig_new(
                &mut regex,
                bytes.start,
                bytes.end,
                ONIG_OPTION_NONE,
                utf8(),
                syntax.cast_mut(),
                &mut info,
            )
        };
        if code == ONIG_NORMAL as i32 {
            Ok(Self(regex))
        } else {
            Err(message(code, &info))
        }
    }
}

impl Drop for Expression {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `onig_new`, and nobody uses it any more.
        unsafe { onig_sys::onig_free(self.0) };
    }
}

/// What the library says of a failure.
fn message(code: i32, info: *const OnigErrorInfo) -> String {
    let mut bytes = [0; ONIG_MAX_ERROR_MESSAGE_LEN as usize];
    // SAFETY: there is room for the longest message, and `info` is null or what `onig_new` filled.
    let length = unsafe { onig_sys::onig_error_code_to_str(bytes.as_mut_ptr(), code, info) };
    let length = usize::try_from(length).unwrap_or(0).min(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// The working memory of searches, reused from one search to the next.
pub(in crate::pattern) struct Searcher {
    parameters: *mut OnigMatchParam,
    region: OnigRegion,
}

impl Searcher {
    pub(in crate::pattern) fn new() -> Self {
        // SAFETY: new parameters are initialized before anything else is done with them.
        let parameters = unsafe {
            let parameters = onig_sys::onig_new_match_param();
            onig_sys::onig_initialize_match_param(parameters);
            parameters
        };
        let region = OnigRegion {
            allocated: 0,
            num_regs: 0,
            beg: null_mut(),
            end: null_mut(),
            history_root: null_mut(),
        };
        Self { parameters, region }
    }

    /// Sets how many steps back may be taken in one try, and how many places to come back to there may
    /// be at a time.
    pub(in crate::pattern) fn set_limits(&mut self, steps: u32, places: u32) {
        // SAFETY: the parameters are this searcher's own.
        unsafe {
            onig_sys::onig_set_retry_limit_in_match_of_match_param(self.parameters, steps.into());
            onig_sys::onig_set_retry_limit_in_search_of_match_param(self.parameters, steps.into());
            onig_sys::onig_set_match_stack_limit_size_of_match_param(self.parameters, places);
        }
    }

    /// The leftmost match that begins at byte `from` of `text` or later; at `from`, if it `is_alone`.
    pub(in crate::pattern) fn find(
        &mut self,
        expression: &Expression,
        text: &str,
        from: usize,
        is_alone: bool,
    ) -> Tried {
        // The library counts in `int`.
        if i32::try_from(text.len()).is_err() {
            return Tried::Failed("it takes texts of up to 2 GiB".to_owned());
        }
        if from > text.len() {
            return Tried::Done(None);
        }
        let bytes = text.as_bytes().as_ptr_range();
        // SAFETY: the places lie in the text, in order; the expression, the parameters and the region
        // are alive, and the latter two nobody else's.
        let code = unsafe {
            let from = bytes.start.add(from);
            if is_alone {
                onig_sys::onig_match_with_param(
                    expression.0,
                    bytes.start,
                    bytes.end,
                    from,
                    &mut self.region,
                    ONIG_OPTION_NONE,
                    self.parameters,
                )
            } else {
                onig_sys::onig_search_with_param(
                    expression.0,
                    bytes.start,
                    bytes.end,
                    from,
                    bytes.end,
                    &mut self.region,
                    ONIG_OPTION_NONE,
                    self.parameters,
                )
            }
        };
        match code {
            ONIG_MISMATCH => Tried::Done(None),
            0.. => {
                // SAFETY: after a match, the first entry of the region is that of the match.
                let (start, end) = unsafe { (*self.region.beg, *self.region.end) };
                Tried::Done(Some(start as usize..end as usize))
            }
            ONIGERR_RETRY_LIMIT_IN_MATCH_OVER | ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER => {
                Tried::GivenUp
            }
            ONIGERR_MATCH_STACK_LIMIT_OVER => Tried::Full,
            _ => Tried::Failed(message(code, null())),
        }
    }
}

impl Drop for Searcher {
    fn drop(&mut self) {
        // SAFETY: the parameters came from `onig_new_match_param`; of the region, only what the
        // library allocated is freed.
        unsafe {
            onig_sys::onig_free_match_param(self.parameters);
            onig_sys::onig_region_free(&mut self.region, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn threads_compile_and_search_at_the_same_time() {
        let sources = [
            r"\p{Greek}+",
            r"(?i)straße|(a)\1",
            r"(?<=x)[^\s\w]",
            r"\p{Han}{2}",
        ];
        let text = "xΑβγ. STRASSE aa x! 漢字";
        let all = |source: &str| {
            let (expression, mut searcher) = (Expression::new(source).unwrap(), Searcher::new());
            let mut found: Vec<Range<usize>> = Vec::new();
            loop {
                let from = found.last().map_or(0, |it| it.end);
                match searcher.find(&expression, text, from, false) {
                    Tried::Done(Some(next)) => found.push(next),
                    Tried::Done(None) => break found,
                    Tried::GivenUp | Tried::Full | Tried::Failed(_) => {
                        unreachable!("there is no limit")
                    }
                }
            }
        };
        let expected = sources.map(|source| {
            let found = onig::Regex::new(source).unwrap();
            let found = found.find_iter(text).map(|(start, end)| start..end);
            found.collect::<Vec<_>>()
        });
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        assert_eq!(sources.map(all), expected);
                    }
                });
            }
        });
    }

    #[test]
    fn broken_expressions_are_refused_in_the_words_of_the_library() {
        for source in ["a(b", "[", r"\p{Nonsense}", "(?<name>a)\\k<other>", "*"] {
            let theirs = onig::Regex::new(source).unwrap_err();
            let ours = Expression::new(source).err();
            assert_eq!(ours.as_deref(), Some(theirs.description()), "{source}");
        }
    }

    /// Threads that read files have stacks of 2 MB.
    #[test]
    fn expressions_nested_too_deep_are_refused() {
        let read = || {
            for open in ["[", "[^", "[a&&", "(", "(?:", "(?=", "(?i:"] {
                let close = if open.starts_with('[') { "]" } else { ")" };
                let nested = |depth| format!("{}a{}", open.repeat(depth), close.repeat(depth));
                assert!(Expression::new(&nested(300)).is_ok(), "{open}");
                for depth in [1_001, 3_900, 4_090, 100_000] {
                    let refused = Expression::new(&nested(depth)).err();
                    assert_eq!(
                        refused.as_deref(),
                        Some("parse depth limit over"),
                        "{open} {depth}"
                    );
                    assert!(Expression::new(&open.repeat(depth)).is_err());
                }
            }
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(read);
        thread.expect("a thread").join().expect("no failure");
    }
}
