import { expect, test } from "vitest";
import { type RevisionRecord, type RolloutRecord, revisionKey, type ServiceRecord, serviceKey } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Services, type ServicesHost } from "./services.ts";

const of = { group: "g", name: "web" };
const specOf = (name: string, command = "x", more = {}) =>
  taskSchema.parse({ name, update: {}, containers: [{ name: "c", image: "docker://registry.invalid/a:1", command }], ...more });

/** What an applied file gets from a service with two replicas. */
function kept(
  specs: Parameters<Services["imagesKept"]>[1],
  state: RolloutRecord["state"] = "complete",
  verdict: "good" | "failed" = "good",
) {
  const note = { number: 1, cause: "apply", atMs: 0, changed: [], verdict, reason: null } as const;
  const service: ServiceRecord = { version: 1, ...of, revisions: [note], rollout: { to: 1, state } as RolloutRecord };
  const image = { reference: "a", digest: "d1", manifest: "m", config: null, via: "cache", stopSignal: null, healthCheck: null } as const;
  const revision: RevisionRecord = { group: "g", service: "web", number: 1, specs: [specOf("web"), specOf("web-2")], images: { a: image } };
  const services = new Map([[serviceKey(of), service]]);
  const revisions = new Map([[revisionKey(revision), revision]]);
  const host = { draft: { services, revisions } } as unknown as ServicesHost;
  return new Services(host).imagesKept(of, specs)?.["a"]?.digest;
}

test("R12 a file with the containers of the current version keeps its images, also with more replicas", () => {
  const same = [specOf("web"), specOf("web-2")];
  expect(kept(same)).toBe("d1");
  expect(kept([...same, specOf("web-3")])).toBe("d1");
  expect(kept(same, "progressing")).toBe("d1");
});

test("R12 changed containers, and a version that has failed or has stopped, pull as their policies say", () => {
  expect(kept([specOf("web", "y"), specOf("web-2", "y")])).toBeUndefined();
  expect(kept([specOf("web-9")])).toBeUndefined();
  expect(kept([specOf("web")], "paused")).toBeUndefined();
  expect(kept([specOf("web")], "complete", "failed")).toBeUndefined();
});
