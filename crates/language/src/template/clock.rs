//! Converts between timestamps and milliseconds since 1970, for four-digit years.

const DAY_MILLIS: i64 = 86_400_000;

/// Formats milliseconds since 1970 as `2026-10-31T07:08:09.123Z`.
pub(super) fn timestamp(millis: i64) -> String {
    let (year, month, day) = date(millis.div_euclid(DAY_MILLIS));
    let rest = millis.rem_euclid(DAY_MILLIS) as u32;
    let (hour, minute, second, milli) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    if !(0..=9999).contains(&year) {
        return format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z");
    }
    let [c, y, m, d] = [year as u32 / 100, year as u32 % 100, month, day].map(two_digits);
    let [h, n, s] = [hour, minute, second].map(two_digits);
    let ([i, j], k) = (two_digits(milli / 10), digit(milli));
    let text = [
        c[0], c[1], y[0], y[1], b'-', m[0], m[1], b'-', d[0], d[1], b'T', h[0], h[1], b':', n[0], n[1], b':', s[0],
        s[1], b'.', i, j, k, b'Z',
    ];
    String::from_utf8(text.to_vec()).expect("digits and signs are ASCII")
}

/// Returns the last two decimal digits of a number.
fn two_digits(number: u32) -> [u8; 2] {
    [digit(number / 10), digit(number)]
}

fn digit(number: u32) -> u8 {
    b'0' + (number % 10) as u8
}

/// Parses a UTC timestamp with milliseconds; `None` if the string is not one.
pub(super) fn millis(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, milli) = (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
    if !(1..=12).contains(&month) || day < 1 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let millis = days(year, month, day) * DAY_MILLIS + ((hour * 60 + minute) * 60 + second) * 1000 + milli;
    (timestamp(millis) == text).then_some(millis)
}

/// Returns days since 1970. Years start in March, so that a leap day is the last day of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Converts days since 1970 to year, month and day.
fn date(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097) as u32;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + i64::from(year_of_era + u32::from(month <= 2)), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_and_millis_are_each_others_inverse() {
        for (text, number) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-10-31T07:08:09.123Z", 1_793_430_489_123),
            ("1969-12-31T23:59:59.999Z", -1),
        ] {
            assert_eq!(millis(text), Some(number));
            assert_eq!(timestamp(number), text);
        }
        for day in -200_000..200_000 {
            assert_eq!(millis(&timestamp(day * DAY_MILLIS)), Some(day * DAY_MILLIS));
        }
    }

    #[test]
    fn days_that_are_not_are_refused() {
        for text in
            ["2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-04-31T00:00:00.000Z", "2026-04-30", ""]
        {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
