//! Finds strings that two sequences of languages share, by searching the product of two automata.
//!
//! Each sequence becomes a nondeterministic automaton with states between the symbols of its pieces. A step on a symbol
//! that both allow leads to the next pair of states. The search is breadth-first, so it finds a short text, and it
//! records which piece of either side each character belongs to.
//!
//! ```text
//!   "USER#" {name}        U─S─E─R─#─◦a◦a◦a…
//!   {kind} "#1"           a◦a◦a◦a◦─#─1         → USER#1, once as "USER#"+"1", once as "USER"+"#1"
//! ```
//!
//! A run of more than [`REPEAT_MAX`] symbols is treated as unbounded: the search may then find a string that is too
//! long, but never misses one. The rough automaton does not count repetitions at all. It has few states and settles
//! most questions quickly.

use std::collections::{HashSet, VecDeque};

use super::class::Symbol;
use super::language::{Language, Run};

/// Repetitions up to this number are represented exactly.
const REPEAT_MAX: usize = 64;

/// Automaton of a concatenation of languages.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    states: Vec<Vec<Edge>>,
    last: usize,
    /// True if repetitions are not counted.
    rough: bool,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Symbol read by the step; `None` for an empty step.
    symbol: Option<Symbol>,
    piece: usize,
    to: usize,
}

/// A string that both sides accept, split into the pieces of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// Text of each piece of the left side.
    pub left: Vec<String>,
    /// Text of each piece of the right side.
    pub right: Vec<String>,
}

impl Automaton {
    /// Builds the automaton of a concatenation.
    pub(super) fn new<'a>(pieces: impl IntoIterator<Item = &'a Language>) -> Self {
        let mut automaton = Self { states: vec![Vec::new()], last: 0, rough: false };
        for (piece, language) in pieces.into_iter().enumerate() {
            automaton.append(piece, language);
        }
        automaton
    }

    /// Builds the automaton without counting: any repetition is unbounded.
    pub(super) fn rough<'a>(pieces: impl IntoIterator<Item = &'a Language>) -> Self {
        let mut automaton = Self { states: vec![Vec::new()], last: 0, rough: true };
        for (piece, language) in pieces.into_iter().enumerate() {
            automaton.append(piece, language);
        }
        automaton
    }

    fn append(&mut self, piece: usize, language: &Language) {
        let start = self.last;
        let mut ends = Vec::new();
        for words in &language.words {
            let mut at = start;
            for run in words {
                at = self.run(piece, at, run);
            }
            ends.push(at);
        }
        let end = self.state();
        for at in ends {
            self.edge(at, None, piece, end);
        }
        self.last = end;
    }

    /// Adds a run after a state and returns the state behind it.
    fn run(&mut self, piece: usize, from: usize, run: &Run) -> usize {
        let mut at = from;
        if self.rough && run.max != Some(1) {
            let first = if run.min > 0 { self.step(piece, at, run.symbol) } else { at };
            return self.any_number(piece, first, run.symbol);
        }
        let min = run.min.min(REPEAT_MAX);
        for _ in 0..min {
            at = self.step(piece, at, run.symbol);
        }
        let more =
            run.max.map(|max| max.saturating_sub(run.min)).filter(|&more| more <= REPEAT_MAX && run.min <= REPEAT_MAX);
        match more {
            Some(0) => at,
            Some(more) => self.at_most(piece, at, run.symbol, more),
            None => self.any_number(piece, at, run.symbol),
        }
    }

    fn at_most(&mut self, piece: usize, from: usize, symbol: Symbol, count: usize) -> usize {
        let mut stops = vec![from];
        for _ in 0..count {
            let before = stops[stops.len() - 1];
            stops.push(self.step(piece, before, symbol));
        }
        let end = self.state();
        for stop in stops {
            self.edge(stop, None, piece, end);
        }
        end
    }

    fn any_number(&mut self, piece: usize, from: usize, symbol: Symbol) -> usize {
        let end = self.state();
        self.edge(from, None, piece, end);
        self.edge(end, Some(symbol), piece, end);
        end
    }

    fn step(&mut self, piece: usize, from: usize, symbol: Symbol) -> usize {
        let to = self.state();
        self.edge(from, Some(symbol), piece, to);
        to
    }

    fn state(&mut self) -> usize {
        self.states.push(Vec::new());
        self.states.len() - 1
    }

    fn edge(&mut self, from: usize, symbol: Option<Symbol>, piece: usize, to: usize) {
        self.states[from].push(Edge { symbol, piece, to });
    }
}

