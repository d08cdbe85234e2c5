use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use super::super::batch::Batch;
use super::super::disk::{SimDisk, read_whole};
use super::super::horizon::Horizon;
use super::super::journal::{FRAME_HEADER_BYTES, Frame, JournalWriter};
use super::super::options::StoreOptions;
use super::super::seal::DataKeys;
use super::*;

const SEGMENT: u64 = 7;

/// Journal of one segment with one frame per batch, as a killed process leaves it.
struct Journal {
    disk: Arc<SimDisk>,
    vault: Vault,
    manifest: Manifest,
    /// Offset after the last frame.
    end: usize,
}

impl Journal {
    fn of(batches: &[Batch]) -> Self {
        let disk = Arc::new(SimDisk::new());
        let vault = Vault::new(Some(DataKeys::new(1, [3; 32])), keyform_world::system());
        let manifest = Manifest { newest_segment: SEGMENT, ..Manifest::new(&vault) };
        // Little space is preallocated, so that frames fill the segment.
        let options = StoreOptions { journal_reserve_bytes: 100, ..StoreOptions::default() };
        let mut writer = JournalWriter::new(disk.clone(), vault.clone(), manifest.store_id, &options);
        let mut end = HEADER_BYTES;
        for (batch, seqno) in batches.iter().zip(1..) {
            let mut frame = Frame::new(SEGMENT, seqno, Vec::new());
            frame.push(batch);
            end += frame.sealed_bytes() as usize;
            writer.write(&mut frame, &|_| Ok(())).unwrap();
        }
        Journal { disk, vault, manifest, end }
    }

    /// Replays in chunks of this size, or of one larger frame.
    fn replay(&self, chunk_bytes: usize, threads: usize) -> Result<(Work, Content), StoreError> {
        let mut replay = Replay::new(self.disk.as_ref(), &self.vault, &self.manifest);
        (replay.chunk_bytes, replay.threads_max) = (chunk_bytes, threads);
        replay.segment(ReplaySegment { number: SEGMENT, last: true, recorded: true })?;
        let work = replay.work;
        let (memtable, seqno) = replay.finish();
        Ok((work, content(&memtable, seqno)))
    }
}

/// Everything that a memtable holds, its accounted size, and the last sequence number.
type Content = (Vec<(Bytes, SeqNo, Option<Bytes>)>, usize, SeqNo);

fn content(memtable: &Memtable, seqno: SeqNo) -> Content {
    let mut all = Vec::new();
    let visit = |key: &Bytes, seqno, value: Option<&Bytes>| {
        all.push((key.clone(), seqno, value.cloned()));
        Ok::<(), ()>(())
    };
    memtable.for_each(visit).unwrap();
    (all, memtable.bytes(), seqno)
}

/// Inserts the changes one by one.
fn inserted(batches: &[Batch]) -> Content {
    let memtable = Memtable::default();
    let nobody_reads = Horizon { durable: SeqNo::MAX, live: Vec::new() };
    for (batch, seqno) in batches.iter().zip(1..) {
        for (key, value) in batch.clone().into_changes(seqno) {
            memtable.write().insert(key, seqno, value, &nobody_reads);
        }
    }
    content(&memtable, batches.len() as u64)
}

/// Batches of a few keys, some with a long common beginning, so that keys are overwritten and heads are equal.
fn batches() -> impl Strategy<Value = Vec<Batch>> {
    let key = prop_oneof![
        prop::collection::vec(0u8..3, 0..5),
        (0u8..20).prop_map(|end| [b"a beginning that is long".as_slice(), &[end; 2]].concat()),
    ];
    let value = prop::collection::vec(any::<u8>(), 0..40);
    let change = (0u8..3, key, value);
    let batch = prop::collection::vec(change, 0..6).prop_map(|changes| {
        let mut batch = Batch::new();
        for (kind, key, value) in changes {
            match kind {
                0 => batch.delete(key),
                1 => batch.put(key, value),
                _ => batch.append(key, value),
            }
        }
        batch
    });
    prop::collection::vec(batch, 1..30)
}

proptest! {
    #[test]
    fn a_replay_in_chunks_is_the_insertion_of_every_change(
        batches in batches(),
        chunk_bytes in FRAME_HEADER_BYTES..2000,
        threads in 1usize..5,
    ) {
        let journal = Journal::of(&batches);
        let (_, replayed) = journal.replay(chunk_bytes, threads).unwrap();
        prop_assert_eq!(replayed, inserted(&batches));
    }

    #[test]
    fn damage_is_found_in_every_chunk(
        batches in batches(),
        chunk_bytes in FRAME_HEADER_BYTES..1000,
        threads in 1usize..5,
        bit in any::<usize>(),
    ) {
        let (whole, split) = (Journal::of(&batches), Journal::of(&batches));
        let name = FileKind::Journal.file_name(SEGMENT);
        let mut results = Vec::new();
        for (journal, chunk_bytes, threads) in [(&whole, CHUNK_BYTES, 1), (&split, chunk_bytes, threads)] {
            // The two journals have different salts, but the same layout.
            let mut bytes = read_whole(journal.disk.as_ref(), &name).unwrap();
            let at = HEADER_BYTES + (bit / 8) % (journal.end - HEADER_BYTES);
            bytes[at] ^= 1 << (bit % 8);
            journal.disk.open(&name).unwrap().write_at(&bytes, 0).unwrap();
            let replayed = journal.replay(chunk_bytes, threads);
            results.push(replayed.map(|(_, content)| content).map_err(|error| error.to_string()));
        }
        prop_assert_eq!(&results[0], &results[1]);
    }
}

#[test]
fn overwritten_changes_are_not_copied() {
    let overwrites = |keys: usize| -> Vec<Batch> {
        let batch = |number: usize| {
            let mut batch = Batch::new();
            batch.put(format!("key-{}", number % keys), vec![1; 100]);
            batch
        };
        (0..1000).map(batch).collect()
    };
    for (keys, chunks, copied) in [(10, 1, 10), (10, 4, 40), (1000, 1, 1000), (1000, 4, 1000)] {
        let journal = Journal::of(&overwrites(keys));
        // One frame more than the quotient, because a chunk has only whole frames.
        let (work, (content, ..)) = journal.replay(journal.end / chunks + 200, 2).unwrap();
        assert_eq!(work, Work { changes: 1000, copied }, "{keys} keys in {chunks} chunks");
        assert_eq!(content.len(), keys);
    }
}

#[test]
fn a_gap_between_two_chunks_is_damage() {
    let mut batch = Batch::new();
    batch.put("key", "value");
    let journal = Journal::of(&[]);
    let options = StoreOptions::default();
    let mut writer =
        JournalWriter::new(journal.disk.clone(), journal.vault.clone(), journal.manifest.store_id, &options);
    for seqno in [1, 2, 4, 5] {
        let mut frame = Frame::new(SEGMENT, seqno, Vec::new());
        frame.push(&batch);
        writer.write(&mut frame, &|_| Ok(())).unwrap();
    }
    for chunk_bytes in [FRAME_HEADER_BYTES, 150, 300, CHUNK_BYTES] {
        let error = journal.replay(chunk_bytes, 2).unwrap_err();
        assert!(error.to_string().contains(MISSING_BEFORE), "chunks of {chunk_bytes} bytes: {error}");
    }
}
