//! `keyform run` on a remote store.

use std::process::{Command, Output};

use keyform::Database;
use keyform::server::{Server, ServerSettings};
use tempfile::TempDir;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../systems/discord/discord.kf");

struct Endpoint {
    home: TempDir,
    url: String,
}

impl Endpoint {
    fn run(&self, arguments: &[&str]) -> Output {
        let store = ["--store", "dynamodb", "--endpoint-url", &self.url, "--set", "stage=test", "--format", "json"];
        Command::new(env!("CARGO_BIN_EXE_keyform"))
            .args(["run", MODEL])
            .args(arguments)
            .args(store)
            .env_clear()
            .env("HOME", self.home.path())
            .env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .current_dir(self.home.path())
            .output()
            .unwrap()
    }
}

#[test]
fn a_pattern_runs_on_an_endpoint_whose_tables_are_made_only_on_request() {
    let server = Server::bind(ServerSettings { port: 0, ..ServerSettings::default() }).unwrap();
    let running = keyform::serve(server, &Database::in_memory()).unwrap();
    let endpoint = Endpoint { home: TempDir::new().unwrap(), url: running.url() };
    let sign_up = ["signUp", "email=ada@example.com", "username=ada", "passwordHash=hash"];

    let refused = endpoint.run(&sign_up);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("ResourceNotFoundException"), "{refused:?}");

    let made = endpoint.run(&[&sign_up[..], &["--create-tables"]].concat());
    assert!(made.status.success(), "{made:?}");
    assert!(
        String::from_utf8_lossy(&made.stderr).contains("created table discord-clone-test-DiscordTable"),
        "{made:?}"
    );
    assert!(String::from_utf8_lossy(&made.stdout).contains("ada@example.com"), "{made:?}");

    let taken = endpoint.run(&sign_up);
    assert_eq!((taken.status.code(), taken.stdout.as_slice()), (Some(1), b"EmailTaken\n".as_slice()), "{taken:?}");
    assert!(std::fs::read_dir(endpoint.home.path()).unwrap().next().is_none(), "no data directory is made");
    running.stop();
}
