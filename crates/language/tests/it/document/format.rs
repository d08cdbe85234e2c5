//! Formatting: each `tests/golden/format/NAME.kf` formats as `NAME.out`; `KEYFORM_BLESS=1` regenerates the golden
//! files.

use std::path::Path;

use keyform_language::document::{parse, print};

#[test]
fn each_file_is_printed_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "kf") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let (document, mistakes) = parse(&text);
        assert!(mistakes.is_empty(), "{}: {mistakes:#?}", path.display());
        let printed = print(&document);
        let expected = path.with_extension("out");
        if std::env::var_os("KEYFORM_BLESS").is_some() {
            std::fs::write(&expected, &printed).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&expected).unwrap_or_default(), printed, "{}", path.display());
        super::checks::model(text.as_bytes());
    }
}

#[test]
fn the_example_of_the_language_page_is_formatted() {
    let path = super::models::root().join("docs/language.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let start = page.find("```kf\n").unwrap() + "```kf\n".len();
    let end = start + page[start..].find("```").unwrap();
    let (document, mistakes) = parse(&page[start..end]);
    assert!(mistakes.is_empty(), "{mistakes:#?}");
    let printed = print(&document);
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        std::fs::write(&path, format!("{}{printed}{}", &page[..start], &page[end..])).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains(&printed), "{printed}");
}
