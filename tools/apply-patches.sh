#!/bin/sh
# Copy a source tree to CHANGED and apply the patches of a folder there, in the order of their names. A patch that does not fit exactly, line
# numbers included, is named, and nothing is left. Usage: tools/apply-patches.sh SOURCE PATCHES CHANGED
set -eu
source=$1 patches=$2 changed=$3

rm -rf "$changed"
cp -r "$source" "$changed"
for file in "$patches"/*.patch; do
    if ! said=$(LC_ALL=C patch --directory="$changed" --strip=1 --fuzz=0 --forward --reject-file=- <"$file" 2>&1) ||
        printf '%s\n' "$said" | grep -q '(offset '; then
        rm -rf "$changed"
        printf '%s\n%s does not apply\n' "$said" "$file" >&2
        exit 1
    fi
done
