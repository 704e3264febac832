# shellcheck shell=sh
# What the demos share. A demo sources it, defines clean_up, and calls begin_work.
# $here: the directory of the demos. $bin: the programs. $work: a directory of its own. $cgroup: a name that no other demo has, for one may run beside it.

here=$(cd "$(dirname "$0")" && pwd)
bin=$(dirname "$here")/bin
cgroup=runt-demo-$$

say() { printf '\n# %s\n' "$*"; }
surprise() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; exit 1; }

need_root() { [ "$(id -u)" = 0 ] || surprise "containers of this demo need root"; }

# Makes $work, which goes away at the end, after clean_up. $state: a place in it for state directories.
begin_work() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/runt-demo.XXXXXX")
    state=$work/state
    trap finish EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
finish() {
    status=$?
    trap - EXIT HUP INT TERM
    clean_up
    rm -rf "$work"
    exit "$status"
}

# Prints a command as a person would type it.
typed() {
    printf '$'
    for word; do
        word=${word#"$bin"/}
        case $word in '&') printf ' &' ;; *[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
}
# Prints a command and runs it.
show() {
    typed "$@"
    "$@"
}

wait_for() { # what-is-wrong command...
    what=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || surprise "$what"
        sleep 0.1
    done
}

# The bundle "hello" as $bundles/hello: config.json, and a root file system with Debian's busybox.
make_hello() { bundles=$(BUNDLES_OUT=$work/bundles "$here/build.sh" hello); }

# Adds what is there of this demo to $left: mounts of $work, and cgroups.
left=
look_for_mounts_and_cgroups() {
    if grep -q "$work" /proc/self/mountinfo; then left="$left mount"; fi
    [ -z "$(find /sys/fs/cgroup -type d -path "*/$cgroup*" 2>/dev/null)" ] || left="$left cgroup"
}
# The end of a demo: what it may have left of these $1.
expect_nothing_left() {
    look_for_mounts_and_cgroups
    [ -z "$left" ] || surprise "left behind:$left"
    echo "No process, mount, cgroup or $1 is left."
}
# The same after the last container of a state directory is deleted; $pid was its process.
expect_no_container_left() {
    say "Is anything left?"
    [ -z "$(ls -A "$state" 2>/dev/null)" ] || left="$left state"
    if grep -qs '^State:[[:space:]]*[A-WY]' "/proc/$pid/status"; then left="$left process"; fi
    expect_nothing_left state
}

# A daemon whose state is $state and whose containers are below $containers; $daemon is its pid.
daemon=
containers=
need_daemon() {
    [ -x "$bin/runtd" ] || surprise "$bin/runtd is missing: run make library first"
    need_root
}
begin_daemon_work() {
    begin_work
    containers=$state/executors/@runtime
    export RUNTD_SOCKET="$work/run/admin.sock"
}
start_daemon() { # further-flags...
    typed runtd --state-dir "$state" --run-dir "$work/run" "$@" "&"
    "$bin/runtd" --state-dir "$state" --run-dir "$work/run" --cgroup-parent "/$cgroup" "$@" 2>>"$work/runtd.log" &
    daemon=$!
    wait_for "the daemon does not answer: $(cat "$work/runtd.log")" "$bin/runtctl" get
}
stop_daemon() {
    kill "$daemon"
    wait "$daemon" || surprise "the daemon did not end well"
    daemon=
}
# Kills the daemon, and deletes every container of it.
clean_up_daemon() {
    [ -z "$daemon" ] || kill -9 "$daemon" 2>/dev/null || true
    [ -d "$containers" ] || return 0
    for id in $("$bin/runt" --root "$containers" list -q 2>/dev/null); do "$bin/runt" --root "$containers" delete --force "$id" || true; done
}
# The compiled seccomp filter is kept for the next container that has the same.
look_for_containers() { [ -z "$(ls -A "$containers" | grep -v "^@cache$")" ] || left="$left state"; }
# The end of a daemon's demo: $1 says of whom something may be left; the rest are parts of their names. The images of its containers are pruned.
expect_no_task_left() { # whose name...
    whose=$1
    shift
    stop_daemon
    say "Is anything left?"
    look_for_containers
    for name; do [ -z "$(find "$state/executors" "$state/logs" -mindepth 1 -name "*$name*")" ] || left="$left file"; done
    [ "$(ip -o link | wc -l)" = 1 ] || left="$left interface"
    [ -z "$(ls -A "$state/images/layers" "$state/images/roots" | grep -v ":$")" ] || left="$left layer"
    expect_nothing_left "file of $whose"
}
