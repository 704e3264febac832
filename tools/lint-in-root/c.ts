/** The calls with a path in a C source of the helper, as "name(arguments that say where)". */

/** System call -> which of its arguments say where it leads. */
const PATH_CALLS: Readonly<Record<string, readonly number[]>> = {
  openat: [0, 1],
  openat2: [0, 1],
  open_tree: [0, 1],
  mkdirat: [0, 1],
  mknodat: [0, 1],
  unlinkat: [0, 1],
  symlinkat: [1, 2],
  linkat: [0, 1, 2, 3],
  renameat: [0, 1, 2, 3],
  renameat2: [0, 1, 2, 3],
  readlinkat: [0, 1],
  fchownat: [0, 1],
  fchmodat: [0, 1],
  fchmodat2: [0, 1],
  faccessat: [0, 1],
  faccessat2: [0, 1],
  newfstatat: [0, 1],
  statx: [0, 1],
  utimensat: [0, 1],
  name_to_handle_at: [0, 1],
  mount_setattr: [0, 1],
  move_mount: [0, 1, 2, 3],
  fspick: [0, 1],
  execveat: [0, 1],
  mount: [0, 1],
  umount2: [0],
  pivot_root: [0, 1],
  chdir: [0],
  chroot: [0],
  execve: [0],
  statfs: [0],
  truncate: [0],
  open: [0],
  creat: [0],
  stat: [0],
  lstat: [0],
  access: [0],
  readlink: [0],
  mkdir: [0],
  mknod: [0],
  rmdir: [0],
  unlink: [0],
  symlink: [1],
  link: [0, 1],
  rename: [0, 1],
  chmod: [0],
  chown: [0],
  lchown: [0],
  setxattr: [0],
  lsetxattr: [0],
  getxattr: [0],
  lgetxattr: [0],
  inotify_add_watch: [1],
};

export function helperCalls(text: string): string[] {
  const source = withoutDisabled(withoutComments(text));
  const found: string[] = [];
  for (const match of source.matchAll(/\bsys\(\s*__NR_(\w+)\s*[,)]|\bsys_(\w+)\(/g)) {
    const [whole, number, wrapper] = match;
    const name = number ?? wrapper!;
    const places = PATH_CALLS[name];
    if (!places) continue;
    const open = match.index + whole.indexOf("(");
    const words = splitArguments(source, open);
    const where = places.map((place) => words[place + (number === undefined ? 0 : 1)] ?? "?");
    if (!isDescriptorOnly(where)) found.push(`${name}(${where.join(", ")})`);
  }
  return [...new Set(found)];
}

/** Every path is "", so the call concerns the descriptors themselves. */
function isDescriptorOnly(where: readonly string[]): boolean {
  const paths = where.filter((_, index) => index % 2 === 1);
  return paths.length > 0 && where.length % 2 === 0 && paths.every((path) => path === '""');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/\/\/.*$/gm, "");
}

/** Code of disabled defences is not in the product: `DEFENCE_DISABLED(x) ? this : that` and `if (DEFENCE_DISABLED(x)) this;`. */
function withoutDisabled(text: string): string {
  let source = text.replace(/\bif \((?:!?DEFENCE_DISABLED\(\w+\)(?: \|\| )?)+\) [^;{]*;/g, (whole) =>
    whole.includes("!DEFENCE_DISABLED") ? whole : "",
  );
  for (;;) {
    const match = /\bDEFENCE_DISABLED\(\w+\)\s*\?/.exec(source);
    if (!match) return source;
    const colon = closing(source, match.index + match[0].length, ":");
    source = source.slice(0, match.index) + source.slice(colon + 1).trimStart();
  }
}

/** Index of the first `end` at the depth of `from`. */
function closing(source: string, from: number, end: string): number {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    const byte = source[at]!;
    if (byte === '"') at = source.indexOf('"', at + 1);
    else if (depth === 0 && byte === end) return at;
    else if ("([{".includes(byte)) depth++;
    else if (")]}".includes(byte)) depth--;
  }
  throw new Error(`no ${end} behind: ${source.slice(from, from + 80)}`);
}

/** The arguments of a call whose bracket is at `open`, each with single blanks. */
function splitArguments(source: string, open: number): string[] {
  const end = closing(source, open + 1, ")");
  const words: string[] = [];
  for (let at = open + 1; at <= end; ) {
    const comma = nextComma(source, at, end);
    words.push(source.slice(at, comma).replace(/\s+/g, " ").trim());
    at = comma + 1;
  }
  return words;
}

function nextComma(source: string, from: number, end: number): number {
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = source[at]!;
    if (byte === '"') at = source.indexOf('"', at + 1);
    else if (depth === 0 && byte === ",") return at;
    else if ("([{".includes(byte)) depth++;
    else if (")]}".includes(byte)) depth--;
  }
  return end;
}
