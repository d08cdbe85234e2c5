//! DynamoDB's number type: a decimal with up to 38 significant digits and a magnitude from
//! 1E-130 to 9.99…E+125, or zero.
//!
//! [`Number`] has a sign, a coefficient and an exponent. It is always normalised (no trailing zeros in the
//! coefficient), so equal numbers are equal structs. [`OrderedNumber`] is the same number encoded in self-delimiting
//! bytes that sort in numeric order:
//!
//! ```text
//! zero       02
//! positive   03 E pairs 00          E = decimal exponent of the leading digit + 130
//! negative   01 !E !pairs ff        the same with every byte after the sign inverted
//! ```
//!
//! `pairs` are two decimal digits per byte, stored as 1 to 100, so that the terminator sorts before any pair. Items and
//! keys use the same encoding (ADR 0002).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Maximum number of significant digits.
pub const DIGITS_MAX: u32 = 38;
const LEADING_EXPONENT_MAX: i32 = 125;
const LEADING_EXPONENT_MIN: i32 = -130;
const NEGATIVE: u8 = 1;
const ZERO: u8 = 2;
const POSITIVE: u8 = 3;
const POWER_19: u128 = 10_000_000_000_000_000_000;

/// A decimal number with DynamoDB's range and precision.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    coefficient: u128,
    exponent: i16,
}

/// Reason for which a text or a result is not a valid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// The text is not a number.
    NotANumber,
    /// The magnitude is above 9.99…E+125.
    Overflow,
    /// The magnitude is below 1E-130 and not zero.
    Underflow,
    /// The number has more than 38 significant digits.
    Precision,
}

impl Number {
    /// The number zero.
    pub const ZERO: Self = Self { negative: false, coefficient: 0, exponent: 0 };

