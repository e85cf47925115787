//! Added tokens: which are found where, and in linear time.

use super::*;

fn token(id: u32, content: &str, special: bool) -> AddedToken {
    AddedToken {
        special,
        ..AddedToken::plain(id, content)
    }
}

fn ids(added: &AddedTokens, text: &str, policy: &SpecialPolicy) -> Result<Vec<u32>> {
    let cuts = added.cut(AlignedText::original(text), None, policy)?;
    Ok((cuts.iter())
        .map(|cut| match cut {
            TextOrToken::Text(_) => 0,
            TextOrToken::Token(id, _) => *id,
        })
        .collect())
}

fn only(names: &[&str]) -> SpecialPolicy {
    SpecialPolicy::Only(names.iter().map(|name| (*name).to_owned()).collect())
}

fn some() -> AddedTokens {
    let tokens = vec![
        token(1, "<|end|>", true),
        token(2, "<|end|><|of|>", true),
        token(3, "end", false),
    ];
    AddedTokens::new(tokens, None).unwrap()
}

#[test]
fn only_named_specials_take_part() {
    let text = "<|end|><|of|>";
    let found = |policy: &SpecialPolicy| ids(&some(), text, policy).unwrap();
    assert_eq!(found(&SpecialPolicy::Allow), [2]);
    assert_eq!(found(&SpecialPolicy::Ignore), [0]);
    assert_eq!(found(&only(&["<|end|>"])), [1, 0]);
    assert_eq!(found(&only(&["<|end|>", "<|end|><|of|>"])), [2]);
    assert_eq!(found(&only(&[])), [0]);
}

#[test]
fn an_unknown_name_is_refused_with_a_suggestion() {
    let error = ids(&some(), "", &only(&["<|ende|>"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(
        error.to_string(),
        "\"<|ende|>\" is not a special token of this tokenizer (did you mean \"<|end|>\"?)"
    );
    let error = ids(&some(), "", &only(&["end"])).unwrap_err();
    assert!(error.to_string().contains("always found"), "{error}");
}

#[test]
fn places_without_tokens_near() {
    let added = AddedTokens::new(vec![token(1, "<a>", false)], None).unwrap();
    let words = "some words ".repeat(WINDOW / 8);
    let text = [&words, "  <a> and ", &words].concat();
    let behind = words.len() + "  <a> and".len();
    for (at, is_alone) in [
        (words.len() - 7, true),
        (words.len() - 1, true),
        // White space that a token might take, the token, and what follows it.
        (words.len() + 1, false),
        (words.len() + 2, false),
        (words.len() + 3, false),
        (behind, false),
        (behind + WINDOW, true),
        // White space after a word, and after a token that may take it.
        (text.len() - 1, true),
        (text.len() + 9, true),
        (text.len() + 9 + "x<a>".len() + 2 * WINDOW, false),
    ] {
        let text = [&text, "         x<a>", &" ".repeat(2 * WINDOW), "word"].concat();
        assert_eq!(added.surely_apart_from(&text, at), is_alone, "{at}");
    }
    assert!(!added.surely_apart_from(&"a".repeat(4 * WINDOW), 2 * WINDOW));
    let long = AddedTokens::new(vec![token(1, &"b".repeat(WINDOW + 1), false)], None).unwrap();
    assert!(!long.surely_apart_from(&text, behind + WINDOW));
    assert!(!long.may_be_apart());
    // A token of which only the end is near, and line ends of a text without spaces.
    for spaces in WINDOW - 9..WINDOW + 9 {
        let text = ["words <a>", &" ".repeat(spaces), "\nwords"].concat();
        assert!(!added.surely_apart_from(&text, text.len() - 5), "{spaces}");
    }
    let lines = "line\n".repeat(WINDOW);
    assert!(added.surely_apart_from(&lines, 5 * WINDOW / 2 / 5 * 5));
    assert!(!added.surely_apart_from(&lines, 5 * WINDOW / 2 / 5 * 5 + 1));
}

#[test]
fn a_refused_special_token_is_named_with_its_place() {
    let error = ids(&some(), "é end <|end|>", &SpecialPolicy::Raise).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SpecialToken);
    let message = error.to_string();
    assert!(
        message.starts_with("the special token \"<|end|>\" is in the text at character 6"),
        "{message}"
    );
    assert_eq!(
        ids(&some(), "an end", &SpecialPolicy::Raise).unwrap(),
        [0, 3]
    );
}

#[test]
fn lists_that_contradict_themselves_are_refused() {
    for tokens in [
        vec![token(1, "a", false), token(2, "a", false)],
        vec![token(1, "a", false), token(1, "b", false)],
        vec![token(1, "a", true), token(1, "b", true)],
        vec![token(1, "", false)],
    ] {
        let error = AddedTokens::new(tokens, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
    }
}

#[test]
fn a_decoder_gets_the_normalized_content() {
    let mut tokens = vec![token(1, "Ab", false), token(2, "Cd", false)];
    tokens[0].normalized = true;
    let added = AddedTokens::new(tokens, Some(&Normalizer::Lowercase)).unwrap();
    assert_eq!(added.decoder_input(1), Some("ab"));
    assert_eq!(added.decoder_input(2), Some("Cd"));
    assert_eq!(added.decoder_input(3), None);
    assert_eq!(added.by_content("Ab").map(|token| token.id), Some(1));
}

#[test]
fn a_token_whose_white_space_is_taken_is_not_found_again() {
    let mut tokens = vec![token(1, "<a>", false), token(2, " ", false)];
    tokens[0].rstrip = true;
    tokens[1].lstrip = true;
    let added = AddedTokens::new(tokens, None).unwrap();
    assert_eq!(
        ids(&added, "<a>   b", &SpecialPolicy::Allow).unwrap(),
        [1, 0]
    );
}

#[test]
fn a_long_spelling_that_repeats_itself_takes_no_quadratic_time() {
    let long = "a".repeat(100_000);
    let added = AddedTokens::new(vec![token(5, &long, false)], None).unwrap();
    assert_eq!(ids(&added, &long, &SpecialPolicy::Ignore).unwrap(), [5]);
}

#[test]
fn a_million_spaces_take_linear_time() {
    // Quadratic time would be hours.
    let text = " ".repeat(1_000_000);
    let mut tokens: Vec<_> = (1..=30)
        .map(|n| token(n, &" ".repeat(n as usize), false))
        .collect();
    let plain = AddedTokens::new(tokens.clone(), None).unwrap();
    for token in &mut tokens {
        token.lstrip = true;
        token.rstrip = true;
    }
    let greedy = AddedTokens::new(tokens, None).unwrap();
    assert_eq!(
        ids(&plain, &text, &SpecialPolicy::Allow).unwrap().len(),
        33_334
    );
    ids(&greedy, &text, &SpecialPolicy::Allow).unwrap();
}
