//! Conversion of Unix time to UTC dates.

const DAY_SECS: u64 = 24 * 60 * 60;

/// Formats seconds since the Unix epoch as `2026-11-16 10:42 UTC`.
pub(crate) fn utc_minute(secs: u64) -> String {
    let (year, month, day) = civil_date(secs / DAY_SECS);
    let minutes = secs % DAY_SECS / 60;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Converts days since 1970-01-01 to year, month and day. The calculation uses years that start in March, so that the
/// leap day is the last day of a year.
pub(crate) fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let days = days + 719_468;
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_written_in_utc() {
        assert_eq!(utc_minute(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc_minute(951_782_400 + 3_723), "2000-02-29 01:02 UTC");
    }
}
