/**
 * The guest image of `--isolation vm`, below build/vm/image: kernel, initrd, and the empty directories that a machine's processes on the host have as
 * their root. Everything in the guest is this tree's bin/runt; the kernel is Debian's. What is there already is kept if it is the same.
 *
 * Usage: tsx tools/guest-image/main.ts KERNEL OUTPUT (of tools/guest-image/kernel.sh)
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { compact } from "./compact-elf.ts";
import { cpio, type Entry } from "./cpio.ts";
import { ALWAYS, modulesOf, OPTIONAL } from "./modules.ts";
import { vmlinuxOf } from "./vmlinux.ts";

/** Mount points, of directories and of files. */
const JAIL_DIRECTORIES = ["usr", "etc", "proc", "dev", "run", "tmp", "share", "image"];
const JAIL_FILES = ["runt"];
const JAIL_LINKS = { lib: "usr/lib", lib64: "usr/lib64", bin: "usr/bin", sbin: "usr/sbin" };

const [kernel, output] = process.argv.slice(2) as [string, string];
const release = readFileSync(join(kernel, "release"), "utf8").trim();
const program = readFileSync("bin/runt");
const tree = join(kernel, "lib/modules", release);
const modules = modulesOf(tree, ALWAYS);
/** Those that a guest loads when a container has a device of theirs. */
const optional = OPTIONAL.map((name) => ({
  name,
  needed: modulesOf(tree, [name]).filter((one) => !modules.some((other) => other.name === one.name)),
}));
/** Another one for what this tool makes otherwise of the same files. */
const FORMAT = 5;
const key = digest([
  Buffer.from(`${FORMAT}`),
  program,
  Buffer.from(release),
  ...[...modules, ...optional.flatMap(({ needed }) => needed)].map(({ file }) => readFileSync(file)),
]);

function digest(parts: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(createHash("sha256").update(part).digest());
  return hash.digest("hex");
}

function initrd(): Buffer {
  const order = modules.map(({ file }) => `/modules/${basename(file)}\n`).join("");
  const entries: Entry[] = [
    { path: "runt", content: program, mode: 0o755 },
    { path: "dev", mode: 0o755 },
    { path: "modules", mode: 0o755 },
    { path: "modules/order", content: Buffer.from(order), mode: 0o644 },
    ...modules.map(({ file }) => ({ path: `modules/${basename(file)}`, content: readFileSync(file), mode: 0o644 })),
    { path: "optional", mode: 0o755 },
    ...optional.flatMap(({ name, needed }): Entry[] => [
      { path: `optional/${name}`, content: Buffer.from(needed.map(({ file }) => `/modules/${basename(file)}\n`).join("")), mode: 0o644 },
      ...needed.map(({ file }) => ({ path: `optional/${basename(file)}`, content: readFileSync(file), mode: 0o644 })),
    ]),
  ];
  return cpio(entries);
}

/** Renamed in one step: a half-made image would be taken for a whole one. */
function write(): void {
  const next = `${output}.new`;
  rmSync(next, { recursive: true, force: true });
  for (const name of JAIL_DIRECTORIES) mkdirSync(join(next, "jail", name), { recursive: true });
  for (const name of JAIL_FILES) writeFileSync(join(next, "jail", name), "");
  for (const [name, target] of Object.entries(JAIL_LINKS)) symlinkSync(target, join(next, "jail", name));
  mkdirSync(join(next, "boot"));
  writeFileSync(join(next, "boot/vmlinux"), compact(vmlinuxOf(readFileSync(join(kernel, "boot", `vmlinuz-${release}`)))));
  writeFileSync(join(next, "boot/initrd"), initrd());
  // For processes in the jail, which do not see image.json.
  writeFileSync(join(next, "boot/release"), `${release}\n`);
  writeFileSync(join(next, "image.json"), `${JSON.stringify({ key, kernel: release }, undefined, 2)}\n`);
  rmSync(output, { recursive: true, force: true });
  renameSync(next, output);
}

const about = join(output, "image.json");
if (!existsSync(about) || (JSON.parse(readFileSync(about, "utf8")) as { key?: string }).key !== key) write();
console.log(`${output}: kernel ${release}, image ${key.slice(0, 12)}`);
