//! Tests of creating, loading, rejecting and rotating keys.

use std::fs;
use std::path::PathBuf;

use keyform_world::SystemWorld;
use tempfile::TempDir;

use super::*;

struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { root: TempDir::new().unwrap() }
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    fn master(&self) -> PathBuf {
        self.root.path().join("config").join("keyform").join("master.key")
    }

    fn open(&self) -> Result<KeyRing, KeyError> {
        open(&self.data(), &self.master(), &SystemWorld)
    }

    fn data_keys(&self) -> Vec<(u32, [u8; 32])> {
        self.open().unwrap().iter().map(|(id, key)| (id, *key)).collect()
    }

    fn refusal(&self) -> String {
        self.open().unwrap_err().to_string()
    }
}

#[test]
fn first_start_makes_both_files_and_the_next_start_finds_the_same_key() {
    let place = Place::new();
    let keys = place.data_keys();
    assert_eq!(keys.len(), 1);
    assert_eq!(keys, place.data_keys());
}

#[cfg(unix)]
#[test]
fn master_key_file_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.open().unwrap();
    assert_eq!(fs::metadata(place.master()).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(place.master(), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(place.refusal().contains("chmod 600"));
}

#[test]
fn no_key_stands_in_the_data_directory_or_in_debug_output() {
    let place = Place::new();
    let ring = place.open().unwrap();
    let key = ring.iter().next().unwrap().1.to_owned();
    let file = fs::read(place.data().join(KEY_RING_FILE)).unwrap();
    assert!(!file.windows(8).any(|part| part == &key[..8]));
    assert!(format!("{ring:?}").contains("Secret(…)"));
}

#[test]
fn missing_master_key_file_is_refused_and_not_made_anew() {
    let place = Place::new();
    place.open().unwrap();
    fs::remove_file(place.master()).unwrap();
    let refusal = place.refusal();
    assert!(refusal.contains("was not found at") && refusal.contains("master.key"), "{refusal}");
    assert!(!place.master().exists());
}

#[test]
fn other_master_key_is_refused() {
    let place = Place::new();
    let needed = place.open().unwrap().master().to_string();
    fs::remove_file(place.master()).unwrap();
    MasterKeys::load_or_create(&place.master(), &SystemWorld).unwrap();
    let refusal = place.refusal();
    assert!(
        refusal.contains(&needed) && refusal.contains("open the database with the file that contains it"),
        "{refusal}"
    );
}

#[test]
fn damaged_files_are_refused() {
    for (file, from, to) in [
        ("data/keyring", "current 1", "current 2"),
        ("data/keyring", "version 1", "version 9"),
        ("data/keyring", "seal ", "leal "),
        ("config/keyform/master.key", "key ", "key 0"),
        ("config/keyform/master.key", "version 1", "version 2"),
    ] {
        let place = Place::new();
        place.open().unwrap();
        let file = place.root.path().join(file);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        assert!(place.refusal().contains("is damaged"), "{from} to {to}: {}", place.refusal());
    }
}

#[test]
fn foreign_directory_is_refused_and_left_alone() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    fs::write(place.data().join("holiday.jpg"), "x").unwrap();
    assert!(place.refusal().contains("holiday.jpg"));
    assert_eq!(fs::read_dir(place.data()).unwrap().count(), 1);
    assert!(!place.master().exists());
}

#[test]
fn store_without_its_ring_is_refused() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    fs::write(place.data().join("MANIFEST"), "x").unwrap();
    assert!(place.refusal().contains("no key ring"));
}

#[test]
fn rotation_adds_keys_and_keeps_the_older_data_keys() {
    let place = Place::new();
    let before = place.data_keys();
    let rotation = rotate(&place.data(), &place.master(), &SystemWorld).unwrap();
    assert_ne!(rotation.master_before, rotation.master);
    assert_eq!(rotation.data_key, 2);
    let ring = place.open().unwrap();
    assert_eq!((ring.current(), ring.master()), (2, &rotation.master));
    assert_eq!(place.data_keys()[0], before[0]);
}

#[test]
fn rotation_of_nothing_is_refused_and_makes_nothing() {
    let place = Place::new();
    let refusal = rotate(&place.data(), &place.master(), &SystemWorld).unwrap_err();
    assert!(refusal.to_string().contains("no data directory"), "{refusal}");
    fs::create_dir(place.data()).unwrap();
    assert!(matches!(rotate(&place.data(), &place.master(), &SystemWorld), Err(KeyError::RingMissing { .. })));
    assert!(!place.master().exists());
}

#[test]
fn crash_between_the_steps_of_a_rotation_loses_nothing() {
    let place = Place::new();
    let before = place.data_keys();
    MasterKeys::add(&place.master(), &SystemWorld).unwrap();
    assert_eq!(place.data_keys(), before);
    rotate(&place.data(), &place.master(), &SystemWorld).unwrap();
    assert_eq!(place.data_keys()[0], before[0]);
}

#[test]
fn rotation_for_one_directory_leaves_another_one_readable() {
    let place = Place::new();
    place.open().unwrap();
    let other = place.root.path().join("other");
    open(&other, &place.master(), &SystemWorld).unwrap();
    rotate(&place.data(), &place.master(), &SystemWorld).unwrap();
    open(&other, &place.master(), &SystemWorld).unwrap();
}

#[test]
fn older_master_key_can_be_forgotten_and_the_current_one_cannot() {
    let place = Place::new();
    place.open().unwrap();
    let rotation = rotate(&place.data(), &place.master(), &SystemWorld).unwrap();
    let current = MasterKeys::forget(&place.master(), &rotation.master.to_string());
    assert!(matches!(current, Err(KeyError::InUse { .. })));
    MasterKeys::forget(&place.master(), &rotation.master_before.to_string()).unwrap();
    place.open().unwrap();
    let again = MasterKeys::forget(&place.master(), &rotation.master_before.to_string());
    assert!(matches!(again, Err(KeyError::Unknown { .. })));
}
