//! Log messages on standard error, by topics: the environment variable `JETON_LOG` names them,
//! separated by commas.
//!
//! The variable is read once, when the first topic is checked.

use std::io::Write;

use crate::mem::lazy::LazyStatic;

/// The variable that names the topics.
const VARIABLE: &str = "JETON_LOG";

/// What may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Of each tokenizer that is built, how it encodes text and why not faster.
    Plan,
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
        }
    }
}

/// Writes what `told` says to standard error, if somebody asked for the topic.
pub fn tell(topic: Topic, told: impl FnOnce() -> String) {
    static TOPICS: LazyStatic<String> = LazyStatic::new(|| {
        let topics = std::env::var(VARIABLE).unwrap_or_default();
        for name in unknown(&topics) {
            write(&format!(
                "{VARIABLE}: no topic {name:?}; there is {:?}",
                Topic::Plan.name()
            ));
        }
        topics
    });
    if asks_for(&TOPICS, topic) {
        write(&format!("{}: {}", topic.name(), told()));
    }
}

fn write(message: &str) {
    // Whoever has closed standard error wants to hear nothing.
    let _ = std::io::stderr().write_all(format!("jeton {message}\n").as_bytes());
}

/// The names that are no topics.
fn unknown(topics: &str) -> impl Iterator<Item = &str> {
    let names = topics.split(',').map(str::trim);
    names.filter(|name| !name.is_empty() && *name != Topic::Plan.name())
}

fn asks_for(topics: &str, topic: Topic) -> bool {
    topics.split(',').any(|name| name.trim() == topic.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        for (topics, expected) in [
            ("plan", true),
            ("other, plan", true),
            ("", false),
            ("plans", false),
        ] {
            assert_eq!(asks_for(topics, Topic::Plan), expected, "{topics:?}");
        }
        assert_eq!(unknown("plans, plan,").collect::<Vec<_>>(), ["plans"]);
    }
}
