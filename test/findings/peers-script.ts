/**
 * A bundle with several runtimes, so that none of them can leave or change anything: mount, pid, network, ipc and uts namespaces of its own,
 * the machine's root and devices read-only, everything that is written in a small tmpfs, and cgroups below names of their own.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

/** The cgroup above all containers; ids begin with it too. */
export const PARENT = `runt-peers-${process.pid}`;

/**
 * A complete cgroup v1 tree in a tmpfs of the mount namespace: crun wants every controller mounted, and hugetlb is not on every host.
 * On a host of cgroup v2 there is nothing to do.
 */
const CGROUPS = `
cgroups() {
  [ -e /sys/fs/cgroup/cgroup.controllers ] && return
  names=$(awk -F: '$2 != "" && $2 !~ /=/ { print $2 }' /proc/self/cgroup; echo hugetlb)
  mount -t tmpfs -o size=1m,mode=755 runt-peers /sys/fs/cgroup
  for name in $(echo "$names" | sort -u); do
    mkdir "/sys/fs/cgroup/$name" && mount -t cgroup -o "$name" cgroup "/sys/fs/cgroup/$name" || rmdir "/sys/fs/cgroup/$name"
    case $name in *,*) for one in $(echo "$name" | tr , ' '); do ln -s "$name" "/sys/fs/cgroup/$one"; done ;; esac
  done
  mkdir /sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd || rmdir /sys/fs/cgroup/systemd
}
clear() {
  for top in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [ -L "$top" ] || for own in "$top/$1"*; do [ ! -d "$own" ] || find "$own" -depth -type d -exec rmdir {} \\;; done
  done 2> /dev/null
}
`;

/** $1 directory with the files in made/, $2 runt, $3 id; then the runtimes. Prints the findings, and "===STATUS words" of each create. */
export const SCRIPT = `${CGROUPS}
[ $$ = 1 ] || exit 9
place=$1 runt=$2 id=$3; shift 3
mount -t proc proc /proc && mount -t tmpfs -o size=32m,mode=755 runt-peers "$place/seen" && cp -a "$place/made/." "$place/seen/" || exit 9
mount -t tmpfs -o size=4m,mode=755 runt-peers /run && cgroups
mount -o remount,bind,ro / && mount -o remount,bind,ro /dev || exit 9
cd "$place/seen/bundle" || exit 9
timeout 5 "$runt" validate -f json --host live -b . < /dev/null
[ $? -le 1 ] || exit 9
for peer; do
  case $peer in
  *runtime-tool)
    # It takes one version only.
    sed -i 's/"ociVersion": *"1.0.2"/"ociVersion": "1.3.0"/' config.json
    timeout -k 1 5 "$peer" validate --path . < /dev/null > "$place/seen/out" 2>&1 ;;
  *) unshare --mount --propagation private timeout -k 1 5 "$peer" --root "$place/seen/state" create -b . "$id" < /dev/null > "$place/seen/out" 2>&1 ;;
  esac
  echo "===$? $(head -c 300 "$place/seen/out" | tr '\\n' ' ')"
  case $peer in *runtime-tool) continue ;; esac
  timeout -k 1 5 "$peer" --root "$place/seen/state" delete --force "$id" < /dev/null > /dev/null 2>&1
  for left in /proc/[0-9]*; do [ "$left" = /proc/1 ] || kill -9 "\${left#/proc/}"; done 2> /dev/null
  rm -rf "$place/seen/state"
  clear "\${id%-*}"
done
exit 0
`;

/** What a runtime has left, in every hierarchy; also in those that are mounted nowhere else. */
export function removeCgroups(): void {
  const script = `${CGROUPS}\ncgroups; clear "$1"`;
  spawnSync("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, "sh", PARENT], { stdio: "inherit" });
  const left = ["", ...readdirSync("/sys/fs/cgroup")].filter((name) => existsSync(`/sys/fs/cgroup/${name}/${PARENT}`));
  if (left.length > 0) throw new Error(`cgroups are left in ${left.join(", ")}`);
}
