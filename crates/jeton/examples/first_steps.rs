//! Trains a small tokenizer on a text, shows a sentence token by token, writes and reads it again.
//!
//! `cargo run --release --example first_steps -- some.txt`; without a file, on this program.

use jeton::{BpeTrainer, Tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => include_str!("first_steps.rs").to_owned(),
    };
    let trainer = BpeTrainer {
        vocab_size: 512,
        special_tokens: vec!["<|endoftext|>".to_owned()],
        ..BpeTrainer::default()
    };
    let tokenizer = jeton::train_bpe(&trainer, "gpt4", &[&text])?;

    let sentence: String = text.chars().take(60).collect();
    let ids = tokenizer.encode(&sentence)?;
    for id in &ids {
        println!("{id:>5}  {:?}", tokenizer.decode(&[*id])?);
    }
    println!("{} bytes, {} tokens", sentence.len(), ids.len());

    let json = tokenizer.to_json()?;
    let same = Tokenizer::from_bytes("tokenizer.json", json.as_bytes())?;
    assert_eq!(same.encode(&sentence)?, ids);
    Ok(())
}
