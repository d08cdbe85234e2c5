#!/usr/bin/env bash
# Runs the behaviour tests of models on every store: the embedded engine, our own server, and ExtendDB. Each test starts its own ExtendDB.
set -euo pipefail
cd "$(dirname "$0")/.."

KEYFORM_EXTENDDB=$(tools/peers.sh | tail -n 1)
export KEYFORM_EXTENDDB
# On ExtendDB a test mostly waits for its tables to become active (helpmaton has 21), so more tests than cores run at once.
cargo test --locked --workspace --test it -- --test-threads 4 access_patterns:: behaviours:: cascades:: copy:: deploy:: files:: handlers:: \
    identity:: live_evolution:: live_reads:: migrate:: model_at_its_word:: run:: sealed:: work::
