//! Turns any text into a pattern and back: what parses prints as text of the same pattern, and spans lie on characters.
#![no_main]

use einrs::Pattern;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Pattern::parse(text) {
        Ok(pattern) => {
            let printed = pattern.to_string();
            let again = Pattern::parse(&printed).expect("what a pattern prints parses");
            assert_eq!(again.to_string(), printed);
        }
        Err(error) => {
            for span in error.spans() {
                assert!(text.get(span.start..span.end).is_some(), "{span:?} cuts a character");
            }
            assert!(!error.to_string().is_empty());
        }
    }
});