/// Returns a string that both accept; `None` if no such string exists, or if the search was given up.
pub(super) fn shared(left: &Automaton, right: &Automaton) -> Option<Shared> {
    Walk::new(left, right, false).find().ok().flatten()
}

/// Returns true unless it is certain that no string is accepted by both.
pub(super) fn may_share(left: &Automaton, right: &Automaton) -> bool {
    !matches!(Walk::new(left, right, false).find(), Ok(None))
}

/// Returns a string that the automaton can split in two ways, so that a character belongs to different pieces.
pub(super) fn ambiguous(automaton: &Automaton) -> Option<Shared> {
    Walk::new(automaton, automaton, true).find().ok().flatten()
}

/// Reached pairs of states after which a search is given up. Templates that people write need a few thousand.
const STEPS_MAX: usize = 1_000_000;

/// A search that was given up.
struct GivenUp;

/// A pair of states, and true if the two readings have diverged.
type StatePair = (usize, usize, bool);

/// A character and the pieces it belongs to, left and right.
type Read = (char, usize, usize);

/// A reached state pair, its predecessor, and the character read on the way.
struct Reached {
    place: StatePair,
    from: usize,
    read: Option<Read>,
}

struct Walk<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    /// True if the two readings must diverge.
    parting: bool,
    /// Numbers of the reached state pairs: see [`Walk::number`]. Most pairs of large automata are never reached.
    seen: HashSet<usize>,
    steps: Vec<Reached>,
    queue: VecDeque<usize>,
}

impl<'a> Walk<'a> {
    fn new(left: &'a Automaton, right: &'a Automaton, parting: bool) -> Self {
        let steps = vec![Reached { place: (0, 0, false), from: 0, read: None }];
        let mut walk = Self { left, right, parting, seen: HashSet::new(), steps, queue: VecDeque::from([0]) };
        let start = walk.number((0, 0, false));
        walk.seen.insert(start);
        walk
    }

    fn number(&self, (left, right, parted): StatePair) -> usize {
        let pair = left * self.right.states.len() + right;
        if self.parting { pair * 2 + usize::from(parted) } else { pair }
    }

    fn find(mut self) -> Result<Option<Shared>, GivenUp> {
        while let Some(step) = self.queue.pop_front() {
            if self.steps[step].place == (self.left.last, self.right.last, self.parting) {
                return Ok(Some(self.trace(step)));
            }
            if self.steps.len() > STEPS_MAX {
                return Err(GivenUp);
            }
            self.leave(step);
        }
        Ok(None)
    }

    fn leave(&mut self, step: usize) {
        let (left, right) = (self.left, self.right);
        let place = self.steps[step].place;
        let (left_edges, right_edges) = (&left.states[place.0], &right.states[place.1]);
        for edge in left_edges.iter().filter(|edge| edge.symbol.is_none()) {
            self.reach((edge.to, place.1, place.2), step, None);
        }
        for edge in right_edges.iter().filter(|edge| edge.symbol.is_none()) {
            self.reach((place.0, edge.to, place.2), step, None);
        }
        for one in left_edges {
            for two in right_edges {
                self.read(step, one, two);
            }
        }
    }

    fn read(&mut self, step: usize, one: &Edge, two: &Edge) {
        let (Some(left), Some(right)) = (one.symbol, two.symbol) else { return };
        let Some(both) = left.and(right) else { return };
        let parted = self.parting && (self.steps[step].place.2 || one.piece != two.piece);
        let to = (one.to, two.to, parted);
        if self.seen.contains(&self.number(to)) {
            return;
        }
        if let Some(character) = both.example() {
            self.reach(to, step, Some((character, one.piece, two.piece)));
        }
    }

