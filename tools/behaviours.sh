#!/usr/bin/env bash
# The behaviours of models on every store: the embedded engine, our own server, and ExtendDB, which is started here and stopped again.
set -euo pipefail
cd "$(dirname "$0")/.."

extenddb=$(tools/peers.sh | tail -n 1)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
folder=$(mktemp -d)
# In memory, it forgets everything after some minutes.
(cd "$folder" && EXTENDDB__SERVER__PORT=$port EXTENDDB__STORAGE__SQLITE__PATH=$folder/extenddb.db RUST_LOG=error \
    exec "$extenddb" serve --foreground) &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

# ExtendDB answers with an internal error now and then when several tests make tables at once: a suite that fails is run once more, test by test.
on_every_store() {
    cargo test --locked --workspace --test "$1" || cargo test --locked --workspace --test "$1" -- --test-threads 1
}

for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
        export KEYFORM_EXTENDDB_URL=http://127.0.0.1:$port
        for suite in behaviours run sealed cascades model_at_its_word migrate deploy copy files live_reads live_evolution handlers access_patterns identity; do
            on_every_store "$suite"
        done
        # The tables of helpmaton have no stage, so its tests share them: a job that one of them runs in its own time would take what is another's.
        work=(cargo test --locked -p keyform-helpmaton --test work -- --test-threads 1)
        "${work[@]}" || "${work[@]}"
        exit
    fi
    sleep 0.1
done
echo "ExtendDB does not listen on port $port" >&2
exit 1
