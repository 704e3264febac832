/** Files, directories, devices and the console, in the root or for it. */
import type { OpDefinition } from "../fields.ts";

export const FILES = {
  "file.open": {
    id: 30,
    actors: ["intermediate", "init"],
    doc:
      "open(2) a host path into a slot (O_CLOEXEC is added; a file that it makes has mode 0600). What is opened for writing is below ROOT/ID: no link " +
      "is followed, and without O_CREAT it is a FIFO.",
    fields: { path: "str", flags: "u32", slot: "slot" },
  },
  "proc.open": {
    id: 31,
    actors: ["intermediate", "init"],
    doc: "Open the host's /proc O_PATH into slot PROC and verify it is the root of a procfs.",
    fields: {},
  },
  "console.connect": {
    id: 37,
    actors: ["intermediate"],
    doc: "Connect to a unix stream socket by path (any length) into slot CONSOLE.",
    fields: { path: "str" },
  },
  "mask.open": {
    id: 39,
    actors: ["intermediate", "init"],
    doc: "Open the host's /dev/null, verify it is the character device 1:3, and keep a detached clone of it in slot NULL.",
    fields: {},
  },
  "directory.create": { id: 63, actors: ["init"], doc: "mkdir -p inside the root.", fields: { path: "str", mode: "u32" } },
  "symlink.create": {
    id: 64,
    actors: ["init"],
    doc: "Make a symlink inside the root. Outcome: an existing link with the same text is kept, any other existing symlink or file: replace decides between replacing it and failing.",
    fields: { path: "str", text: "str", replace: "bool" },
  },
  "device.create": {
    id: 65,
    actors: ["init"],
    doc: "mknodat inside the root (type S_IFCHR, S_IFBLK or S_IFIFO), re-open without following links, verify type and numbers, then fchmod and fchown. Outcome: an existing node with the right type and numbers is kept; anything else existing is an error. Nothing is made in a /dev that a symlink leads to (a volume may be behind it); so symlink.create, device nodes that are bound, and /dev/console.",
    fields: { path: "str", type: "u32", major: "u32", minor: "u32", mode: "u32", uid: "u32", gid: "u32" },
  },
  "console.open": {
    id: 66,
    actors: ["init"],
    doc: "Open a new pty of the container's devpts (verified, no links followed), set the window size if not 0, give the slave to uid unless that is 0 (its mode, its group and root's owner are those of the devpts), bind it on /dev/console (if bindConsole), send the master to slot CONSOLE (or as message `console` when `slot` is NO_SLOT), make it the controlling terminal and stdio. A terminal of the runtime's own (NO_SLOT) leaves newlines as they are (ONLCR off).",
    fields: { slot: "slot", rows: "u32", columns: "u32", uid: "u32", bindConsole: "bool" },
  },
  "console.size": {
    id: 152,
    actors: ["init"],
    doc: "Set the window size of the terminal that is stdin (TIOCSWINSZ).",
    fields: { rows: "u32", columns: "u32" },
  },
  "file.receive": {
    id: 153,
    actors: ["init"],
    doc: "Write as many bytes of slot FIFO into a file, as the program's user and with its root: a new one with this mode, or one that is emptied. A link as its last component is not followed, and what is not a regular file is an error. Missing directories above it get mode 0755. All bytes are taken from the FIFO, also after a failure.",
    fields: { path: "str", mode: "u32", bytes: "u64" },
  },
  "sysctl.write": {
    id: 74,
    actors: ["init"],
    doc: "Write a value below /proc/sys through slot PROC, without links or mount crossings.",
    fields: { key: "str", value: "str" },
  },
  "path.readonly": {
    id: 75,
    actors: ["init"],
    doc: "Bind a path onto itself recursively and make it and every mount below it read-only. Outcomes: a missing path is skipped; without mount_setattr(2) the mounts below stay as they are, with a warning.",
    fields: { path: "str" },
  },
  "path.mask": {
    id: 76,
    actors: ["init"],
    doc: "Hide a path: a directory behind one shared read-only empty tmpfs, anything else behind /dev/null. Outcome: a missing path is skipped.",
    fields: { path: "str" },
  },
  "directory.open": {
    id: 111,
    actors: ["init"],
    doc: "Open a directory inside the root that a mount is about to cover. Outcome of an absent one: the slot stays empty.",
    fields: { path: "str", slot: "slot" },
  },
  "directory.copy": {
    id: 112,
    actors: ["init"],
    doc: "Copy files, directories and links of the slot's directory, with owner and mode, into the directory that is at the path now; close the slot. Outcomes: an empty slot is nothing to copy; special files are left out with a warning; an owner that is not mapped is left out; where something else than what covers that directory is at the path now, an error.",
    fields: { slot: "slot", path: "str" },
  },
  "device.open": {
    id: 126,
    actors: ["intermediate"],
    doc: "Make a device node with the rights of the host on a tmpfs of its own, and keep a detached mount of the node in a slot, for a user namespace, where mknod(2) is refused. uid and gid are host ids. Outcome where the newer system calls are refused: the host's node at the path is opened, with a warning.",
    fields: { path: "str", type: "u32", major: "u32", minor: "u32", mode: "u32", uid: "u32", gid: "u32", slot: "slot" },
  },
} as const satisfies Record<string, OpDefinition>;
