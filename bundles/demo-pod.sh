#!/bin/sh
# Take a pod of Kubernetes with an init container, a ConfigMap, a Secret, probes and a volume in memory through validate, apply, get, a probe that fails, a pod
# that is too greedy, and node; then look for leftovers.
set -eu

. "$(dirname "$0")/demo-common.sh"
need_daemon
clean_up() { clean_up_daemon; }
begin_daemon_work

phase() { [ "$("$bin/runtctl" get "$1" -o json | sed -n 's/^    "phase": "\(.*\)",*$/\1/p')" = "$2" ]; }
ready() { "$bin/runtctl" describe web | grep -q 'Ready=True$'; }
restarted() { "$bin/runtctl" get web -o json | grep -q '"restartCount": [1-9]'; }

say "A root file system: Debian's busybox."
make_hello
rootfs=$bundles/hello/rootfs

say "A pod as Kubernetes has it. Its annotations name root file systems, so that no registry is needed; image: works as well."
cat >"$work/pod.yaml" <<YAML
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { greeting: "hello from a ConfigMap" }
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: { app: shop }
  annotations: { runt.dev/rootfs.prepare: $rootfs, runt.dev/rootfs.serve: $rootfs }
spec:
  terminationGracePeriodSeconds: 1
  volumes:
    - { name: fast, emptyDir: { medium: Memory, sizeLimit: 1Mi } }
    - { name: settings, configMap: { name: settings, defaultMode: 0444 } }
  initContainers:
    - name: prepare
      command: [sh, -c, "cp /settings/greeting /fast/page"]
      volumeMounts: [{ name: fast, mountPath: /fast }, { name: settings, mountPath: /settings }]
  containers:
    - name: serve
      command: [sh, -c, "while :; do sleep 0.1; done"]
      resources: { limits: { cpu: 500m, memory: 32Mi } }
      readinessProbe: { exec: { command: [test, -s, /fast/page] }, periodSeconds: 1 }
      livenessProbe: { exec: { command: [sh, -c, "test ! -e /fast/broken"] }, periodSeconds: 1, failureThreshold: 1 }
      volumeMounts: [{ name: fast, mountPath: /fast }]
---
apiVersion: v1
kind: Pod
metadata: { name: greedy, annotations: { runt.dev/rootfs.main: $rootfs } }
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  volumes: [{ name: cache, emptyDir: { sizeLimit: 1Mi } }]
  containers:
    - name: main
      command: [sh, -c, "dd if=/dev/zero of=/cache/big bs=1024 count=4096 2>/dev/null; while :; do sleep 0.1; done"]
      volumeMounts: [{ name: cache, mountPath: /cache }]
YAML
cat "$work/pod.yaml"
show "$bin/runtctl" validate -f "$work/pod.yaml"

say "A field that cannot be honoured is refused by its name, with its place."
printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: { name: bad }' 'spec:' '  nodeSelector: { a: b }' '  containers: [{ name: a, imagee: x }]' >"$work/bad.yaml"
if show "$bin/runtctl" validate -f "$work/bad.yaml" 2>&1; then surprise "it was accepted"; fi

say "The daemon, and the pods."
start_daemon --volume-check 1s
show "$bin/runtctl" apply -f "$work/pod.yaml"
wait_for "the pod is not ready" ready
show "$bin/runtctl" get
show "$bin/runtctl" exec web -c serve -- sh -c 'cat /fast/page; echo; grep " /fast " /proc/mounts'

say "Its probe for liveness fails: the container is stopped and started again."
"$bin/runtctl" exec web -c serve -- touch /fast/broken
wait_for "it is not started again" restarted
"$bin/runtctl" exec web -c serve -- true 2>/dev/null || true
show "$bin/runtctl" get web

say "The other one has written more to its volume than it may: it is Evicted."
wait_for "it goes on" phase greedy Failed
show "$bin/runtctl" get greedy -o yaml >"$work/greedy"
sed -n '/^status:/,$p' "$work/greedy"

say "The host as a node."
show "$bin/runtctl" node

say "delete"
show "$bin/runtctl" delete web
show "$bin/runtctl" delete greedy
stop_daemon

say "Is anything left?"
look_for_containers
[ -z "$(find "$state/executors" "$state/logs" -mindepth 1 \( -name '*web*' -o -name '*greedy*' \))" ] || left="$left file"
expect_nothing_left "file of the pods"
