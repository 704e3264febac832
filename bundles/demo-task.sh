#!/bin/sh
# Take a task of three containers, one of them a migration that runs once, through plan, apply, events, top, exec, a daemon that is killed, logs and
# delete; then look for leftovers.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$here/../bin" && pwd)

say() { printf '\n# %s\n' "$*"; }
surprise() { printf 'demo: %s\n' "$*" >&2; exit 1; }

[ -x "$bin/runtd" ] || surprise "$bin/runtd is missing: run make library first"
[ "$(id -u)" = 0 ] || surprise "containers of this demo need root"

work=$(mktemp -d "${TMPDIR:-/tmp}/runt-demo.XXXXXX")
state=$work/state
containers=$state/executors/@runtime
# Cgroups of this demo alone: another one may run beside it.
cgroup=/runt-demo-$$
daemon=
export RUNTD_SOCKET="$work/run/admin.sock"
finish() {
    status=$?
    trap - EXIT HUP INT TERM
    [ -z "$daemon" ] || kill -9 "$daemon" 2>/dev/null || true
    for id in $("$bin/runt" --root "$containers" list -q 2>/dev/null); do "$bin/runt" --root "$containers" delete --force "$id" || true; done
    rm -rf "$work"
    exit $status
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Show the command as a person would type it, then do it.
show() {
    printf '$'
    for word; do printf ' %s' "${word#"$bin"/}"; done
    printf '\n'
    "$@"
}
wait_for() { # what command...
    what=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || surprise "$what"
        sleep 0.1
    done
}
start_daemon() {
    printf '$ runtd --state-dir %s --run-dir %s/run &\n' "$state" "$work"
    "$bin/runtd" --state-dir "$state" --run-dir "$work/run" --cgroup-parent "$cgroup" 2>>"$work/runtd.log" &
    daemon=$!
    wait_for "the daemon does not answer: $(cat "$work/runtd.log")" "$bin/runtctl" get
}
running() { [ "$("$bin/runtctl" get web -o json | grep -c '"known": "RUNNING"')" = 3 ]; }
processes() { "$bin/runt" --root "$containers" list; }

say "A root file system: Debian's busybox."
bundles=$(BUNDLES_OUT=$work/bundles "$here/build.sh" hello)
rootfs=$bundles/hello/rootfs

say "A task: a database, a migration that runs once when that has started, and an application that waits until the migration has succeeded."
cat >"$work/web.yaml" <<YAML
name: web
containers:
  - name: db
    rootfs: $rootfs
    command: sh
    args: ["-c", "trap 'exit 0' TERM; n=0; while :; do n=\$((n + 1)); echo record \$n; sleep 0.2; done"]
  - name: migrate
    rootfs: $rootfs
    command: sh
    args: ["-c", "sleep 0.5; echo migrated"]
    essential: false
    dependsOn: [{ container: db, condition: START }]
  - name: app
    rootfs: $rootfs
    command: sh
    args: ["-c", "trap 'echo goodbye; exit 0' TERM; echo serving; while :; do sleep 0.1; done"]
    memory: 64Mi
    dependsOn: [{ container: migrate, condition: SUCCESS, timeout: 1m }]
YAML
cat "$work/web.yaml"
show "$bin/runtctl" validate -f "$work/web.yaml"

say "The daemon, and the task."
start_daemon
show "$bin/runtctl" plan -f "$work/web.yaml"
show "$bin/runtctl" apply -f "$work/web.yaml"
wait_for "the task does not run" running
show "$bin/runtctl" get
show "$bin/runtctl" events

say "What they use, as the kernel counts it; and a look inside."
show "$bin/runtctl" top --once
show "$bin/runtctl" exec web -c app -- sh -c 'echo "I am $(id -un), and there are $(ls /proc | grep -c "^[0-9]") processes."'

processes >"$work/before"
cat "$work/before"

say "The daemon is killed. The containers go on: a new one finds the same processes, and their log has no gap."
printf '$ kill -9 %s\n' "$daemon"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
sleep 1
start_daemon
show "$bin/runtctl" get
processes >"$work/after"
cmp -s "$work/before" "$work/after" || surprise "these are other processes: $(cat "$work/after")"
show "$bin/runtctl" logs web -c db -n 5

say "delete: app first, for it depends on db. Each gets its signal, and time to answer."
show "$bin/runtctl" delete web
show "$bin/runtctl" get
kill "$daemon"
wait "$daemon" || surprise "the daemon did not end well"
daemon=

say "Is anything left?"
left=
# The compiled seccomp filter is kept for the next container that has the same.
[ -z "$(ls -A "$containers" | grep -v "^@cache$")" ] || left="$left state"
[ -z "$(find "$state/executors" "$state/logs" -mindepth 1 -name '*web*')" ] || left="$left file"
if grep -q "$work" /proc/self/mountinfo; then left="$left mount"; fi
[ -z "$(find /sys/fs/cgroup -type d -path "*$cgroup*" 2>/dev/null)" ] || left="$left cgroup"
[ -z "$left" ] || surprise "left behind:$left"
echo "No process, mount, cgroup or file of the task is left."
