#!/bin/sh
# Take the hello bundle through plan, create, state, start, kill, delete and run; then look for leftovers.
set -eu

. "$(dirname "$0")/demo-common.sh"
runt=${RUNT:-$here/../bin/runt}

[ -x "$runt" ] || surprise "$runt is missing: run make first"
need_root
runt=$(cd "$(dirname "$runt")" && pwd)/$(basename "$runt")

clean_up() {
    for id in demo demo-run; do "$runt" --root "$state" delete --force $id >/dev/null 2>&1 || true; done
}
begin_work

# Print the command as a person would type it, and run it.
runt() {
    typed runt --root "$state" "$@"
    "$runt" --root "$state" "$@"
}

expect_status() {
    "$runt" --root "$state" state demo | grep -q "\"status\": *\"$1\"" || surprise "the container should be $1"
}

has_stopped() { "$runt" --root "$state" state demo | grep -q '"status": *"stopped"'; }

say "A bundle is a directory with config.json and a root file system, here Debian's busybox."
make_hello
bundle=$bundles/hello
sed -i "s|/runt-demo/|/$cgroup/|" "$bundle/config.json"
# A second bundle whose program stays for a minute, so that there is something to kill.
mkdir "$bundles/staying"
sed 's/grep Cap [^"]*/exec sleep 60/' "$bundle/config.json" >"$bundles/staying/config.json"
sed -i "s|\"path\": \"rootfs\"|\"path\": \"$bundle/rootfs\"|" "$bundles/staying/config.json"
ls "$bundle" "$bundle/rootfs"

say "plan: what create would do, without doing it."
runt plan -b "$bundle" demo >"$work/plan"
cat "$work/plan"
[ ! -e "$state/demo" ] || surprise "plan left something behind"

say "create: namespaces, mounts and cgroups are made; the program waits."
runt create -b "$bundles/staying" --pid-file "$work/pid" demo
pid=$(cat "$work/pid")
expect_status created

say "state: what is known about it."
runt state demo
printf '\n'

say "start: the program runs (this is its output)."
runt start demo
expect_status running
sleep 0.2

say "kill: SIGKILL, because process 1 of a PID namespace is deaf to a plain TERM."
runt kill demo KILL
wait_for "the container does not stop" has_stopped
expect_status stopped

say "delete: what it left is removed."
runt delete demo

say "run: all of it in one command."
runt run -b "$bundle" demo-run </dev/null || surprise "run failed"

expect_no_container_left
