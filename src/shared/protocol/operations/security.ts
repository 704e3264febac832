/** Capabilities, seccomp filters and labels. */
import type { OpDefinition } from "../fields.ts";

export const SECURITY = {
  "capability.bounding": {
    id: 83,
    actors: ["intermediate", "init"],
    doc: "Drop every capability that is not in the mask from the bounding set, which a clone inherits.",
    fields: { mask: "u64" },
  },
  "capability.set": {
    id: 85,
    actors: ["init"],
    doc: "capset(2) and the ambient set. Outcome: what init itself does not hold is left out with a warning, also of the bounding set that it was to have; an ambient capability that cannot be raised is a warning.",
    fields: { bounding: "u64", effective: "u64", permitted: "u64", inheritable: "u64", ambient: "u64" },
  },
  "seccomp.prepare": {
    id: 101,
    actors: ["runtime"],
    doc: "Compile the profile (canonical text, src/runtime/plan/compile/seccomp.ts) to BPF, or take it from the cache, into this file. enosysForNewer: system calls with a higher number than every one of the profile give ENOSYS. Outcome: names that libseccomp does not know are left out with a warning; a cache that cannot be used is passed over.",
    fields: { profile: "str", enosysForNewer: "bool", path: "str" },
  },
  "seccomp.load": {
    id: 102,
    actors: ["init"],
    doc: "Load the BPF program that seccomp.receive has read, with SECCOMP_FILTER_FLAG_* flags. What process.exec needs beside execve(2) is done before. raise: CAP_SYS_ADMIN of the permitted set becomes effective first. listener: send the notification descriptor to the runtime (message `listener`).",
    fields: { flags: "u32", raise: "bool", listener: "bool" },
  },
  "seccomp.notify": {
    id: 103,
    actors: ["runtime"],
    doc: "Connect to the unix stream socket of linux.seccomp.listenerPath and send the container process state with the listener's descriptor.",
    fields: { path: "str", metadata: "str" },
  },
  "label.set": {
    id: 104,
    actors: ["init"],
    doc: "Write an LSM attribute of this process through slot PROC: attr/FILE, or where that is absent attr/FALLBACK (if given).",
    fields: { file: "str", fallback: "str", value: "str" },
  },
  "seccomp.receive": {
    id: 109,
    actors: ["init"],
    doc: "Wait for message `filter` and read the BPF program of its descriptor (8 bytes an instruction, at most 4096 of them) into memory.",
    fields: {},
  },
  "capability.drop": {
    id: 110,
    actors: ["init"],
    doc: "capset(2): take these capabilities out of the effective and the permitted set.",
    fields: { effective: "u64", permitted: "u64" },
  },
  "seccomp.send": {
    id: 114,
    actors: ["runtime"],
    doc: "Send a descriptor of this BPF program to init (message `filter`).",
    fields: { path: "str" },
  },
} as const satisfies Record<string, OpDefinition>;
