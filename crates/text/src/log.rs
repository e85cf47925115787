//! Log messages on standard error, by topics: the environment variable `JETON_LOG` names them,
//! separated by commas.
//!
//! The variable is read once, when the first topic is checked.

use std::io::Write;

use crate::mem::lazy::LazyStatic;

/// The variable that names the topics.
const VARIABLE: &str = "JETON_LOG";

/// A subject of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// How each new tokenizer encodes text, and why not faster.
    Plan,
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
        }
    }
}

/// Writes the message to standard error, if the variable names the topic.
pub fn tell(topic: Topic, message: impl FnOnce() -> String) {
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
        write(&format!("{}: {}", topic.name(), message()));
    }
}

fn write(message: &str) {
    // If standard error is closed, the message is lost.
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
    fn topics_are_names_between_commas() {
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
