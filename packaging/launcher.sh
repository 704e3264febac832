#!/bin/sh
# runtd runs on Node.js, which is not part of it.
command -v node >/dev/null || { echo "runtd: Node.js 20 or newer is needed, and there is no node in PATH" >&2; exit 69; }
exec node "$(dirname "$(readlink -f "$0")")/../lib/runt/runtd.cjs" "$@"