    /// Returns whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.coefficient == 0
    }

    /// Returns whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the number of significant digits; 1 for zero.
    pub fn significant_digits(&self) -> u32 {
        self.coefficient.checked_ilog10().map_or(1, |log| log + 1)
    }

    /// Returns the decimal exponent of the leading digit: 2 for 123, -1 for 0.5, 0 for zero.
    pub fn leading_exponent(&self) -> i32 {
        i32::from(self.exponent) + self.significant_digits() as i32 - 1
    }

    /// Returns the number as an `i64` if it is a whole number in range.
    pub fn to_i64(&self) -> Option<i64> {
        let scale = 10u128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        let magnitude = i128::try_from(self.coefficient.checked_mul(scale)?).ok()?;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// Returns the number rounded down to an `i64` if it is in range.
    pub fn whole_i64(&self) -> Option<i64> {
        if self.exponent >= 0 {
            return self.to_i64();
        }
        let scale = 10u128.checked_pow(u32::from(self.exponent.unsigned_abs()));
        // A scale beyond 128 bits is larger than any coefficient.
        let whole = scale.map_or(0, |scale| self.coefficient / scale);
        let magnitude = i128::try_from(whole).ok()?;
        // A normalised number with a negative exponent always has a fraction.
        i64::try_from(if self.negative { -magnitude - 1 } else { magnitude }).ok()
    }

    /// Returns the exact sum.
    ///
    /// # Errors
    /// Returns an error if the sum has more than 38 digits or is out of range.
    pub fn checked_add(self, other: Self) -> Result<Self, NumberError> {
        if self.is_zero() {
            return Ok(other);
        }
        if other.is_zero() {
            return Ok(self);
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = u32::from(high.exponent.abs_diff(low.exponent));
        match 10u128.checked_pow(shift).and_then(|scale| high.coefficient.checked_mul(scale)) {
            Some(aligned) => sum_aligned(high.negative, aligned, low),
            // The two numbers together span more than 38 digits, so the exact sum would need more than 38.
            None => Err(NumberError::Precision),
        }
    }

    /// Returns the exact difference.
    ///
    /// # Errors
    /// Returns an error if the difference has more than 38 digits or is out of range.
    pub fn checked_sub(self, other: Self) -> Result<Self, NumberError> {
        self.checked_add(other.negated())
    }

    /// Returns the number with the opposite sign.
    pub fn negated(self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self }
    }

    /// Returns the encoding that sorts in numeric order.
    pub fn to_ordered(self) -> OrderedNumber {
        let mut out = OrderedNumber { bytes: [0; OrderedNumber::LENGTH_MAX], length: 0 };
        if self.is_zero() {
            out.push(ZERO);
            return out;
        }
        let mask = if self.negative { 0xff } else { 0 };
        out.push(if self.negative { NEGATIVE } else { POSITIVE });
        out.push((self.leading_exponent() - LEADING_EXPONENT_MIN) as u8 ^ mask);
        let mut rest = self.coefficient * 10u128.pow(DIGITS_MAX - self.significant_digits());
        let mut unit = 10u128.pow(DIGITS_MAX - 2);
        while rest != 0 {
            out.push(((rest / unit) as u8 + 1) ^ mask);
            rest %= unit;
            unit = (unit / 100).max(1);
        }
        out.push(mask);
        out
    }

    /// Decodes an ordered number from the front of `bytes`; returns it with the number of bytes read.
    pub fn from_ordered_prefix(bytes: &[u8]) -> Option<(Self, usize)> {
        let (sign, mask) = match *bytes.first()? {
            ZERO => return Some((Self::ZERO, 1)),
            NEGATIVE => (true, 0xff),
            POSITIVE => (false, 0),
            _ => return None,
        };
        let leading = i32::from(bytes.get(1)? ^ mask) + LEADING_EXPONENT_MIN;
        let mut coefficient = 0u128;
        let mut digits = 0;
        for (index, byte) in bytes.iter().enumerate().skip(2) {
            match byte ^ mask {
                0 => return finish_ordered(sign, coefficient, leading, digits).map(|number| (number, index + 1)),
                pair @ 1..=100 if digits < DIGITS_MAX => coefficient = coefficient * 100 + u128::from(pair - 1),
                _ => return None,
            }
            digits += 2;
        }
        None
    }

    /// Decodes bytes that are exactly one ordered number.
    pub fn from_ordered(bytes: &[u8]) -> Option<Self> {
        let (number, used) = Self::from_ordered_prefix(bytes)?;
        (used == bytes.len()).then_some(number)
    }

    fn signum(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Returns a key that orders numbers of the same sign: the exponent of the leading digit, and the digits padded
    /// to 38.
    fn magnitude(&self) -> (i32, u128) {
        (self.leading_exponent(), self.coefficient * 10u128.pow(DIGITS_MAX - self.significant_digits()))
    }

    fn normalised(negative: bool, mut coefficient: u128, mut exponent: i32) -> Result<Self, NumberError> {
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        while coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        let digits = coefficient.ilog10() + 1;
        let leading = exponent.saturating_add(digits as i32 - 1);
        if leading > LEADING_EXPONENT_MAX {
            return Err(NumberError::Overflow);
        }
        if leading < LEADING_EXPONENT_MIN {
            return Err(NumberError::Underflow);
        }
        if digits > DIGITS_MAX {
            return Err(NumberError::Precision);
        }
        let exponent = i16::try_from(exponent).map_err(|_| NumberError::Underflow)?;
        Ok(Self { negative, coefficient, exponent })
    }
}

fn sum_aligned(negative: bool, aligned: u128, low: Number) -> Result<Number, NumberError> {
    let exponent = i32::from(low.exponent);
    if negative == low.negative {
        let sum = aligned.checked_add(low.coefficient).ok_or(NumberError::Precision)?;
        return Number::normalised(negative, sum, exponent);
    }
    match aligned.cmp(&low.coefficient) {
        Ordering::Less => Number::normalised(low.negative, low.coefficient - aligned, exponent),
        _ => Number::normalised(negative, aligned - low.coefficient, exponent),
    }
}

fn finish_ordered(negative: bool, coefficient: u128, leading: i32, digits: u32) -> Option<Number> {
    let canonical_start = digits > 0 && coefficient / 10u128.pow(digits - 1) != 0;
    let canonical_end = !coefficient.is_multiple_of(100);
    if !canonical_start || !canonical_end {
        return None;
    }
    Number::normalised(negative, coefficient, leading - digits as i32 + 1).ok()
}

impl FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0 {
            return Err(NumberError::NotANumber);
        }
        let digits = Digits::read(whole.bytes().chain(fraction.bytes()))?;
        digits.finish(negative, exponent.saturating_sub(fraction.len() as i32))
    }
}

