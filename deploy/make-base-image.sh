#!/usr/bin/env bash
# Makes the two images that deploy/Dockerfile starts from, on a machine that reaches Debian's
# packages but no image registry:
#
#   alveare-base    Debian, nothing else: what the programs run on   (BASE_IMAGE)
#   alveare-build   Debian, a C++ compiler, Python's pip and the Rust toolchain of this
#                   machine: what they are built in                  (BUILD_IMAGE)
#
# Usage: sudo deploy/make-base-image.sh [SUITE]      (default: bookworm)
# Needs: debootstrap, docker, rustc. The certificates that this machine trusts are copied into
# the build image alone, so that a build behind a proxy with its own authority works.
set -euo pipefail

suite=${1:-bookworm}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
for tool in debootstrap docker rustc; do
    command -v "$tool" >/dev/null || { echo "make-base-image: there is no $tool" >&2; exit 64; }
done

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# Removes what no program reads: documents, translations and package lists.
trim() {
    rm -rf "$1"/usr/share/{doc,man,info,locale,zoneinfo} "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin \
        "$1"/var/cache/apt/archives/*.deb "$1"/var/log/*.log
}

import() {
    tar --create --numeric-owner --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
        --directory "$1" . | docker import "${@:3}" - "$2"
}

echo "make-base-image: alveare-base:$suite"
debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/base" "$mirror" >"$work/log" ||
    { tail "$work/log" >&2; exit 1; }
trim "$work/base"
import "$work/base" "alveare-base:$suite"

echo "make-base-image: alveare-build:$suite"
debootstrap --variant=minbase --include=ca-certificates,gcc,g++,make,git,python3,python3-pip \
    "$suite" "$work/build" "$mirror" >"$work/log" || { tail "$work/log" >&2; exit 1; }
trim "$work/build"
mkdir -p "$work/build/usr/local/rust"
toolchain=$(rustc --print sysroot)
tar --create --directory "$toolchain" --exclude=./share --dereference . |
    tar --extract --directory "$work/build/usr/local/rust"
bundle=/etc/ssl/certs/ca-certificates.crt
if [ -r "$bundle" ]; then
    cp --dereference "$bundle" "$work/build$bundle"
fi
import "$work/build" "alveare-build:$suite" \
    --change "ENV PATH=/usr/local/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    --change "ENV SSL_CERT_FILE=$bundle PIP_CERT=$bundle CARGO_HTTP_CAINFO=$bundle"

docker image ls --filter 'reference=alveare-b*'
