#!/bin/sh
# Copies of a workspace what its dependencies are built from: manifests, xtask, and an empty program for each target that a
# manifest may name. The images build that first, and again only when it changes.
#
# Usage, in the workspace: deploy/outline.sh NEW_FOLDER
set -eu
out=${1:?"usage: deploy/outline.sh NEW_FOLDER"}

mkdir "$out"
find . \( -name .git -o -name target \) -prune -o -type f \( -name Cargo.toml -o -name Cargo.lock -o -path './.cargo/*' \
    -o -path './xtask/*' -o -name build.rs -o -path '*/src/main.rs' -o -path '*/src/lib.rs' -o -path '*/benches/*.rs' \
    -o -path '*/examples/*.rs' -o -path '*/tests/*.rs' \) -print0 |
    tar --create --null --files-from=- | tar --extract --directory "$out"
find "$out" -name '*.rs' ! -path "$out/xtask/*" | while read -r file; do echo 'fn main() {}' > "$file"; done
