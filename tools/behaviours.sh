#!/usr/bin/env bash
# The behaviours of models on every store: the embedded engine, our own server, and ExtendDB, which is started here and stopped again.
set -euo pipefail
cd "$(dirname "$0")/.."

extenddb=$(tools/peers.sh | tail -n 1)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
folder=$(mktemp -d)
(cd "$folder" && EXTENDDB__SERVER__PORT=$port EXTENDDB__STORAGE__SQLITE__PATH=:memory: RUST_LOG=error \
    exec "$extenddb" serve --foreground) &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
        export KEYFORM_EXTENDDB_URL=http://127.0.0.1:$port
        cargo test --locked --workspace --test behaviours --test run --test migrate --test deploy --test copy --test files --test live_reads --test live_evolution --test handlers --test model_at_its_word
        # The scenarios of the systems. Migrations and removals that are killed again and again are left to the other stores.
        cargo test --locked --workspace --test access_patterns --test flows --test concurrency --test gateway --test cascade --test served --test identity
        exit
    fi
    sleep 0.1
done
echo "ExtendDB does not listen on port $port" >&2
exit 1
