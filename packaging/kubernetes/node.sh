#!/bin/sh
# Install runt on a node of Kubernetes beside its other runtimes, or remove it. Runs in the container of install.yaml or remove.yaml, where HOST is the
# node's root directory.
#
# install: copies the program to /opt/runt/bin, names it in the configuration of containerd or CRI-O as the handler "runt", and restarts the engine. If the
#          node is not ready within READY_SECONDS, the configuration is put back as it was, the engine is restarted, and the script fails.
# remove:  the reverse. It refuses while containers of runt are on the node, and lists them.
#
# ENGINE        containerd or crio. Default: the one whose configuration directory the node has
# ON_NODE       words before a command that is to run on the node. Default: nsenter into the namespaces of process 1
# READY_SECONDS how long the engine and kubelet may take to be ready again. Default: 120
# KUBELET_PORT  of kubelet's answer about its health. Default: 10248
# Exit status: 0 done, 1 failed and put back, 2 wrong use, 3 refused before a change.
set -eu
HOST=${HOST:-/host} READY_SECONDS=${READY_SECONDS:-120} SOURCE=${SOURCE:-/opt/runt/bin} KUBELET_PORT=${KUBELET_PORT:-10248}
ON_NODE=${ON_NODE:-nsenter --target 1 --mount --uts --ipc --net --}
PLACE=/opt/runt BEGIN='# runt: begin' END='# runt: end' MADE='# runt: this file was made for the handler below'
CONTAINERD=/etc/containerd/config.toml CRIO=/etc/crio/crio.conf.d/60-runt.conf
SHIMS=/run/containerd/io.containerd.runtime.v2.task/k8s.io

say() { printf 'runt-node: %s\n' "$*" >&2; }
refuse() { say "refused: $*"; exit 3; }
on_node() { $ON_NODE "$@"; }

# A link in such a path would lead this script, which has all rights, to another file.
must_be_plain() { # path on the node
    path=
    for part in $(printf %s "$1" | tr / ' '); do
        path=$path/$part
        [ ! -L "$HOST$path" ] || refuse "$path is a symbolic link"
    done
}

# One rename: a reader finds the old file or the new one.
replace() { # path on the node, mode; the content is standard input
    next=$(mktemp "$HOST$1.XXXXXX")
    cat >"$next"
    chmod "$2" "$next"
    mv -f "$next" "$HOST$1"
}

engine_of_node() {
    case ${ENGINE:-} in
    containerd | crio) printf %s "$ENGINE"; return ;;
    '') ;;
    *) say "ENGINE is containerd or crio, not $ENGINE"; exit 2 ;;
    esac
    found=
    [ ! -d "$HOST/etc/containerd" ] || found="containerd"
    [ ! -d "$HOST/etc/crio" ] || found="$found crio"
    case $found in
    containerd) printf containerd ;;
    ' crio') printf crio ;;
    '') refuse "the node has neither /etc/containerd nor /etc/crio; ENGINE names its engine" ;;
    *) refuse "the node has both /etc/containerd and /etc/crio; ENGINE names the engine of its kubelet" ;;
    esac
}

without_block() { awk -v begin="$BEGIN" -v end="$END" '$0 == begin { skip = 1 } !skip { print } $0 == end { skip = 0 }' "$1"; }

# The table of the handler for this version of the file's format: 2 of containerd 1.x, 3 of 2.x. As runc's handler, it leaves cgroups to systemd if the file
# says so anywhere.
containerd_block() { # file without the block
    case $(sed -n 's/^ *version *= *\([0-9]*\).*/\1/p' "$1" | head -n 1) in
    3) plugin=io.containerd.cri.v1.runtime ;;
    2) plugin=io.containerd.grpc.v1.cri ;;
    *) refuse "$CONTAINERD has no version 2 or 3" ;;
    esac
    table="plugins.\"$plugin\".containerd.runtimes.runt"
    printf '%s\n[%s]\nruntime_type = "io.containerd.runc.v2"\n[%s.options]\nBinaryName = "%s/bin/runt"\n' "$BEGIN" "$table" "$table" "$PLACE"
    ! grep -Eq '^ *SystemdCgroup *= *true' "$1" || echo 'SystemdCgroup = true'
    printf '%s\n' "$END"
}

first_configuration() {
    echo "$MADE"
    case $(on_node containerd --version) in
    *' v2.'* | *' 2.'*) echo 'version = 3' ;;
    *) echo 'version = 2' ;;
    esac
}

