/** The container's record and what stands beside it. */
import type { OpDefinition } from "../fields.ts";

export const STATE = {
  "state.intent": {
    id: 1,
    actors: ["runtime"],
    doc: "Create the state directory exclusively, lock it, and record everything a later delete --force may have to undo.",
    fields: { directory: "str" },
  },
  "fifo.create": {
    id: 2,
    actors: ["runtime"],
    doc: "mkfifo with this mode; `start` writes to it.",
    fields: { path: "str", mode: "u32", uid: "u32", gid: "u32" },
  },
  "state.commit": {
    id: 10,
    actors: ["runtime"],
    doc: "Write state.json (temp + rename) with pid and start time.",
    fields: { directory: "str" },
  },
  "pidfile.write": { id: 11, actors: ["runtime"], doc: "Write the pid without newline (temp + rename).", fields: { path: "str" } },
  "pidfd.send": {
    id: 140,
    actors: ["runtime"],
    doc: "Connect to a unix stream socket by path and send a pidfd of init with this text.",
    fields: { path: "str", text: "str" },
  },
  "notify.prepare": {
    id: 141,
    actors: ["runtime"],
    doc: "Make the directory of the container's notification socket (0755). listen: also bind the socket in it (datagram, 0777) and connect to the host's, a path or @name; for a created container `start` does.",
    fields: { directory: "str", listen: "bool", host: "str" },
  },
} as const satisfies Record<string, OpDefinition>;
