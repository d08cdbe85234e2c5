//! The `parity` command. `parity --help` describes its use.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use keyform_driver::server::{Engine, Launch, Storage};
use keyform_parity::decision::{self, LIST};
use keyform_parity::record::{self, Recorder};
use keyform_parity::run::Run;
use keyform_parity::target::Target;

const HELP: &str = "\
parity: the same random requests to us and to other DynamoDB-compatible servers

  --subject PATH           start this keyform binary in memory (default: target/release/keyform)
  --subject-url URL        compare a server that runs already
  --peers                  start the peers that tools/peers.sh installs (default without --reference-url)
  --reference-url NAME=URL compare with a server that runs already; repeatable
  --requests N             how many requests (default 20000)
  --seed N                 the seed of the generator (default 1)
  --show N                 how many kinds of unexplained differences to print (default 20)
  --no-minimise            report unexplained requests as they were sent
  --record PATH            write every difference to a file
  --judge PATH             judge such a file by the list of decisions, without any server
  --explain ID             with --judge: show what this decision explains
  --print-decisions        print the table of decisions for docs/compatibility.md

Exit code 1: some difference is not explained by tools/parity/decisions.toml.";

#[derive(Debug)]
struct Options {
    subject: PathBuf,
    subject_url: Option<String>,
    peers: bool,
    references: Vec<(String, String)>,
    requests: usize,
    seed: u64,
    minimise: bool,
    show: usize,
    record: Option<PathBuf>,
    judge: Option<PathBuf>,
    explain: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--print-decisions") {
        return print_decisions();
    }
    match options(&arguments).and_then(|options| compare(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("parity: {problem}");
            ExitCode::from(2)
        }
    }
}

fn print_decisions() -> ExitCode {
    match decision::parse(LIST) {
        Ok(decisions) => {
            print!("{}", decision::table(&decisions));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("parity: {problem}");
            ExitCode::from(2)
        }
    }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        subject: PathBuf::from("target/release/keyform"),
        subject_url: None,
        peers: false,
        references: Vec::new(),
        requests: 20_000,
        seed: 1,
        minimise: true,
        show: 20,
        record: None,
        judge: None,
        explain: None,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--subject" => options.subject = value()?.into(),
            "--subject-url" => options.subject_url = Some(value()?),
            "--peers" => options.peers = true,
            "--reference-url" => options.references.push(name_and_url(&value()?)?),
            "--requests" => options.requests = number(argument, &value()?)?,
            "--seed" => options.seed = number(argument, &value()?)?,
            "--show" => options.show = number(argument, &value()?)?,
            "--record" => options.record = Some(value()?.into()),
            "--judge" => options.judge = Some(value()?.into()),
            "--explain" => options.explain = Some(value()?),
            "--no-minimise" => options.minimise = false,
            other => return Err(format!("unknown argument {other}; --help lists them")),
        }
    }
    options.peers |= options.references.is_empty();
    Ok(options)
}

fn name_and_url(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').ok_or_else(|| format!("{text} is not NAME=URL"))?;
    Ok((split.0.to_owned(), split.1.to_owned()))
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} needs a number, not {text}"))
}

fn compare(options: &Options) -> Result<bool, String> {
    if let Some(path) = &options.judge {
        return judge(options, path);
    }
    let scratch = std::env::temp_dir().join(format!("keyform-parity-{}", std::process::id()));
    let outcome = compare_in(options, &scratch);
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    }
    outcome
}

fn judge(options: &Options, path: &Path) -> Result<bool, String> {
    let report = record::judge(path, &decision::parse(LIST)?, options.explain.as_deref())
        .map_err(|error| format!("{}: {error}", path.display()))?;
    print!("{}", report.render(options.show));
    Ok(report.unexplained_count() == 0)
}

fn recorder(path: &Path) -> Result<Recorder, String> {
    Recorder::create(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn compare_in(options: &Options, scratch: &Path) -> Result<bool, String> {
    let run = Run {
        subject: subject(options, scratch)?,
        references: references(options, scratch)?,
        decisions: decision::parse(LIST)?,
        seed: options.seed,
        requests: options.requests,
        minimise: options.minimise,
        recorder: options.record.as_deref().map(recorder).transpose()?,
    };
    println!("parity: {} requests, seed {}", options.requests, options.seed);
    let report = run
        .execute(&mut |report, sent| println!("  {sent} sent, {} unexplained", report.unexplained_count()))
        .map_err(|error| error.to_string())?;
    print!("{}", report.render(options.show));
    let we_died = report.crashes.first().is_some_and(|(_, count)| *count > 0);
    Ok(report.unexplained_count() == 0 && !we_died)
}

fn subject(options: &Options, scratch: &Path) -> Result<Target, String> {
    if let Some(url) = &options.subject_url {
        return Target::at("keyform", url).map_err(|error| error.to_string());
    }
    let binary = options.subject.canonicalize().map_err(|error| format!("{}: {error}", options.subject.display()))?;
    start(Engine::Keyform, binary, scratch)
}

fn references(options: &Options, scratch: &Path) -> Result<Vec<Target>, String> {
    let mut targets = Vec::new();
    if options.peers {
        let [dynoxide, extenddb] = peer_binaries()?;
        targets.push(start(Engine::Dynoxide, dynoxide, scratch)?);
        targets.push(start(Engine::ExtendDb, extenddb, scratch)?);
    }
    for (name, url) in &options.references {
        targets.push(Target::at(name, url).map_err(|error| error.to_string())?);
    }
    Ok(targets)
}

fn start(engine: Engine, binary: PathBuf, scratch: &Path) -> Result<Target, String> {
    let folder = scratch.join(engine.to_string());
    let launch = Launch { engine, binary, storage: Storage::Memory, folder, arguments: Vec::new() };
    Target::start(launch).map_err(|error| format!("{engine}: {error}"))
}

/// Returns the paths of the peers; installs missing ones first.
fn peer_binaries() -> Result<[PathBuf; 2], String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers.sh");
    let output = Command::new(&script).output().map_err(|error| format!("{}: {error}", script.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
    paths.try_into().map_err(|_| format!("tools/peers.sh failed: {}", String::from_utf8_lossy(&output.stderr)))
}
