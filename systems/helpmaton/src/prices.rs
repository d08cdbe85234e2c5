//! Prices of model calls.
//!
//! A [`PriceTable`] has rows of model, start day and price per million tokens in three currencies; the row in force on
//! a day is the last one that starts on or before it. Costs are whole nano-units, rounded up, so that a call never
//! costs less than its tokens.

use std::collections::BTreeMap;
use std::fmt;

use keyform::{Date, Money};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model;

/// Bundled table. A program can provide its own with [`crate::Settings::prices`].
const BUNDLED: &str = include_str!("../prices.json");
/// Tokens per price.
const TOKENS_PRICED: i128 = 1_000_000;
/// Maximum digits after the decimal point of an amount.
const FRACTION_DIGITS: usize = 9;

/// Currency of credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Currency {
    /// US dollars.
    Usd,
    /// Euros.
    Eur,
    /// Pounds sterling.
    Gbp,
}

/// Converts between this type and the currency types that the model generates per entity.
macro_rules! currencies {
    ($($of:ty),*) => {$(
        impl From<$of> for Currency {
            fn from(currency: $of) -> Self {
                match currency {
                    <$of>::Usd => Self::Usd,
                    <$of>::Eur => Self::Eur,
                    <$of>::Gbp => Self::Gbp,
                }
            }
        }

        impl From<Currency> for $of {
            fn from(currency: Currency) -> Self {
                match currency {
                    Currency::Usd => Self::Usd,
                    Currency::Eur => Self::Eur,
                    Currency::Gbp => Self::Gbp,
                }
            }
        }
    )*};
}

currencies!(
    model::WorkspaceCurrency,
    model::CreditEntryCurrency,
    model::CreditReservationCurrency,
    model::TrialCreditRequestCurrency
);

/// Tokens of a model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Input tokens.
    pub prompt_tokens: u32,
    /// Output tokens, including reasoning.
    pub completion_tokens: u32,
}

/// A cost in the three currencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cost {
    /// In US dollars.
    #[schemars(with = "i64")]
    pub usd: Money,
    /// In euros.
    #[schemars(with = "i64")]
    pub eur: Money,
    /// In pounds sterling.
    #[schemars(with = "i64")]
    pub gbp: Money,
}

impl Cost {
    /// Returns the cost in one of the currencies.
    #[must_use]
    pub fn of(self, currency: Currency) -> Money {
        match currency {
            Currency::Usd => self.usd,
            Currency::Eur => self.eur,
            Currency::Gbp => self.gbp,
        }
    }
}

/// Prices of models by day.
#[derive(Clone, Debug)]
pub struct PriceTable {
    rows: BTreeMap<(String, Date), Row>,
}

/// Prices per million tokens.
#[derive(Clone, Copy, Debug)]
struct Price {
    input: Money,
    output: Money,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    usd: Price,
    eur: Price,
    gbp: Price,
}

/// Row in the JSON file. Amounts are decimal strings, so that none is ever a binary fraction.
#[derive(Deserialize)]
struct WrittenRow {
    model: String,
    from: Date,
    usd: WrittenPrice,
    eur: WrittenPrice,
    gbp: WrittenPrice,
}

#[derive(Deserialize)]
struct WrittenPrice {
    input: String,
    output: String,
}

/// Invalid price table, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPrices(String);

impl fmt::Display for WrongPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid price table: {}", self.0)
    }
}

impl std::error::Error for WrongPrices {}

impl Default for PriceTable {
    fn default() -> Self {
        Self::read(BUNDLED).expect("a test reads the bundled table")
    }
}

impl PriceTable {
    /// Parses a table from JSON: a list of `{"model", "from", "usd": {"input", "output"}, "eur": …, "gbp": …}`, with
    /// the prices per million tokens as strings.
    ///
    /// # Errors
    /// [`WrongPrices`] names the invalid row.
    pub fn read(json: &str) -> Result<Self, WrongPrices> {
        let written: Vec<WrittenRow> = serde_json::from_str(json).map_err(|error| WrongPrices(error.to_string()))?;
        let rows = written.into_iter().map(|row| Ok(((row.model.clone(), row.from), row.prices()?)));
        Ok(Self { rows: rows.collect::<Result<_, _>>()? })
    }

