#!/usr/bin/env bash
# Installs the two open-source engines that parity and the benchmark compare with into .peers/ (git-ignored)
# and prints their paths, dynoxide first. Running it again only prints the paths.
#
# ExtendDB is installed from its official npm package. dynoxide is built from its crate, because the npm package of the
# pinned release is not on every mirror; only the features of its HTTP server are enabled, with its own build profile.
set -euo pipefail

dynoxide_version=3.2.0
extenddb_version=0.1.10

root=$(cd "$(dirname "$0")/.." && pwd)
peers=${KEYFORM_PEERS_DIR:-$root/.peers}
dynoxide=$peers/dynoxide-$dynoxide_version/bin/dynoxide
extenddb=$peers/extenddb-$extenddb_version/node_modules/@extenddb/linux-x64/extenddb

install_dynoxide() {
    cargo install --quiet --locked --root "$peers/dynoxide-$dynoxide_version" \
        --target-dir "$peers/build" --no-default-features --features native-sqlite,http-server,cli \
        --bin dynoxide --version "=$dynoxide_version" dynoxide-rs >&2
    rm -rf "$peers/build"
}

install_extenddb() {
    npm install --silent --no-save --no-package-lock --prefix "$peers/extenddb-$extenddb_version" \
        "@extenddb/linux-x64@$extenddb_version" >&2
}

mkdir -p "$peers"
[ -x "$dynoxide" ] || install_dynoxide
[ -x "$extenddb" ] || install_extenddb
echo "$dynoxide"
echo "$extenddb"