    /// Enqueues a state pair. Empty steps go to the front, so that short strings are found first.
    fn reach(&mut self, to: StatePair, from: usize, read: Option<Read>) {
        let number = self.number(to);
        if !self.seen.insert(number) {
            return;
        }
        self.steps.push(Reached { place: to, from, read });
        let step = self.steps.len() - 1;
        if read.is_none() {
            self.queue.push_front(step);
        } else {
            self.queue.push_back(step);
        }
    }

    fn trace(&self, end: usize) -> Shared {
        let mut reads = Vec::new();
        let mut step = end;
        while step != 0 {
            reads.extend(self.steps[step].read);
            step = self.steps[step].from;
        }
        let mut shared = Shared { left: Vec::new(), right: Vec::new() };
        for (character, one, two) in reads.into_iter().rev() {
            put(&mut shared.left, one, character);
            put(&mut shared.right, two, character);
        }
        shared
    }
}

fn put(pieces: &mut Vec<String>, piece: usize, character: char) {
    if pieces.len() <= piece {
        pieces.resize(piece + 1, String::new());
    }
    pieces[piece].push(character);
}

impl Shared {
    /// Returns the string of a piece of the left side.
    pub(super) fn left(&self, piece: usize) -> &str {
        self.left.get(piece).map_or("", String::as_str)
    }

    /// Returns the string of a piece of the right side.
    pub(super) fn right(&self, piece: usize) -> &str {
        self.right.get(piece).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Bounds, Scalar};
    use crate::schema::{Format, Type};

    fn string(min: i64, max: Option<i64>) -> Language {
        Language::of(&Type::Scalar(Scalar::String, Bounds { min: Some(min), max }), Format::Plain).expect("a language")
    }

    fn automaton(pieces: &[Language]) -> Automaton {
        Automaton::new(pieces)
    }

    #[test]
    fn different_literals_share_nothing() {
        let user = automaton(&[Language::text("USER#"), string(1, None)]);
        let server = automaton(&[Language::text("SERVER#"), string(1, None)]);
        assert_eq!(shared(&user, &server), None);
    }

    #[test]
    fn free_text_can_hold_what_the_other_writes() {
        let one = automaton(&[Language::text("USER#"), string(1, None)]);
        let two = automaton(&[Language::text("USER#"), string(1, None), Language::text("#SETTINGS")]);
        let text = shared(&one, &two).expect("a text");
        assert_eq!((text.left(1), text.right(1), text.right(2)), ("a#SETTINGS", "a", "#SETTINGS"));
    }

    #[test]
    fn lengths_keep_texts_apart() {
        let code = automaton(&[string(8, Some(12))]);
        assert_eq!(shared(&code, &automaton(&[Language::text("META")])), None);
        assert!(shared(&code, &automaton(&[Language::text("METADATA")])).is_some());
        assert!(shared(&automaton(&[string(100, Some(200))]), &automaton(&[string(10, Some(20))])).is_none());
    }

    #[test]
    fn two_free_texts_around_a_delimiter_are_read_in_two_ways() {
        let text = ambiguous(&automaton(&[string(0, None), Language::text("#"), string(0, None)])).expect("a text");
        let whole = |pieces: &[String]| pieces.concat();
        assert_eq!(whole(&text.left), whole(&text.right));
        assert_ne!(text.left, text.right);
        let ulid = Language::of(&Scalar::Ulid.into(), Format::Plain).expect("a language");
        assert_eq!(ambiguous(&automaton(&[ulid, Language::text("#"), string(0, None)])), None);
        let email = Language::of(&Scalar::Email.into(), Format::Plain).expect("a language");
        assert_eq!(ambiguous(&automaton(&[email, Language::text("#"), string(0, None)])), None);
    }
}