    /// Returns the cost of a model's tokens on a day; `None` if the model has no price then.
    #[must_use]
    pub fn cost(&self, model: &str, tokens: Tokens, day: Date) -> Option<Cost> {
        let span = (model.to_owned(), Date::of_days(i64::MIN))..=(model.to_owned(), day);
        let (_, row) = self.rows.range(span).next_back()?;
        Some(Cost { usd: row.usd.of(tokens), eur: row.eur.of(tokens), gbp: row.gbp.of(tokens) })
    }
}

impl WrittenRow {
    fn prices(&self) -> Result<Row, WrongPrices> {
        let price = |written: &WrittenPrice| -> Result<Price, WrongPrices> {
            Ok(Price { input: amount(&written.input)?, output: amount(&written.output)? })
        };
        let row = || Ok(Row { usd: price(&self.usd)?, eur: price(&self.eur)?, gbp: price(&self.gbp)? });
        row().map_err(|WrongPrices(why)| WrongPrices(format!("{} from {}: {why}", self.model, self.from)))
    }
}

impl Price {
    fn of(self, tokens: Tokens) -> Money {
        let nanos = |price: Money, tokens: u32| price.nanos() * i128::from(tokens);
        let millionths = nanos(self.input, tokens.prompt_tokens) + nanos(self.output, tokens.completion_tokens);
        Money::of_nanos((millionths + TOKENS_PRICED - 1) / TOKENS_PRICED)
    }
}

/// Parses an amount in decimal notation, such as `0.075`.
fn amount(text: &str) -> Result<Money, WrongPrices> {
    let wrong = || WrongPrices(format!("`{text}` is not an amount with at most {FRACTION_DIGITS} decimal digits"));
    let (units, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    if !is_digits(units) || !is_digits(fraction) || fraction.len() > FRACTION_DIGITS {
        return Err(wrong());
    }
    let nanos: i128 = format!("{units}{fraction:0<FRACTION_DIGITS$}").parse().map_err(|_| wrong())?;
    Ok(Money::of_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a date")
    }

    #[test]
    fn amounts_are_read_exactly() {
        for (text, nanos) in [("0.30", 300_000_000), ("10", 10_000_000_000), ("0.075", 75_000_000), ("0.000000001", 1)]
        {
            assert_eq!(amount(text), Ok(Money::of_nanos(nanos)), "{text}");
        }
        for text in ["", ".", "1.", "-1", "1e3", "0.0000000001", "1,5"] {
            assert!(amount(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_bundled_table_knows_the_default_model() {
        let tokens = Tokens { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 };
        let cost = PriceTable::default().cost("gemini-2.5-flash", tokens, day("2026-01-01")).expect("a price");
        assert_eq!(cost.usd, Money::of_cents(280));
        assert!(cost.gbp < cost.eur && cost.eur < cost.usd);
    }

    #[test]
    fn costs_are_rounded_up_and_unknown_models_have_none() {
        let table = PriceTable::default();
        let one = Tokens { prompt_tokens: 1, completion_tokens: 0 };
        let cost = table.cost("gemini-2.5-flash", one, day("2026-01-01")).expect("a price");
        assert_eq!((cost.usd.nanos(), cost.eur.nanos(), cost.gbp.nanos()), (300, 276, 237));
        assert_eq!(table.cost("gemini-2.5-flash", one, day("2020-01-01")), None);
        assert_eq!(table.cost("unknown", one, day("2026-01-01")), None);
    }

    #[test]
    fn the_price_is_that_of_the_day() {
        let price = |input: &str| format!(r#"{{"input": "{input}", "output": "0"}}"#);
        let row = |from: &str, input: &str| {
            let price = price(input);
            format!(r#"{{"model": "m", "from": "{from}", "usd": {price}, "eur": {price}, "gbp": {price}}}"#)
        };
        let table = format!("[{}, {}]", row("2026-01-01", "2"), row("2026-02-01", "1"));
        let table = PriceTable::read(&table).expect("a table");
        let cost = |on: &str| {
            table.cost("m", Tokens { prompt_tokens: 1_000_000, completion_tokens: 0 }, day(on)).map(|cost| cost.usd)
        };
        assert_eq!(cost("2025-12-31"), None);
        assert_eq!(cost("2026-01-31"), Some(Money::of_units(2)));
        assert_eq!(cost("2026-02-01"), Some(Money::of_units(1)));
        assert!(PriceTable::read(r#"[{"model": "m"}]"#).is_err());
    }
}