# Writes the configuration of the engine with the handler, or without it.
configure() { # engine, "with" or "without"
    if [ "$1" = crio ]; then
        if [ "$2" = without ]; then rm -f "$HOST$CRIO"; return; fi
        others=$(grep -lsE '^ *\[crio\.runtime\.runtimes\."?runt"?\]' "$HOST"/etc/crio/crio.conf "$HOST${CRIO%/*}"/*.conf | grep -vxF "$HOST$CRIO" || true)
        [ -z "$others" ] || refuse "${others#"$HOST"} has a handler runt of its own"
        mkdir -p "$HOST${CRIO%/*}"
        printf '[crio.runtime.runtimes.runt]\nruntime_path = "%s/bin/runt"\nruntime_type = "oci"\nruntime_root = "/run/runt"\n' "$PLACE" | replace "$CRIO" 0644
        return
    fi
    mkdir -p "$HOST${CONTAINERD%/*}"
    base=$(mktemp)
    if [ -e "$HOST$CONTAINERD" ]; then without_block "$HOST$CONTAINERD" >"$base"; else first_configuration >"$base"; fi
    if [ "$2" = without ] && [ "$(grep -vE '^(version = [23])?$' "$base" || true)" = "$MADE" ]; then
        rm -f "$HOST$CONTAINERD" "$base"
        return
    fi
    if grep -Eq 'containerd\.runtimes\."?runt"?(\.|\])' "$base"; then rm -f "$base"; refuse "$CONTAINERD has a handler runt of its own"; fi
    block=
    if [ "$2" = with ]; then block=$(containerd_block "$base") || exit $?; fi
    mode=$(stat -c %a "$HOST$CONTAINERD" 2>/dev/null || echo 644)
    { cat "$base"; [ -z "$block" ] || printf '%s\n' "$block"; } | replace "$CONTAINERD" "$mode"
    rm -f "$base"
}

# kubelet answers on the loopback interface of the node, when the engine answers kubelet. (wget of Debian's static BusyBox is killed by SIGSEGV.)
kubelet_is_healthy() { printf 'GET /healthz HTTP/1.0\r\n\r\n' | nc -w 5 127.0.0.1 "$KUBELET_PORT" 2>/dev/null | head -n 1 | grep -q ' 200 '; }

is_ready() { on_node systemctl is-active --quiet "$1" && on_node systemctl is-active --quiet kubelet && kubelet_is_healthy; }

restart() { # engine: starts it anew, and waits until the node is ready; kubelet needs a moment to see that it is not
    on_node systemctl restart "$1" || return 1
    tries=0
    sleep "${SETTLE_SECONDS:-5}"
    until is_ready "$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt "$READY_SECONDS" ] || return 1
        sleep 1
    done
}

containers_of_runt() { # engine
    case $1 in
    crio) ls "$HOST/run/runt" 2>/dev/null || true ;;
    containerd)
        for options in "$HOST$SHIMS"/*/options.json; do
            ! grep -q "\"$PLACE/bin/runt\"" "$options" 2>/dev/null || basename "$(dirname "$options")"
        done
        ;;
    esac
}

file_of() { if [ "$1" = crio ]; then printf %s "$CRIO"; else printf %s "$CONTAINERD"; fi; }

change() { # engine, "with" or "without": the whole file before it is kept, and comes back when the node does not
    file=$(file_of "$1")
    before=$(mktemp)
    had=no
    if [ -e "$HOST$file" ]; then had=yes; cat "$HOST$file" >"$before"; mode=$(stat -c %a "$HOST$file"); fi
    configure "$1" "$2"
    if [ "$had" = yes ] && [ -e "$HOST$file" ] && cmp -s "$HOST$file" "$before"; then rm -f "$before"; say "$file is as it should be"; return; fi
    if [ "$had" = no ] && [ ! -e "$HOST$file" ]; then rm -f "$before"; return; fi
    if restart "$1"; then rm -f "$before"; return; fi
    say "$1 or kubelet is not ready after $READY_SECONDS s: $file is put back"
    if [ "$had" = yes ]; then replace "$file" "$mode" <"$before"; else rm -f "$HOST$file"; fi
    rm -f "$before"
    restart "$1" || say "$1 or kubelet is not ready with the former configuration either"
    exit 1
}

case ${1:-} in
install)
    engine=$(engine_of_node)
    must_be_plain "$PLACE/bin/runt"
    must_be_plain "$(file_of "$engine")"
    mkdir -p "$HOST$PLACE/bin"
    # A running program keeps its file: the new one has another inode.
    replace "$PLACE/bin/runt" 0755 <"$SOURCE/runt"
    change "$engine" with
    say "installed for $engine"
    ;;
remove)
    engine=$(engine_of_node)
    must_be_plain "$PLACE/bin/runt"
    must_be_plain "$(file_of "$engine")"
    left=$(containers_of_runt "$engine")
    [ -z "$left" ] || refuse "containers of runt are on this node: $(printf %s "$left" | tr '\n' ' ')"
    change "$engine" without
    rm -f "$HOST$PLACE/bin/runt"
    rmdir "$HOST$PLACE/bin" "$HOST$PLACE" 2>/dev/null || true
    say "removed from $engine"
    ;;
*)
    say "usage: node.sh install|remove"
    exit 2
    ;;
esac
