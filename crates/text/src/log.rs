//! Log messages on standard error, by topics: the environment variable `JETON_LOG` names them,
//! separated by commas. There is one topic, [`tell_plan`]'s.
//!
//! The variable is read once, when a message is first offered.

use std::io::Write;

use crate::mem::lazy::LazyStatic;

/// The variable that names the topics.
const VARIABLE: &str = "JETON_LOG";

/// The topic of how each new tokenizer encodes text, and why not faster.
const PLAN: &str = "plan";

/// Writes how a tokenizer encodes text to standard error, if the variable names the topic `plan`.
pub fn tell_plan(message: impl FnOnce() -> String) {
    static IS_WANTED: LazyStatic<bool> = LazyStatic::new(|| {
        let topics = std::env::var(VARIABLE).unwrap_or_default();
        for name in names(&topics).filter(|name| *name != PLAN) {
            write(&format!("{VARIABLE}: no topic {name:?}; there is {PLAN:?}"));
        }
        names(&topics).any(|name| name == PLAN)
    });
    if *IS_WANTED {
        write(&format!("{PLAN}: {}", message()));
    }
}

fn write(message: &str) {
    // If standard error is closed, the message is lost.
    let _ = std::io::stderr().write_all(format!("jeton {message}\n").as_bytes());
}

fn names(topics: &str) -> impl Iterator<Item = &str> {
    let names = topics.split(',').map(str::trim);
    names.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_names_between_commas() {
        for (topics, expected) in [
            ("plan", &["plan"][..]),
            ("other, plan,", &["other", "plan"]),
            ("", &[]),
        ] {
            assert_eq!(names(topics).collect::<Vec<_>>(), expected, "{topics:?}");
        }
    }
}
