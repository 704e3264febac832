/** The root file system. */
import type { OpDefinition } from "../fields.ts";

export const ROOT = {
  "root.bind": {
    id: 151,
    actors: ["runtime"],
    doc: "A container that shares the caller's mount namespace, and mounts: bind the root file system on itself. The identity of the mount is recorded before it is attached. All other mounts are made in it, and whatever undoes the container detaches this one, with all of them. Without open_tree(2) and move_mount(2) it is an error.",
    fields: { path: "str" },
  },
  "root.propagation": {
    id: 58,
    actors: ["init"],
    doc: "Change the propagation of / of the mount namespace before anything is mounted (MS_* flags).",
    fields: { flags: "u32" },
  },
  "root.open": {
    id: 59,
    actors: ["init"],
    doc: "Make the mount below the root filesystem private, bind the root filesystem onto itself (recursively), and open the new mount O_PATH into slot ROOT. The path may not end in a symlink. inPlace: only open it, in a mount namespace that outlives the container.",
    fields: { path: "str", inPlace: "bool" },
  },
  "root.pivot": { id: 70, actors: ["init"], doc: "pivot_root(2) onto slot ROOT and detach the old root.", fields: {} },
  "root.move": {
    id: 71,
    actors: ["init"],
    doc: "--no-pivot: unmount or cover every procfs and sysfs outside the root filesystem, MS_MOVE it to / and chroot.",
    fields: {},
  },
  "root.finalPropagation": {
    id: 72,
    actors: ["init"],
    doc: "Set the propagation of the new root mount (linux.rootfsPropagation).",
    fields: { flags: "u32" },
  },
  "root.readonly": { id: 73, actors: ["init"], doc: "Make the root mount (not the mounts below it) read-only.", fields: {} },
  "root.enter": {
    id: 77,
    actors: ["init"],
    doc: "chroot(2) into slot ROOT: for a joined mount namespace, where pivot_root would move the root of its other processes.",
    fields: {},
  },
  "root.current": {
    id: 106,
    actors: ["init"],
    doc: "Open a path of the joined mount namespace (/, or the root filesystem of a container without a mount namespace of its own) O_PATH into slot ROOT, and chdir to it.",
    fields: { path: "str" },
  },
} as const satisfies Record<string, OpDefinition>;
