/** Where the actors wait for each other (messages.ts). */
import type { OpDefinition } from "../fields.ts";

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
