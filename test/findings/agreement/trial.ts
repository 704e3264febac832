/**
 * An edited configuration, looked at by `validate` and `create --dry-run`, then really created and started: in namespaces that nothing gets out of,
 * with the machine's root read-only, a /dev and a bundle of its own, and cgroups below a name of its own.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Edits } from "../../../src/runtime/check/catalogue/index.ts";
import { applyEdits } from "../../support/example-host.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { REPOSITORY, sharedRootfs } from "../../support/programs.ts";
import { random } from "../../support/random.ts";
import { BASES } from "./bases.ts";
import { editOf } from "./edits.ts";

const RUNT = join(REPOSITORY, "bin/runt");
export const PARENT = `runt-agree-${process.pid}`;
const SECONDS = Math.ceil(PATIENCE_MS / 1000);

export interface Edited {
  readonly number: number;
  readonly base: string;
  readonly text: string;
}

/** The same for the same seed and number. */
export function edited(seed: number, number: number): Edited {
  const draw = random(seed * 1_000_003 + number);
  const [name, base] = BASES[draw(BASES.length)]!;
  const config = editOf(base, draw);
  if (typeof config.linux === "object" && config.linux !== null) config.linux.cgroupsPath = `/${PARENT}/${number}`;
  return { number, base: name, text: JSON.stringify(config) };
}

/** A base as it stands. */
export function unedited(number: number): Edited {
  const [base, config] = BASES[number]!;
  return { number, base, text: JSON.stringify({ ...config, linux: { ...config.linux, cgroupsPath: `/${PARENT}/${number}` } }) };
}

/** The hello bundle with these edits. */
export function namedEdit(number: number, name: string, edits: Edits): Edited {
  const config = structuredClone(BASES[0]![1]);
  applyEdits(config, { ...edits, "/linux/cgroupsPath": `/${PARENT}/${number}` });
  return { number, base: name, text: JSON.stringify(config) };
}

/** $1 directory, $2 root filesystem, $3 runt, $4 id. Every line that must not fail ends the script with 9. */
const SCRIPT = `
set -e
trap '[ $? = 0 ] || exit 9' EXIT
place=$1 rootfs=$2 runt=$3 id=$4
mount -t tmpfs -o size=64m,mode=755 runt-agree "$place/m"
mkdir "$place/m/dev"
mount -t tmpfs -o size=1m,mode=755 runt-agree "$place/m/dev"
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty "$place/m/dev"
mkdir "$place/m/dev/pts" "$place/m/dev/shm" "$place/m/dev/mqueue"
cd "$place/m"
cp -ax "$rootfs" rootfs
# Other tests make mount points in the shared root file system: /mnt is a directory, a file or absent.
rm -rf rootfs/mnt
mkdir -p data more upper work rootfs/opt processes a,b
mount -t proc -o nosuid,nodev,noexec runt-agree processes
# One reserved port looks like a number.
echo 6443 > /proc/sys/net/ipv4/ip_local_reserved_ports
ln -sfn /loop rootfs/loop; ln -sfn /nowhere/x rootfs/away; ln -sfn /proc/self/root rootfs/magic
echo x > file
sed "s,@,$place/m,g" "$place/config.json" > config.json
mount -t tmpfs -o size=4m,mode=755 runt-agree /run
mount --move "$place/m/dev" /dev
mount -o remount,bind,ro /
ip link set lo up 2> /dev/null || :
set +e
run() { name=$1; shift; timeout -k 5 ${SECONDS} "$runt" --root "$place/m/state" "$@" > "$place/m/$name" 2> "$place/m/$name.err" < /dev/null; echo $? > "$place/m/$name.status"; }
run validate validate -f json --host live -b .
run dry create --dry-run -b . "$id"
run create create -b . "$id"
if read -r status < create.status && [ "$status" = 0 ]; then run start start "$id"; fi
run delete delete --force "$id"
for name in validate dry create start; do
  [ ! -e $name.status ] || { printf '===%s %s\\n' $name "$(cat $name.status)"; cat $name; head -c 2000 $name.err; printf '\\n'; }
done
exit 0
`;

export interface Outcome extends Edited {
  /** "CODE POINTER" of each error of validate. */
  readonly errors: readonly string[];
  /** What create --dry-run, create and start said when they refused. */
  readonly dry: string | undefined;
  readonly refusal: string | undefined;
}

async function output(command: readonly string[]): Promise<{ readonly status: number | null; readonly text: string }> {
  const child = spawn("unshare", command, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const limit = setTimeout(() => child.kill("SIGKILL"), 6 * PATIENCE_MS);
  try {
    const status = await new Promise<number | null>((done, failed) => child.on("error", failed).on("close", done));
    return { status, text };
  } finally {
    clearTimeout(limit);
  }
}

export async function tryOne(directory: string, one: Edited): Promise<Outcome> {
  const place = join(directory, String(one.number));
  mkdirSync(join(place, "m"), { recursive: true });
  writeFileSync(join(place, "config.json"), one.text);
  try {
    const around = ["--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
    const { status, text } = await output([...around, "sh", "-c", SCRIPT, "sh", place, sharedRootfs(), RUNT, `${PARENT}-${one.number}`]);
    if (status !== 0) throw new Error(`${one.number} could not be tried: status ${status}: ${text.slice(-500)}`);
    const parts = new Map(
      [...text.matchAll(/^===(\w+) (\d+)\n([\s\S]*?)\n(?=(?:===\w+ \d+\n)|$(?![\s\S]))/gm)].map(([, name = "", code, said = ""]) => [
        name,
        { failed: code !== "0", said: said.trim() },
      ]),
    );
    const { findings } = JSON.parse(parts.get("validate")?.said ?? "") as {
      findings: { code: string; severity: string; pointer: string }[];
    };
    const errors = findings.filter(({ severity }) => severity === "error").map(({ code, pointer }) => `${code} ${pointer}`);
    const refusalOf = (name: string): string | undefined => (parts.get(name)?.failed ? (parts.get(name)?.said ?? "") : undefined);
    const started = refusalOf("start");
    return {
      ...one,
      errors,
      dry: refusalOf("dry"),
      refusal: refusalOf("create") ?? (started === undefined ? undefined : `start: ${started}`),
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Some at once. Calls `told` for each, in no order. */
export async function tryAll(directory: string, edits: Iterable<Edited>, jobs: number, told: (outcome: Outcome) => void): Promise<void> {
  const left = edits[Symbol.iterator]();
  const work = async () => {
    for (let next = left.next(); next.done !== true; next = left.next()) told(await tryOne(directory, next.value));
  };
  await Promise.all(Array.from({ length: jobs }, work));
}

/** Directories of PARENT that a container has left, and PARENT. */
export function removeCgroups(): void {
  for (const hierarchy of ["", ...readdirSync("/sys/fs/cgroup")]) {
    const path = join("/sys/fs/cgroup", hierarchy, PARENT);
    if (!existsSync(path)) continue;
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) rmdirSync(join(path, entry.name));
    rmdirSync(path);
  }
}
