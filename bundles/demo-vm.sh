#!/bin/sh
# Run containers in virtual machines: a hello, a further process and a limit in one that stays, an end. Then look for leftovers.
set -eu

. "$(dirname "$0")/demo-common.sh"
runt=${RUNT:-$here/../bin/runt}
RUNT_VM_CONFIG=${RUNT_VM_CONFIG:-$here/../build/vm/vm.json}
export RUNT_VM_CONFIG

[ -x "$runt" ] || surprise "$runt is missing: run make first"
[ -e "$RUNT_VM_CONFIG" ] || surprise "$RUNT_VM_CONFIG is missing: run make guest-image first"
need_root
runt=$(cd "$(dirname "$runt")" && pwd)/$(basename "$runt")

clean_up() {
    for id in hello staying; do "$runt" --root "$state" delete --force $id >/dev/null 2>&1 || true; done
}
begin_work

# Print the command as a person would type it, and run it.
runt() {
    typed runt --root "$state" "$@"
    "$runt" --root "$state" "$@"
}

make_hello
bundle=$bundles/hello
sed -i "s|/runt-demo/|/$cgroup/|" "$bundle/config.json"
# A second bundle whose program stays, with a limit of 32 MiB.
mkdir "$bundles/staying"
sed -e 's|"echo .*/proc/self/status"|"exec sleep 600"|' -e 's/"resources": {/"resources": { "memory": { "limit": 33554432 },/' \
    -e "s|\"path\": \"rootfs\"|\"path\": \"$bundle/rootfs\"|" "$bundle/config.json" >"$bundles/staying/config.json"

say "run --isolation vm: the same bundle in a machine of its own."
runt run --isolation vm -b "$bundle" hello </dev/null || surprise "run failed"

say "run --detach: a machine that stays. Its process on the host is the monitor."
runt run --detach --isolation vm --pid-file "$work/pid" -b "$bundles/staying" staying </dev/null >"$work/output" 2>&1 || surprise "run failed"
pid=$(cat "$work/pid")
grep -q 'exec sleep 600' "$bundles/staying/config.json" || surprise "the program of the second bundle does not stay"
runt state staying
printf '\n'

say "exec: a further process in it. The kernel is the guest's ($(uname -r) is the host's)."
runt exec staying sh -c 'uname -r; ps' </dev/null || surprise "exec failed"

say "events: the limit of 32 MiB, as the guest's kernel has it."
runt events --stats --format table staying >"$work/limit" || surprise "events failed"
cat "$work/limit"
grep -q '32.0 MiB' "$work/limit" || surprise "the limit is another one"

say "An exec that takes more is killed, and the container stays."
status=0
runt exec staying sh -c 'tail /dev/zero' </dev/null || status=$?
[ "$status" -ge 128 ] || surprise "the limit did not hold: status $status"
echo "exit status $status"

say "delete --force: the machine ends."
runt delete --force staying

expect_no_container_left
