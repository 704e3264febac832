#!/bin/sh
# Take the hello bundle through plan, create, state, start, kill, delete and run; then look for leftovers.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
runt=${RUNT:-$here/../bin/runt}

say() { printf '\n# %s\n' "$*"; }
surprise() { printf 'demo: %s\n' "$*" >&2; exit 1; }

[ -x "$runt" ] || surprise "$runt is missing: run make first"
[ "$(id -u)" = 0 ] || surprise "containers of this demo need root"
runt=$(cd "$(dirname "$runt")" && pwd)/$(basename "$runt")

work=$(mktemp -d "${TMPDIR:-/tmp}/runt-demo.XXXXXX")
root=$work/state
finish() {
    status=$?
    trap - EXIT HUP INT TERM
    for id in demo demo-run; do "$runt" --root "$root" delete --force $id >/dev/null 2>&1 || true; done
    rm -rf "$work"
    exit $status
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Show the command as a person would type it, then do it.
runt() {
    printf '$ runt --root %s' "$root"
    for word; do
        case $word in *[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    "$runt" --root "$root" "$@"
}

expect_status() {
    "$runt" --root "$root" state demo | grep -q "\"status\": *\"$1\"" || surprise "the container should be $1"
}

say "A bundle is a directory with config.json and a root file system, here Debian's busybox."
bundles=$(BUNDLES_OUT=$work/bundles "$here/build.sh" hello)
bundle=$bundles/hello
# Cgroups of this demo alone: another one may run beside it.
cgroup=runt-demo-$$
sed -i "s|/runt-demo/|/$cgroup/|" "$bundle/config.json"
# A second bundle whose program stays for a minute, so that there is something to kill.
mkdir "$bundles/staying"
sed 's/grep Cap [^"]*/exec sleep 60/' "$bundle/config.json" >"$bundles/staying/config.json"
sed -i "s|\"path\": \"rootfs\"|\"path\": \"$bundle/rootfs\"|" "$bundles/staying/config.json"
ls "$bundle" "$bundle/rootfs"

say "plan: what create would do, without doing it."
runt plan -b "$bundle" demo >"$work/plan"
cat "$work/plan"
[ ! -e "$root/demo" ] || surprise "plan left something behind"

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
tries=0
while "$runt" --root "$root" state demo | grep -q '"status": *"running"'; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || surprise "the container does not stop"
    sleep 0.05
done
expect_status stopped

say "delete: what it left is removed."
runt delete demo

say "run: all of it in one command."
runt run -b "$bundle" demo-run </dev/null || surprise "run failed"

say "Is anything left?"
left=
[ -z "$(ls -A "$root" 2>/dev/null)" ] || left="$left state"
if grep -qs '^State:[[:space:]]*[A-WY]' "/proc/$pid/status"; then left="$left process"; fi
if grep -q "$work" /proc/self/mountinfo; then left="$left mount"; fi
[ -z "$(find /sys/fs/cgroup -type d -path "*/$cgroup*" 2>/dev/null)" ] || left="$left cgroup"
[ -z "$left" ] || surprise "left behind:$left"
echo "No process, mount, cgroup or state is left."
