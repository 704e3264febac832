#!/bin/sh
# Take a task of three containers of an image, one of them a migration that runs once and one a service with a port and a health check, through plan, apply,
# events, top, exec, a daemon that is killed, logs and delete; then look for leftovers.
set -eu

. "$(dirname "$0")/demo-common.sh"
need_daemon

for program in skopeo umoci iptables; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || surprise "$program is missing: apt-get install $program"
done
[ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] || surprise "the CNI plugins are missing: apt-get install containernetworking-plugins"
# In a network of its own: no rule and no interface of the demo is on this host.
[ "${RUNT_DEMO_NETWORK:-}" = own ] || exec unshare --net env RUNT_DEMO_NETWORK=own "$0"
ip link set lo up

clean_up() { clean_up_daemon; }
begin_daemon_work

running() { [ "$("$bin/runtctl" get web -o json | grep -c '"known": "RUNNING"')" = 3 ]; }
healthy() { "$bin/runtctl" describe web | grep -qw HEALTHY; }
processes() { "$bin/runt" --root "$containers" list; }

say "A root file system: Debian's busybox."
make_hello
rootfs=$bundles/hello/rootfs

say "An image of it, as a layout on the disk: no registry is asked."
show umoci init --layout "$work/image"
show umoci new --image "$work/image:v1"
show umoci insert --image "$work/image:v1" "$rootfs" /
show umoci config --image "$work/image:v1" --config.env PATH=/bin --config.cmd sh

say "A task: a database, a migration that runs once when that has started, and an application that waits until the migration has succeeded. It has a port."
cat >"$work/web.yaml" <<YAML
name: web
network: { ports: [{ container: 80, host: 18080 }] }
containers:
  - name: db
    image: oci:$work/image:v1
    command: sh
    args: ["-c", "trap 'exit 0' TERM; n=0; while :; do n=\$((n + 1)); echo record \$n; sleep 0.2; done"]
  - name: migrate
    image: oci:$work/image:v1
    command: sh
    args: ["-c", "sleep 0.5; echo migrated"]
    essential: false
    dependsOn: [{ container: db, condition: START }]
  - name: app
    image: oci:$work/image:v1
    command: sh
    args: ["-c", "trap 'echo goodbye; exit 0' TERM; mkdir -p /srv && echo 'Hello from the application.' >/srv/index.html; echo serving; httpd -f -p 80 -h /srv & wait"]
    healthCheck: { http: { port: 80 }, interval: 500ms }
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
wait_for "the application is not healthy" healthy
show "$bin/runtctl" get
show "$bin/runtctl" events

say "Its port, from outside of it; and the image, by its digest."
show busybox wget -q -O - http://127.0.0.1:18080/
show "$bin/runtctl" images

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
show "$bin/runtctl" images prune
expect_no_task_left "the task" web
