//! A tokenizer for the page of a browser: what JavaScript calls, without a generator of bindings.
//!
//! `cargo build --release --example page --target wasm32-unknown-unknown`. Texts and ids lie in the module's
//! memory, in buffers that `reserve` makes. `.ci/run_wasm.py` calls it as a page does.

use std::cell::RefCell;

use jeton::Tokenizer;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static TOKENIZER: RefCell<Option<Tokenizer>> = const { RefCell::new(None) };
}

/// Where the caller puts `length` bytes of input.
#[unsafe(no_mangle)]
extern "C" fn reserve(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Where the output of the last call lies; calls return its length, negative if it is an error.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Loads the tokenizer of a file, whose bytes are the input.
#[unsafe(no_mangle)]
extern "C" fn load() -> isize {
    answer(|input| {
        let tokenizer = Tokenizer::from_bytes("the file", input)?;
        TOKENIZER.set(Some(tokenizer));
        Ok(Vec::new())
    })
}

/// The ids of a text, four bytes each.
#[unsafe(no_mangle)]
extern "C" fn encode() -> isize {
    answer(|input| {
        with_tokenizer(|tokenizer| {
            let ids = tokenizer.encode(&String::from_utf8_lossy(input))?;
            Ok(ids.into_iter().flat_map(u32::to_le_bytes).collect())
        })
    })
}

/// The text of ids.
#[unsafe(no_mangle)]
extern "C" fn decode() -> isize {
    answer(|input| {
        with_tokenizer(|tokenizer| {
            let (ids, _) = input.as_chunks();
            let ids: Vec<u32> = ids.iter().copied().map(u32::from_le_bytes).collect();
            Ok(tokenizer.decode(&ids)?.into_bytes())
        })
    })
}

type Answer = Result<Vec<u8>, Box<dyn std::error::Error>>;

fn with_tokenizer(work: impl FnOnce(&Tokenizer) -> Answer) -> Answer {
    TOKENIZER.with_borrow(|tokenizer| match tokenizer {
        Some(tokenizer) => work(tokenizer),
        None => Err("load a tokenizer first".into()),
    })
}

fn answer(work: impl FnOnce(&[u8]) -> Answer) -> isize {
    let (bytes, sign) = match INPUT.with_borrow(|input| work(input)) {
        Ok(bytes) => (bytes, 1),
        Err(error) => (error.to_string().into_bytes(), -1),
    };
    let length = bytes.len() as isize;
    OUTPUT.set(bytes);
    sign * length
}
