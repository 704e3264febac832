/** Masked and read-only paths that the image makes symlinks of. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Attack } from "../attack.ts";
import { lay, layFile, MOUNTING, type Trap, traps } from "../files/trap.ts";
import { SECRET } from "../files/victim.ts";

/** `path` is hidden or protected; the program uses both names of it. */
interface Hidden {
  readonly name: string;
  readonly path: string;
  readonly prepare: (rootfs: string) => void;
  readonly flags?: readonly string[];
}

const linkAbove = (rootfs: string) => lay(rootfs, "/link", "/directory");

/** /secret holds the secret, /directory/secret too. */
const NAMES: readonly Hidden[] = [
  { name: "a file", path: "/secret", prepare: () => {} },
  { name: "a directory", path: "/directory", prepare: () => {} },
  { name: "a spelling", path: "//directory/./../secret", prepare: () => {} },
  { name: "a link to a file", path: "/link", prepare: (rootfs) => lay(rootfs, "/link", "secret") },
  { name: "a link to a directory", path: "/link", prepare: (rootfs) => lay(rootfs, "/link", "/directory") },
  { name: "a link above", path: "/link/secret", prepare: linkAbove },
  { name: "a link above, without pivot_root", path: "/link/secret", prepare: linkAbove, flags: ["--no-pivot"] },
  { name: "a link up", path: "/usr/link/secret", prepare: (rootfs) => lay(rootfs, "/usr/link", "../../../../../directory") },
];

function image({ prepare }: Hidden): NonNullable<Trap["lay"]> {
  return ({ rootfs }) => {
    mkdirSync(join(rootfs, "directory"));
    for (const path of ["/secret", "/directory/secret"]) layFile(rootfs, path, SECRET);
    prepare(rootfs);
  };
}

const MASKED: readonly Trap[] = NAMES.map((hidden) => ({
  name: hidden.name,
  lay: image(hidden),
  change: (config) => Object.assign(config.linux, { maskedPaths: [hidden.path] }),
  command: `cat ${hidden.path} ${hidden.path}/secret 2>/dev/null`,
  flags: hidden.flags ?? [],
  ways: MOUNTING,
}));

const READ_ONLY: readonly Trap[] = NAMES.map((hidden) => ({
  name: hidden.name,
  lay: image(hidden),
  change: (config) => Object.assign(config.linux, { readonlyPaths: [hidden.path] }),
  command: `echo >${hidden.path} || echo >${hidden.path}/secret; [ $? -eq 0 ] && echo written`,
  got: (_, { stdout }) => (stdout.includes("written") ? "a read-only path was written to" : ""),
  flags: hidden.flags ?? [],
  ways: MOUNTING,
}));

export const ATTACKS: readonly Attack[] = [
  {
    id: "masked paths",
    title: "a masked path is a symlink of the image, or has another spelling",
    mechanism: "the path is resolved in the root, and the mask is mounted on the descriptor of the file there",
    defences: "masked-paths",
    run: traps(MASKED),
  },
  {
    id: "read-only paths",
    title: "a read-only path is a symlink of the image, or has another spelling",
    mechanism: "the path is resolved in the root, and a read-only clone is mounted on the descriptor of the file there",
    defences: "readonly-paths",
    run: traps(READ_ONLY),
  },
];
