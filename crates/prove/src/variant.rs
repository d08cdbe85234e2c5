//! Variants of the worlds. Each seed selects one value of every dimension, so that a few seeds cover all of them.

/// Variant of the worlds of one seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) seed: u64,
    /// Selects the values of enumerations, numbers and times, so that guards and conditions hold in some seeds.
    pub(super) round: usize,
    /// Relation between the free-text names of the two tenants.
    pub(super) spelling: Spelling,
    /// Ids are equal in both tenants wherever keys allow that.
    pub(super) equal_ids: bool,
    /// Items have their optional fields.
    pub(super) has_optional: bool,
    /// Items lack the fields whose constant default applies on read, as if the model got them later.
    pub(super) lacks_later: bool,
    /// Items refer to the other tenant by every field for which an earlier call was accepted with a foreign value.
    pub(super) crosses: bool,
    /// Items have expired, but the store has not deleted them yet.
    pub(super) is_expired: bool,
}

/// Relation between the names of the two tenants, where they are free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Unrelated names.
    Plain,
    /// The other tenant's name continues the caller's: `a` and `a#b`.
    OtherContinues,
    /// The names differ in case only.
    Case,
    /// The caller's name continues the other tenant's: `a#b` and `a`.
    CallerContinues,
}

impl Variant {
    pub(super) fn of(seed: u64) -> Self {
        let spelling = match seed % 4 {
            0 => Spelling::Plain,
            1 => Spelling::OtherContinues,
            2 => Spelling::Case,
            _ => Spelling::CallerContinues,
        };
        Self {
            seed,
            round: usize::try_from(seed).unwrap_or(0),
            spelling,
            equal_ids: seed % 3 != 1,
            has_optional: seed % 4 < 2,
            lacks_later: seed % 5 == 4,
            crosses: seed % 2 == 1,
            is_expired: seed % 8 == 7,
        }
    }
}

/// Deterministic sequence of pseudo-random numbers (SplitMix64): a seed repeats the same calls on every machine.
pub(super) struct Sequence(u64);

impl Sequence {
    /// Starts the sequence of one pattern in one seed.
    pub(super) fn of(seed: u64, name: &str) -> Self {
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Self(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % end.max(1) as u64).unwrap_or(0)
    }
}
