import { expect, test } from "vitest";
import { type RevisionNote, type RevisionRecord, reason, revisionKey, type ServiceRecord } from "../model/index.ts";
import { imagesOfRevisions } from "./image-care.ts";

test("R12 versions keep their images, except those that have failed and that their rollout does not need", () => {
  const failed = (code: string) => ({ verdict: "failed", reason: reason(code as "RolloutFailed", "it has failed") }) as const;
  const notes = [{}, failed("RolloutFailed"), failed("HostRebooted"), {}, failed("RolloutFailed")].map(
    (note, at): RevisionNote => ({ number: at + 1, cause: "apply", atMs: 0, changed: [], verdict: "good", reason: null, ...note }),
  );
  const of = { group: "g", service: "web" };
  const records = new Map<string, RevisionRecord>(
    notes.map(({ number }) => {
      const image = { reference: "a", digest: `d${number}`, manifest: `m${number}`, config: null, via: "cache" as const };
      return [
        revisionKey({ ...of, number }),
        { ...of, number, specs: [], images: { a: { ...image, stopSignal: null, healthCheck: null } } },
      ];
    }),
  );
  const kept = (to: number, from: number) => {
    const rollout = { to, from } as ServiceRecord["rollout"];
    const service: ServiceRecord = { version: 1, group: "g", name: "web", revisions: notes, rollout };
    return imagesOfRevisions([service], records).map(({ manifest }) => manifest);
  };
  expect(kept(4, 1)).toEqual(["m1", "m3", "m4"]);
  expect(kept(5, 4)).toEqual(["m1", "m3", "m4", "m5"]);
});
