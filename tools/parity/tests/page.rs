//! `docs/compatibility.md` shows the decisions as they are. `KEYFORM_BLESS=1 cargo test -p keyform-parity --test page` puts them there.

use std::fs;
use std::path::Path;

use keyform_parity::decision::{self, LIST};

const BEGIN: &str = "<!-- decisions: begin -->\n";
const END: &str = "<!-- decisions: end -->\n";

#[test]
fn the_page_shows_the_decisions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a mark where decisions begin");
    let (_, after) = rest.split_once(END).expect("the page has a mark where decisions end");
    let table = decision::table(&decision::parse(LIST).expect("the list can be read"));
    let wanted = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(&path, wanted).expect("the page can be written");
    } else {
        assert!(page == wanted, "the page is older than decisions.toml: KEYFORM_BLESS=1 makes it anew");
    }
}
