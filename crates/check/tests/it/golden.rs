//! Golden files: `KEYFORM_BLESS=1` regenerates them; review the difference like code.

use std::fs;
use std::path::Path;

/// Compares with a golden file, or regenerates it.
pub(crate) fn compare(path: &Path, actual: &str) {
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(path, actual).expect("the golden file can be written");
    }
    let name = path.display();
    let expected = fs::read_to_string(path).unwrap_or_default();
    let lines = expected.lines().zip(actual.lines()).enumerate();
    if let Some((number, (expected, actual))) = lines.into_iter().find(|(_, (expected, actual))| expected != actual) {
        panic!("{name}:{}: expected\n{expected}\nbut found\n{actual}", number + 1);
    }
    assert_eq!(expected.len(), actual.len(), "{name} has the same number of lines");
}
