#!/bin/sh
# No verb loads more bytecode than this (bytes): reading it is most of the start.
set -eu
cd "$(dirname "$0")/.."
limit=256000
sizes=build/bytecode-sizes.txt
[ -e "$sizes" ] || { echo "no $sizes: run make first" >&2; exit 1; }
grep '/commands/' "$sizes" | while read -r bytes verb; do
    [ "$bytes" -le "$limit" ] || { echo "$verb loads $bytes bytes of bytecode, more than $limit" >&2; exit 1; }
done
