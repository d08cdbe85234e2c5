//! `docs/compatibility.md` shows the list of decisions. `KEYFORM_BLESS=1` updates it.

use std::fs;
use std::path::Path;

use keyform_parity::decision::{LIST, parse, table};

const BEGIN: &str = "<!-- decisions: begin -->\n";
const END: &str = "<!-- decisions: end -->";

#[test]
fn the_page_shows_every_decision() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let (before, rest) = page.split_once(BEGIN).expect("the page has the mark where decisions begin");
    let (_, after) = rest.split_once(END).expect("the page has the mark where decisions end");
    let decisions = parse(LIST).expect("the list can be read");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table(&decisions));
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(&path, &expected).expect("the page can be written");
        return;
    }
    assert!(page == expected, "run KEYFORM_BLESS=1 cargo test -p keyform-parity --test it page");
}
