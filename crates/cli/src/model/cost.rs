//! `keyform cost`: estimates the cost of a model, and of a change to it.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform::{SystemWorld, World as _};
use keyform_check::Checked;
use keyform_check::cost::price::PRICES;
use keyform_check::cost::{Report, compare, report, text};

use crate::failure::Failure;
use crate::output;

use super::{file, source};

const MORE: &str = "Units, pages and index writes follow from the plans; rates come from the patterns (`400/s`), \
    sizes and counts from `volume`. Rates are peak rates, and the estimate is that of a month of thirty days at the \
    peak: an upper limit. A `for` counts with its mean number of elements. Missing values are assumed and marked with \
    a star.";

pub(super) fn command() -> Command {
    Command::new("cost")
        .about("Estimate units, index writes, hot partitions, storage and dollars")
        .arg(file())
        .arg(Arg::new("compare").long("compare").value_name("OLD.kf").help("Compare with another version of the model"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON"))
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = arguments.get_one::<String>("file").map_or("-", String::as_str);
    let now = bill(path)?;
    let json = arguments.get_flag("json");
    let printed = match arguments.get_one::<String>("compare") {
        Some(old) => {
            let comparison = compare::compare(&bill(old)?, &now);
            if json { serde_json::to_string_pretty(&comparison)? } else { compare::text(&comparison) }
        }
        None if json => serde_json::to_string_pretty(&now)?,
        None => text::text(&now),
    };
    output::line(printed.trim_end())?;
    warn_of_old_prices();
    Ok(ExitCode::SUCCESS)
}

fn bill(path: &str) -> Result<Report, Failure> {
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        output::note(&format!("{path} has errors, so patterns may be missing: see `keyform check {path}`"));
    }
    Ok(report(&checked.model, &checked.plans, &PRICES))
}

fn warn_of_old_prices() {
    let days = u64::try_from(SystemWorld.now_millis() / 86_400_000).unwrap_or(0);
    if PRICES.is_old_on_day(days) {
        output::note(&format!("the prices are from {}, more than a year ago: check the current ones", PRICES.date));
    }
}
