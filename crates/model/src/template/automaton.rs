//! Texts that two sequences of languages share, found by walking both at once.
//!
//! Each sequence becomes an automaton whose states lie between the symbols of its pieces; a step on a symbol both allow leads to the next
//! pair of states. The walk is breadth first, so the text it finds is a short one, and each character of it knows which piece of either side
//! it belongs to.
//!
//! ```text
//!   "USER#" {name}        U─S─E─R─#─◦a◦a◦a…
//!   {kind} "#1"           a◦a◦a◦a◦─#─1         → USER#1, once as "USER#"+"1", once as "USER"+"#1"
//! ```
//!
//! A run of more than [`REPEAT_MAX`] symbols counts as one without end: the walk may then find a text that is too long, and never misses one.

use std::collections::{HashMap, VecDeque};

use super::class::Symbol;
use super::language::{Language, Run};

/// Up to so many repetitions a run is taken exactly.
const REPEAT_MAX: usize = 64;

/// The automaton of languages after each other.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    states: Vec<Vec<Edge>>,
    last: usize,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Nothing for a step that reads nothing.
    symbol: Option<Symbol>,
    piece: usize,
    to: usize,
}

/// A text both sides have, cut into the pieces of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// The text of each piece of the left side.
    pub left: Vec<String>,
    /// The text of each piece of the right side.
    pub right: Vec<String>,
}

impl Automaton {
    /// The automaton of these, one after the other.
    pub(super) fn new<'a>(pieces: impl IntoIterator<Item = &'a Language>) -> Self {
        let mut automaton = Self { states: vec![Vec::new()], last: 0 };
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

    /// Adds a run after a state, and gives the state behind it.
    fn run(&mut self, piece: usize, from: usize, run: &Run) -> usize {
        let mut at = from;
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

/// A text that both have; `None` only if there is none.
pub(super) fn shared(left: &Automaton, right: &Automaton) -> Option<Shared> {
    Walk::new(left, right, false).find()
}

/// A text that the automaton reads in two ways: a character belongs to one piece in the one, to another in the other.
pub(super) fn ambiguous(automaton: &Automaton) -> Option<Shared> {
    Walk::new(automaton, automaton, true).find()
}

/// A pair of states, and whether the two readings have parted.
type Place = (usize, usize, bool);

/// A character and the pieces it belongs to.
type Read = (char, usize, usize);

struct Walk<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    /// The readings must part somewhere.
    parting: bool,
    /// How each place was reached.
    from: HashMap<Place, Option<(Place, Option<Read>)>>,
    queue: VecDeque<Place>,
}

impl<'a> Walk<'a> {
    fn new(left: &'a Automaton, right: &'a Automaton, parting: bool) -> Self {
        let start = (0, 0, false);
        Self { left, right, parting, from: HashMap::from([(start, None)]), queue: VecDeque::from([start]) }
    }

    fn find(mut self) -> Option<Shared> {
        while let Some(place) = self.queue.pop_front() {
            if place == (self.left.last, self.right.last, self.parting) {
                return Some(self.trace(place));
            }
            self.leave(place);
        }
        None
    }

    fn leave(&mut self, place: Place) {
        let (left, right) = (self.left, self.right);
        let (left_edges, right_edges) = (&left.states[place.0], &right.states[place.1]);
        for edge in left_edges.iter().filter(|edge| edge.symbol.is_none()) {
            self.reach((edge.to, place.1, place.2), place, None, true);
        }
        for edge in right_edges.iter().filter(|edge| edge.symbol.is_none()) {
            self.reach((place.0, edge.to, place.2), place, None, true);
        }
        for one in left_edges {
            for two in right_edges {
                self.read(place, one, two);
            }
        }
    }

    fn read(&mut self, place: Place, one: &Edge, two: &Edge) {
        let (Some(left), Some(right)) = (one.symbol, two.symbol) else { return };
        let Some(character) = left.and(right).and_then(Symbol::example) else { return };
        let parted = self.parting && (place.2 || one.piece != two.piece);
        self.reach((one.to, two.to, parted), place, Some((character, one.piece, two.piece)), false);
    }

    fn reach(&mut self, to: Place, from: Place, read: Option<Read>, soon: bool) {
        if self.from.contains_key(&to) {
            return;
        }
        self.from.insert(to, Some((from, read)));
        if soon {
            self.queue.push_front(to);
        } else {
            self.queue.push_back(to);
        }
    }

    fn trace(&self, end: Place) -> Shared {
        let mut reads = Vec::new();
        let mut place = end;
        while let Some(Some((before, read))) = self.from.get(&place) {
            reads.extend(*read);
            place = *before;
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
    /// The text of a piece of the left side.
    pub(super) fn left(&self, piece: usize) -> &str {
        self.left.get(piece).map_or("", String::as_str)
    }

    /// The text of a piece of the right side.
    pub(super) fn right(&self, piece: usize) -> &str {
        self.right.get(piece).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ast::Bounds;
    use crate::schema::{Format, Type};

    fn string(min: i64, max: Option<i64>) -> Language {
        Language::of(&Type::String(Bounds { min: Some(min), max }), Format::Plain).expect("a language")
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
        let ulid = Language::of(&Type::Ulid, Format::Plain).expect("a language");
        assert_eq!(ambiguous(&automaton(&[ulid, Language::text("#"), string(0, None)])), None);
        let email = Language::of(&Type::Email, Format::Plain).expect("a language");
        assert_eq!(ambiguous(&automaton(&[email, Language::text("#"), string(0, None)])), None);
    }
}
