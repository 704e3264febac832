#!/bin/sh
# What the picture of README.md shows, for real: a plan, a container, a Compose project. The commands and their output go to stdout; tools/gen-recording.ts draws them.
set -eu

. "$(dirname "$0")/demo-common.sh"
need_daemon
# In a network of its own: no rule and no interface of it is on this host.
[ "${RUNT_DEMO_NETWORK:-}" = own ] || exec unshare --net --mount --propagation private env RUNT_DEMO_NETWORK=own "$0"
ip link set lo up

clean_up() {
    # Networks and mounts of images are the daemon's to remove.
    [ -z "$daemon" ] || runtctl -g shop delete --all --timeout 30s >/dev/null 2>&1 || true
    clean_up_daemon
    runt --root "$work/runt" delete --force hello >/dev/null 2>&1 || true
}
begin_daemon_work
PATH=$bin:$PATH

# Prints a line of the shell and runs it, without the paths of this directory.
types() {
    printf '$ %s\n' "$1"
    (eval "$1") 2>&1 | sed "s|$work/||g; s|/$cgroup||g"
}

make_hello
mkdir "$work/shop"
cp -R "$bundles/hello" "$work/hello"
cp -R "$bundles/hello/rootfs" "$work/shop/rootfs"
cat >"$work/shop/Dockerfile" <<'DOCKERFILE'
FROM scratch
COPY rootfs/ /
ENV PATH=/bin:/usr/bin:/sbin:/usr/sbin
RUN mkdir -p /srv && echo "hello from the shop" >/srv/index.html
CMD ["httpd", "-f", "-p", "80", "-h", "/srv"]
DOCKERFILE
cat >"$work/shop/compose.yaml" <<'YAML'
services:
  db:
    build: .
    command: sleep infinity
    healthcheck: { test: [CMD, "true"], interval: 1s }
  web:
    build: .
    ports: ["8080:80"]
    depends_on: { db: { condition: service_healthy } }
YAML
start_daemon >/dev/null
cd "$work"
# The builder's own output would fill the picture.
runtctl build -f shop/compose.yaml >/dev/null 2>&1

types 'runt plan -b hello | grep -E "^ +[A-Z]" | cut -c 1-100'
types 'runt run -b hello hello | head -n 2'
cd "$work/shop"
types 'cat compose.yaml'
types 'runtctl apply -f compose.yaml --wait'
types "runtctl get -A"
types 'wget -q -O - http://127.0.0.1:8080/'
types 'runtctl delete -f compose.yaml'
stop_daemon
