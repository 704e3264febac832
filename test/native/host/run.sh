#!/bin/sh
# Self-test of the host module: the same C objects and engine as bin/runt, with a test program and a test helper inside.
# Needs what `make bin/runt build/test/refuse` leaves in build/.
set -eu
cd "$(dirname "$0")/../../.."
out=build/test/host
CC=${CC:-musl-gcc}
mkdir -p "$out"

$CC -static -O1 -Wall -Wextra -Werror test/native/host/helper.c -o "$out/helper"
$CC -static -O1 -Wall -Wextra -Werror -idirafter build/kernel-headers test/native/host/intruder.c -o "$out/intruder"
RUNT_HELPER=$out/helper node_modules/.bin/tsx tools/bundle.ts --debug --entry test/native/host/main.ts --output "$out"
$CC -c "$out/gen/embed.S" -o "$out/embed.o"
$CC -static -no-pie -Wl,-T,native-bindings/program/image.ld -o "$out/selftest" build/program/*.o build/host/*.o build/twins/*.o build/shared/*.o "$out/embed.o" build/quickjs/lib/libquickjs.a build/libseccomp/lib/libseccomp.a -lm

passed=0
failed=0
skipped=0
check() { # name expected-pattern actual
    case $3 in
    $2) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); printf 'FAILED host: %s: %s\n' "$1" "$3" >&2 ;;
    esac
}

counts=$(RUNT_TEST_VARIABLE='väl=ue' "$out/selftest" </dev/null | tail -n 1) || true
case $counts in
"host "*) set -- $counts; passed=$2; failed=$3 ;;
*) failed=1; echo "FAILED host: the self-test ended early: $counts" >&2 ;;
esac

ETXTBSY=26
check 'execHelper keeps the signal mask' "runt-init fds=* death=0 blocked=29 pipe=default write=$ETXTBSY exe=/memfd:runt-init (deleted)" \
    "$("$out/selftest" exec </dev/null)"
check 'without executable memfds: a read-only detached tmpfs' "fds=4 death=9 * exe=/runt-init" \
    "$(build/test/refuse EPERM memfd_create "$out/selftest" spawn </dev/null)"
check 'without the new mount calls either: a file without a name' "fds=4 death=9 * exe=/*(deleted)" \
    "$(build/test/refuse ENOSYS memfd_create,fsopen "$out/selftest" spawn </dev/null)"
if [ -e /proc/sys/vm/memfd_noexec ]; then
    check 'vm.memfd_noexec=2' "fds=4 death=9 * exe=/runt-init" \
        "$(unshare -p -f --mount-proc sh -c 'echo 2 > /proc/sys/vm/memfd_noexec && exec "$0" spawn' "$out/selftest" </dev/null)"
else
    skipped=$((skipped + 1))
    echo 'skipped host: vm.memfd_noexec (no such sysctl in this kernel)'
fi
check 'the sealed helper cannot be overwritten' '*I/O error*' "$("$out/selftest" overwrite </dev/null)"
check 'nor can the one on a tmpfs' '*Read-only file system*' "$(build/test/refuse EPERM memfd_create "$out/selftest" overwrite </dev/null)"
check 'runProgram without pidfd_open' 'host * 1 0' \
    "$(RUNT_TEST_VARIABLE='väl=ue' build/test/refuse ENOSYS pidfd_open "$out/selftest" </dev/null 2>/dev/null | tail -n 1)"
check 'spawnHelper without clone3' 'host * 0 *' \
    "$(RUNT_TEST_VARIABLE='väl=ue' build/test/refuse ENOSYS clone3 "$out/selftest" </dev/null 2>/dev/null | tail -n 1)"
for errno in ENOSYS EPERM; do
    check "openInRoot without openat2 ($errno)" 'host * 0 *' \
        "$(RUNT_TEST_VARIABLE='väl=ue' build/test/refuse $errno openat2 "$out/selftest" </dev/null 2>/dev/null | tail -n 1)"
done
check 'an exception nobody catches is one line' 'runt: internal error: Error: nobody\\ncatches this ' \
    "$("$out/selftest" reject 2>&1 </dev/null | tr '\n' ' ' || true)"

# In a pid namespace of its own, so that nobody has to reap what is left.
rm -f "$out/hang.pid"
check 'the helper dies with the process that started it' 'before S after gone' "$(unshare -p -f --mount-proc sh -c '
    "$0" hang </dev/null >"$1" &
    parent=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$1" ] && break; sleep 0.1; done
    child=$(cat "$1")
    state() { sed -n "s/^State:[[:space:]]*\([A-Z]\).*/\1/p" "/proc/$child/status" 2>/dev/null | sed "s/Z/gone/"; }
    before=$(state)
    kill -KILL "$parent"
    sleep 0.2
    after=$(state)
    echo "before $before after ${after:-gone}"
' "$out/selftest" "$out/hang.pid" 2>/dev/null)"

printf 'host: %s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
tools/count.sh native "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
