#!/bin/sh
# Take a Compose project through its life: an image that is built, a database with a named volume, a web service that is replaced by a new version while a visitor
# asks it all the time, and delete. Then look for leftovers.
set -eu

. "$(dirname "$0")/demo-common.sh"
need_daemon

for program in buildah skopeo umoci iptables; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || surprise "$program is missing: apt-get install $program"
done
[ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] || surprise "the CNI plugins are missing: apt-get install containernetworking-plugins"
# In a network of its own: no rule and no interface of the demo is on this host.
[ "${RUNT_DEMO_NETWORK:-}" = own ] || exec unshare --net env RUNT_DEMO_NETWORK=own "$0"
ip link set lo up

clean_up() {
    # Networks and mounts of images are the daemon's to remove.
    [ -z "$daemon" ] || "$bin/runtctl" -g shop delete --all --timeout 30s >/dev/null 2>&1 || true
    clean_up_daemon
}
begin_daemon_work

answers() { "$bin/runtctl" -g shop logs visitor | grep -q "version $1"; }

say "A project: a Dockerfile that needs no other image, and a Compose file."
make_hello
mkdir "$work/shop"
cp -R "$bundles/hello/rootfs" "$work/shop/rootfs"
cat >"$work/shop/Dockerfile" <<'DOCKERFILE'
FROM scratch
COPY rootfs/ /
ENV PATH=/bin:/usr/bin:/sbin:/usr/sbin
ARG VERSION=1
RUN mkdir -p /srv/data && echo "version $VERSION" >/srv/index.html
CMD ["httpd", "-f", "-p", "80", "-h", "/srv"]
DOCKERFILE
cat >"$work/shop/compose.yaml" <<'YAML'
name: shop
services:
  web:
    build: { context: ., args: { VERSION: "${VERSION:-1}" } }
    image: shop.example/web:${VERSION:-1}
    depends_on: { db: { condition: service_healthy } }
    ports: ["80"]
    healthcheck: { test: [CMD, wget, -q, -O, "-", "http://127.0.0.1/"], interval: 500ms }
    deploy: { update_config: { order: start-first } }
  db:
    build: .
    image: shop.example/db:1
    command: sh -c "trap 'exit 0' TERM; date >>/srv/data/starts; while :; do sleep 0.2; done"
    volumes: ["records:/srv/data"]
    healthcheck: { test: [CMD, test, -s, /srv/data/starts], interval: 500ms }
  visitor:
    image: shop.example/db:1
    depends_on: [db]
    # The static busybox of Debian cannot look names up itself.
    command: sh -c "trap 'exit 0' TERM; while :; do timeout 2 wget -q -O - http://$$(grep -w web /etc/hosts | cut -f 1 | tail -n 1)/ || echo no answer; sleep 0.1; done"
volumes: { records: {} }
YAML
cat "$work/shop/Dockerfile" "$work/shop/compose.yaml"
show "$bin/runtctl" validate -f "$work/shop/compose.yaml"

say "The daemon builds the images, and starts the services in their order."
start_daemon
show "$bin/runtctl" apply -f "$work/shop/compose.yaml" --wait --timeout 2m
show "$bin/runtctl" get -A
show "$bin/runtctl" images
wait_for "the visitor has no answer" answers 1

say "Version 2: it is built, started beside version 1, and takes its place when it is healthy."
export VERSION=2
show "$bin/runtctl" plan -f "$work/shop/compose.yaml"
show "$bin/runtctl" apply -f "$work/shop/compose.yaml" --wait --timeout 2m
wait_for "the visitor does not see version 2" answers 2
"$bin/runtctl" -g shop logs visitor | uniq -c

say "The same file again changes nothing. The database has been started once, and its volume outlives it."
show "$bin/runtctl" apply -f "$work/shop/compose.yaml"
show "$bin/runtctl" -g shop exec db -- cat /srv/data/starts
show "$bin/runtctl" delete -f "$work/shop/compose.yaml"
show "$bin/runtctl" volumes
show "$bin/runtctl" apply -f "$work/shop/compose.yaml" --wait --timeout 2m
[ "$("$bin/runtctl" -g shop exec db -- cat /srv/data/starts | wc -l)" = 2 ] || surprise "the volume has not kept what was in it"
show "$bin/runtctl" delete -f "$work/shop/compose.yaml" --volumes
show "$bin/runtctl" images prune
expect_no_task_left "the project" shop