fn parse_exponent(text: &str) -> Result<i32, NumberError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::NotANumber);
    }
    let magnitude = digits.trim_start_matches('0').get(..5).map_or_else(|| digits.parse().unwrap_or(0), |_| 99_999);
    Ok(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Decimal digits of a text. Trailing zeros are counted instead of multiplied in, so that
/// numbers of any length can be parsed.
struct Digits {
    coefficient: u128,
    significant: u32,
    trailing_zeros: i32,
}

impl Digits {
    fn read(bytes: impl Iterator<Item = u8>) -> Result<Self, NumberError> {
        let mut digits = Self { coefficient: 0, significant: 0, trailing_zeros: 0 };
        for byte in bytes {
            match byte {
                b'0' if digits.significant == 0 => {}
                b'0' => digits.trailing_zeros = digits.trailing_zeros.saturating_add(1),
                b'1'..=b'9' => digits.push(byte - b'0'),
                _ => return Err(NumberError::NotANumber),
            }
        }
        Ok(digits)
    }

    fn push(&mut self, digit: u8) {
        let zeros = u32::try_from(self.trailing_zeros).unwrap_or(0);
        self.significant = self.significant.saturating_add(zeros).saturating_add(1);
        self.trailing_zeros = 0;
        if self.significant <= DIGITS_MAX {
            self.coefficient = self.coefficient * 10u128.pow(zeros + 1) + u128::from(digit);
        }
    }

    fn finish(self, negative: bool, exponent: i32) -> Result<Number, NumberError> {
        let exponent = exponent.saturating_add(self.trailing_zeros);
        if self.significant > DIGITS_MAX {
            let leading = exponent.saturating_add(self.significant as i32 - 1);
            return Err(match leading {
                LEADING_EXPONENT_MIN..=LEADING_EXPONENT_MAX => NumberError::Precision,
                i32::MIN..LEADING_EXPONENT_MIN => NumberError::Underflow,
                _ => NumberError::Overflow,
            });
        }
        Number::normalised(negative, self.coefficient, exponent)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        let number = Self::normalised(value < 0, u128::from(value.unsigned_abs()), 0);
        number.unwrap_or(Self::ZERO) // An i64 has at most 19 digits, so it is always in range.
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.signum(), other.signum()) {
            (1, 1) => self.magnitude().cmp(&other.magnitude()),
            (-1, -1) => other.magnitude().cmp(&self.magnitude()),
            (one, two) => one.cmp(&two),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    /// Formats the number without an exponent, as DynamoDB does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; DIGITS_MAX as usize];
        let digits = decimal_digits(self.coefficient, &mut buffer);
        let point = digits.len() as i32 + i32::from(self.exponent);
        if self.negative {
            f.write_str("-")?;
        }
        if self.exponent >= 0 {
            f.write_str(digits)?;
            write_zeros(f, self.exponent as usize)
        } else if point <= 0 {
            f.write_str("0.")?;
            write_zeros(f, -point as usize)?;
            f.write_str(digits)
        } else {
            let (whole, fraction) = digits.split_at(point as usize);
            f.write_str(whole)?;
            f.write_str(".")?;
            f.write_str(fraction)
        }
    }
}

/// Returns the digits of a coefficient, which has at most 38.
fn decimal_digits(coefficient: u128, buffer: &mut [u8; DIGITS_MAX as usize]) -> &str {
    let mut start = buffer.len();
    let mut high = coefficient;
    // Divides by 10^19 first: 19 digits fit into 64 bits, and 64-bit division is much faster.
    while high > u128::from(u64::MAX) {
        let low = (high % POWER_19) as u64;
        high /= POWER_19;
        start = push_digits(low, buffer, start, 19);
    }
    start = push_digits(high as u64, buffer, start, 1);
    std::str::from_utf8(&buffer[start..]).unwrap_or_default() // Digits are ASCII.
}

/// Writes the digits of a number before `end`, padded to at least `width` digits. Returns the index of the first one.
fn push_digits(mut number: u64, buffer: &mut [u8], end: usize, width: usize) -> usize {
    let mut start = end;
    while start > 0 && (number > 0 || end - start < width) {
        start -= 1;
        buffer[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    start
}

fn write_zeros(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    const ZEROS: &str = "0000000000000000000000000000000000000000";
    let mut rest = count;
    while rest > 0 {
        let part = rest.min(ZEROS.len());
        f.write_str(&ZEROS[..part])?;
        rest -= part;
    }
    Ok(())
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number encoded in bytes that sort in numeric order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderedNumber {
    bytes: [u8; OrderedNumber::LENGTH_MAX],
    length: u8,
}

impl OrderedNumber {
    /// Maximum encoded length: sign, exponent, 19 pairs, terminator.
    pub const LENGTH_MAX: usize = 22;

    /// Returns the encoded bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[usize::from(self.length)] = byte;
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Number, NumberError> {
        text.parse()
    }

    #[test]
    fn fractions_are_cut_off_downwards() {
        for (text, whole) in [
            ("0", Some(0)),
            ("1700000000.5", Some(1_700_000_000)),
            ("0.999", Some(0)),
            ("1e-130", Some(0)),
            ("-0.5", Some(-1)),
            ("-1", Some(-1)),
            ("-1.5", Some(-2)),
            ("1.7e9", Some(1_700_000_000)),
            ("9223372036854775807.9", Some(i64::MAX)),
            ("9223372036854775808.5", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("-9223372036854775808.5", None),
            ("9e125", None),
        ] {
            assert_eq!(parse(text).map(|number| number.whole_i64()), Ok(whole), "{text}");
        }
    }

    #[test]
    fn numbers_print_in_plain_normalised_notation() {
        for (text, printed) in [
            ("0", "0"),
            ("-0", "0"),
            ("000", "0"),
            ("0.0", "0"),
            ("+1", "1"),
            ("1.50", "1.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1e3", "1000"),
            ("1E-3", "0.001"),
            ("-12.340e1", "-123.4"),
            ("100", "100"),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"),
        ] {
            assert_eq!(parse(text).map(|number| number.to_string()).as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_numbers_are_refused_by_reason() {
        for (text, error) in [
            ("", NumberError::NotANumber),
            ("-", NumberError::NotANumber),
            (".", NumberError::NotANumber),
            ("1e", NumberError::NotANumber),
            ("1 ", NumberError::NotANumber),
            ("0x10", NumberError::NotANumber),
            ("NaN", NumberError::NotANumber),
            ("1e126", NumberError::Overflow),
            ("1e99999999999", NumberError::Overflow),
            ("1e-131", NumberError::Underflow),
            ("-1e-99999999999", NumberError::Underflow),
            ("123456789012345678901234567890123456789", NumberError::Precision),
            ("1.23456789012345678901234567890123456789", NumberError::Precision),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
        assert!(parse("9.9999999999999999999999999999999999999E+125").is_ok());
        assert!(parse("1E-130").is_ok());
        assert!(parse("100000000000000000000000000000000000000000").is_ok());
        assert_eq!(parse("0e999999999"), Ok(Number::ZERO));
    }

    #[test]
    fn ordered_bytes_sort_as_numbers_do() {
        let texts = [
            "-9.9999999999999999999999999999999999999E+125",
            "-1000",
            "-999.9",
            "-101",
            "-100",
            "-1.01",
            "-1",
            "-0.5",
            "-1E-130",
            "0",
            "1E-130",
            "0.05",
            "0.5",
            "1",
            "1.01",
            "1.1",
            "2",
            "10",
            "99",
            "100",
            "101",
            "12345678901234567890123456789012345678",
            "9.9999999999999999999999999999999999999E+125",
        ];
        let numbers: Vec<Number> = texts.iter().map(|text| parse(text).unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        for number in numbers {
            assert_eq!(Number::from_ordered(number.to_ordered().as_bytes()), Some(number));
        }
    }

    #[test]
    fn sums_are_exact_or_refused() {
        let sum = |a: &str, b: &str| parse(a).unwrap().checked_add(parse(b).unwrap()).map(|n| n.to_string());
        assert_eq!(sum("0.1", "0.2").as_deref(), Ok("0.3"));
        assert_eq!(sum("5", "-5").as_deref(), Ok("0"));
        assert_eq!(sum("3", "-5").as_deref(), Ok("-2"));
        assert_eq!(sum("1e30", "1").as_deref(), Ok("1000000000000000000000000000001"));
        assert_eq!(sum("1e50", "1"), Err(NumberError::Precision));
        assert_eq!(sum("99999999999999999999999999999999999999", "0.5"), Err(NumberError::Precision));
        assert_eq!(
            sum("9.9999999999999999999999999999999999999E+125", "0.0000000000000000000000000000000000001E+125"),
            Err(NumberError::Overflow)
        );
    }
}
