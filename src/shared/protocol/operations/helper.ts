/** The processes of the helper: its start, the clone of init, and the server of sources. */
import type { OpDefinition } from "../fields.ts";

export const HELPER = {
  "helper.spawn": {
    id: 6,
    actors: ["runtime"],
    doc: "Start the helper from a sealed memfd with the plan in a mapped memfd. It may use every processor that its cpusets allow, whatever the caller may. create and run start it first of all; a new network namespace (with lo up), init and its usual file systems may be made before there is a plan, which it then gets as a message. exec with cgroup v2: inside this cgroup (CLONE_INTO_CGROUP), where what it clones stays; later, inside the container's namespaces, the kernel may refuse to go there.",
    fields: { cgroup: "str" },
  },
  "process.clone": {
    id: 40,
    actors: ["intermediate"],
    doc: "clone3(2) with these CLONE_NEW* flags, CLONE_PARENT and exit_signal 0, into the cgroup of `cgroup` if given (v2). The child goes on as init; the intermediate sends `pid` and exits 0.",
    fields: { flags: "u32", cgroup: "slot" },
  },
  "source.serve": {
    id: 150,
    actors: ["intermediate"],
    doc: "Start a process that opens sources of binds, and maps the ids of mounts, for an init in a user namespace: with the rights of the host, in init's mount namespace, when init's mount.open, mount.openLink or mount.idmap asks. It ends when init enters its root, and the intermediate with it.",
    fields: {},
  },
} as const satisfies Record<string, OpDefinition>;

/** Where the actors wait for each other (messages.ts). */
export const RENDEZVOUS = {
  "sync.send": { id: 20, actors: ["runtime", "intermediate", "init"], doc: "Send a rendezvous message.", fields: { message: "u32" } },
  "sync.wait": {
    id: 21,
    actors: ["runtime", "intermediate", "init"],
    doc: "Wait for a rendezvous message; end of file means the peer is gone.",
    fields: { message: "u32" },
  },
  "sync.end": {
    id: 107,
    actors: ["runtime"],
    doc: "Wait until execve has closed init's side of the rendezvous; a message instead says why it did not happen.",
    fields: {},
  },
} as const satisfies Record<string, OpDefinition>;
