//! Parses numbers with units: counts, sizes, durations, shares, rates.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{ExprKind, Rate, RateUnit};
use crate::document::token::Kind;
use crate::span::Span;

use super::report::{BAD_NUMBER, listed};
use super::{Parsed, Parser, Reported};

const COUNTS: [(&str, u32); 3] = [("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
/// Units of sizes, in bytes.
const SIZES: [(&str, u32); 5] = [("bytes", 1), ("byte", 1), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];
/// Units of durations, in seconds.
const DURATIONS: [(&str, u32); 4] = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
const RATES: [(&str, RateUnit); 4] =
    [("s", RateUnit::Second), ("min", RateUnit::Minute), ("hour", RateUnit::Hour), ("day", RateUnit::Day)];

/// A value of `volume`.
pub(super) enum Figure {
    /// Number of items.
    Items(u64),
    /// Size of an item.
    Bytes(u64),
    /// Number of items per partition.
    PerPartition(u64),
}

/// A number token, split into digits and unit.
struct Literal {
    /// Digits with the decimal point.
    digits: String,
    /// Letters after the digits.
    unit: String,
    span: Span,
}

impl Parser<'_> {
    /// Consumes a number token.
    fn literal(&mut self, what: &str) -> Parsed<Literal> {
        if self.peek().kind != Kind::Number {
            return Err(self.expected(what));
        }
        let token = self.peek();
        let end = token.text.find(|next: char| !next.is_ascii_digit() && next != '.').unwrap_or(token.text.len());
        let (digits, unit) = token.text.split_at(end);
        let literal = Literal { digits: digits.to_owned(), unit: unit.to_owned(), span: token.span };
        self.bump();
        Ok(literal)
    }

    /// Consumes a number token, and the word after it if it is one of these units.
    fn literal_with_unit(&mut self, what: &str, units: &[(&str, u32)]) -> Parsed<Literal> {
        let mut literal = self.literal(what)?;
        let next = self.peek();
        let is_unit = next.kind == Kind::Word && !next.first && !self.peek_at(1).is_mark(":");
        if literal.unit.is_empty() && is_unit && units.iter().any(|(unit, _)| *unit == next.text) {
            literal.unit = next.text.clone();
            self.bump();
        }
        Ok(literal)
    }

    fn bad_number(&mut self, literal: &Literal, help: &str) -> Reported {
        let written = format!("{}{}", literal.digits, literal.unit);
        let message = format!("`{written}` is not a valid number here");
        self.report(Diagnostic::error(BAD_NUMBER, literal.span, message).help(help))
    }

    /// Converts the number to the smallest of these units; reports a result that is not whole.
    fn scaled(&mut self, literal: &Literal, units: &[(&str, u32)]) -> Parsed<u64> {
        let factor = units.iter().find(|(unit, _)| *unit == literal.unit).map(|(_, factor)| *factor);
        let factor = if literal.unit.is_empty() { Some(1) } else { factor };
        let scaled = factor.and_then(|factor| scale(&literal.digits, u64::from(factor)));
        scaled.ok_or_else(|| {
            let names: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
            self.bad_number(literal, &format!("write an integer, optionally with {}", listed(&names)))
        })
    }

    /// Parses a count such as `20`, `20K`, `1.5M`.
    pub(super) fn count(&mut self, what: &str) -> Parsed<u64> {
        let literal = self.literal(what)?;
        self.scaled(&literal, &COUNTS)
    }

    /// Parses a whole number, possibly negative.
    pub(super) fn whole(&mut self, what: &str) -> Parsed<i64> {
        let negative = self.eat_mark("-");
        let literal = self.literal(what)?;
        let value = self.scaled(&literal, &COUNTS)?;
        let value = i64::try_from(value).map(|value| if negative { -value } else { value });
        value.map_err(|_| self.bad_number(&literal, "write a number below 2^63"))
    }

    /// Parses a duration such as `30d` and returns seconds.
    pub(super) fn duration(&mut self, what: &str) -> Parsed<u64> {
        let literal = self.literal_with_unit(what, &DURATIONS)?;
        if literal.unit.is_empty() {
            return Err(self.bad_number(&literal, "add a unit: `30s`, `30m`, `30h` or `30d`"));
        }
        self.scaled(&literal, &DURATIONS)
    }

    /// Parses `4%` and returns 4.
    pub(super) fn percent(&mut self) -> Parsed<f64> {
        let literal = self.literal("a share such as `4%`")?;
        let value = literal.digits.parse::<f64>().ok().filter(|value| literal.unit.is_empty() && *value <= 100.0);
        let value = value.ok_or_else(|| self.bad_number(&literal, "write a share of at most `100%`"))?;
        self.expect_mark("%", "after the share")?;
        Ok(value)
    }

    /// Parses `2M items`, `600 bytes` or `300 per partition`.
    pub(super) fn volume_figure(&mut self, max: bool) -> Parsed<Figure> {
        let what = if max {
            "a size or a count, as in `max 4 KB`"
        } else {
            "a number, as in `2M items`, `600 bytes` or `300 per partition`"
        };
        let literal = self.literal_with_unit(what, &SIZES)?;
        if SIZES.iter().any(|(unit, _)| *unit == literal.unit) {
            return self.scaled(&literal, &SIZES).map(Figure::Bytes);
        }
        let count = self.scaled(&literal, &COUNTS)?;
        if self.eat_word("per") {
            self.expect_word("partition", "after `per`")?;
            return Ok(Figure::PerPartition(count));
        }
        if !max && (self.eat_word("items") || self.eat_word("item")) {
            return Ok(Figure::Items(count));
        }
        let words = if max {
            listed(&["bytes", "KB", "per partition"])
        } else {
            listed(&["items", "bytes", "KB", "per partition"])
        };
        Err(self.expected_with(
            &format!("what `{}{}` counts", literal.digits, literal.unit),
            &format!("write {words} after it"),
        ))
    }

    /// Parses `400/s`.
    pub(super) fn rate(&mut self) -> Parsed<Rate> {
        let literal = self.literal("a rate such as `400/s`")?;
        let factor =
            COUNTS.iter().find(|(unit, _)| *unit == literal.unit).map_or(1.0, |(_, factor)| f64::from(*factor));
        let known = literal.unit.is_empty() || factor > 1.0;
        let count = literal.digits.parse::<f64>().ok().filter(|_| known);
        let count = count.ok_or_else(|| self.bad_number(&literal, "write a rate such as `400/s` or `2K/min`"))?;
        if !self.eat_mark("/") {
            let help = format!("write `{0}/s`, `{0}/min`, `{0}/hour` or `{0}/day` for a rate", literal.digits);
            return Err(self.expected_with("`/` and the unit of time", &help));
        }
        let units = RATES.map(|(unit, _)| unit);
        let unit = self.keyword("`s`, `min`, `hour` or `day`", &units)?;
        let per = RATES.iter().find(|(name, _)| *name == unit).map_or(RateUnit::Second, |(_, per)| *per);
        Ok(Rate { count: count * factor, per })
    }

    /// Parses a number in an expression: `12`, `-1.5`, `30d`, `20K`, `4 KB`.
    pub(super) fn number(&mut self) -> Parsed<ExprKind> {
        let negative = self.eat_mark("-");
        let sign = if negative { "-" } else { "" };
        let literal = self.literal_with_unit("a number", &SIZES)?;
        if literal.unit.is_empty() {
            return Ok(ExprKind::Number(format!("{sign}{}", literal.digits)));
        }
        if !negative && DURATIONS.iter().any(|(unit, _)| *unit == literal.unit) {
            return self.scaled(&literal, &DURATIONS).map(ExprKind::Duration);
        }
        let counts = COUNTS.iter().chain(&SIZES).copied().collect::<Vec<_>>();
        let units: Vec<(&str, u32)> =
            counts.into_iter().chain(if negative { [].iter() } else { DURATIONS.iter() }.copied()).collect();
        let known = units.iter().any(|(unit, _)| *unit == literal.unit);
        if !known {
            return Err(self.bad_number(&literal, "write a number such as `12`, `1.5`, `30d`, `20K` or `4 KB`"));
        }
        let value = self.scaled(&literal, &units)?;
        Ok(ExprKind::Number(format!("{sign}{value}")))
    }
}

/// Multiplies `digits`, possibly with a decimal point, by `factor`; `None` if the result is not whole or overflows.
fn scale(digits: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Some(whole);
    }
    let divisor = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = fraction.parse::<u64>().ok()?.checked_mul(factor)?;
    part.is_multiple_of(divisor).then(|| whole.checked_add(part / divisor)).flatten()
}
