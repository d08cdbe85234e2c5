//! Properties that hold for any bytes from the disk: nothing panics, and what is read is what was written. The fuzz
//! targets and the tests that replay the saved corpus share these functions.

use std::sync::Arc;
use std::sync::OnceLock;

use bytes::Bytes;
use keyform_core::Item;
use keyform_engine::store::{Batch, SimDisk, Store, StoreOptions, decode};

/// An encoded item: decoded bytes are canonical.
pub fn item_record(bytes: &[u8]) {
    let Ok(item) = Item::decode(Bytes::copy_from_slice(bytes)) else { return };
    assert_eq!(Item::from(&item.to_attributes()), item);
    assert!(item.iter().all(|(name, value)| item.get(name) == Some(value)));
}

/// A journal with some bytes changed, and possibly truncated: the store opens with complete batches, or rejects it.
///
/// The bytes are groups of three: two for a position, one to combine with the byte there. A group whose last byte is
/// zero truncates the journal there.
pub fn journal_frame(bytes: &[u8]) {
    let (disk, name) = written();
    let disk = disk.duplicate();
    let mut journal = disk.content(name).expect("the journal is there");
    for change in bytes.chunks_exact(3) {
        let place = usize::from(u16::from_be_bytes([change[0], change[1]]));
        match journal.get_mut(place) {
            Some(_) if change[2] == 0 => journal.truncate(place),
            Some(byte) => *byte ^= change[2],
            None => journal.push(change[2]),
        }
    }
    disk.tamper(name, journal);
    let Ok(store) = Store::open(Arc::new(disk), None, StoreOptions::default()) else { return };
    let snapshot = store.snapshot();
    for pair in 0..BATCHES {
        let one = snapshot.get(format!("one{pair}").as_bytes()).expect("what opened can be read");
        let two = snapshot.get(format!("two{pair}").as_bytes()).expect("what opened can be read");
        assert_eq!(one, two, "a batch is there as a whole or not at all");
    }
}

/// Decrypted content of a store's files: each decoder accepts or rejects it.
pub fn store_piece(bytes: &[u8]) {
    decode::journal_payload(bytes);
    decode::table_block(bytes);
    decode::manifest_body(bytes);
    decode::file_header(bytes);
}

const BATCHES: usize = 6;

/// Creates a store whose journal contains a few batches of two; returns it with the journal's name.
fn written() -> &'static (SimDisk, String) {
    static WRITTEN: OnceLock<(SimDisk, String)> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let disk = SimDisk::new();
        let options = StoreOptions { flush_at_close: false, ..StoreOptions::default() };
        let store = Store::open(Arc::new(disk.clone()), None, options).expect("an empty disk opens");
        for pair in 0..BATCHES {
            let mut batch = Batch::new();
            batch.put(format!("one{pair}"), "value");
            batch.put(format!("two{pair}"), "value");
            store.commit(batch).wait().expect("the disk does not fail");
        }
        store.close().expect("the disk does not fail");
        let is_journal = |name: &String| name.contains("journal");
        let name = disk.names().into_iter().rfind(is_journal).expect("there is a journal");
        (disk, name)
    })
}
