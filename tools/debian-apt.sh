# Sourced by scripts that fetch with a private apt. Needs say(); sets $keyring, and $work with a state and a cache that go with the script.
command -v apt-get >/dev/null 2>&1 || { say "there is no apt here to fetch it with"; exit 1; }
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keyring" ] || { say "the keyring of the Debian archive is missing: apt-get install debian-archive-keyring"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/log"
: >"$work/status"
