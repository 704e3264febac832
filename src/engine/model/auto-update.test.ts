import { expect, test } from "vitest";
import { taskSchema, updatePolicy } from "../spec/index.ts";
import { hasLeft } from "./auto-update.ts";
import { reason } from "./reason.ts";
import type { ImageRecord } from "./record.ts";
import type { RevisionNote, RevisionRecord, RolloutRecord } from "./service.ts";

const A = "docker://registry.invalid/a:1";

function specOf(command: string) {
  return taskSchema.parse({ name: "web", update: {}, containers: [{ name: "c", image: A, command }] });
}

/** A service with versions, each with the digest of its image and what became of it; the last one is the current one. */
function service(...versions: (Partial<RevisionNote> & { readonly digest: string; readonly command?: string })[]) {
  const records = versions.map(({ digest, command = "x" }, at): RevisionRecord => {
    const image: ImageRecord = {
      ...{ reference: A, digest, manifest: `m-${digest}`, config: null, via: "cache" },
      ...{ stopSignal: null, healthCheck: null },
    };
    return { group: "g", service: "web", number: at + 1, specs: [specOf(command)], images: { [A]: image } };
  });
  const revisions = versions.map(
    ({ digest: _, command: __, ...note }, at): RevisionNote => ({
      ...{ number: at + 1, cause: "autoupdate", atMs: 0, changed: [], verdict: "good", reason: null },
      ...note,
    }),
  );
  return (to: number, digest: string) =>
    hasLeft({ rollout: { to } as RolloutRecord, revisions }, (number) => records.find((one) => one.number === number), A, digest);
}

test("R13 an image that has failed is not tried again with the same spec", () => {
  const left = service({ digest: "d1" }, { digest: "d2", verdict: "failed", reason: reason("RolloutFailed", "it has failed") });
  expect([left(1, "d2"), left(1, "d3"), left(2, "d2")]).toEqual([true, false, false]);
  // Another spec may be what has failed, or what the image needs.
  expect(service({ digest: "d1" }, { digest: "d2", verdict: "failed", command: "y" })(1, "d2")).toBe(false);
});

test("R13 a reboot says nothing about an image", () => {
  expect(service({ digest: "d1" }, { digest: "d2", verdict: "failed", reason: reason("HostRebooted", "rebooted") })(1, "d2")).toBe(false);
});

test("R13 an image that a user has undone is not tried again, until something else was rolled out", () => {
  const undone = [{ digest: "d1" }, { digest: "d2" }, { digest: "d1", cause: "undo", of: 1 }] as const;
  expect(service(...undone)(3, "d2")).toBe(true);
  expect(service(...undone, { digest: "d3" })(4, "d2")).toBe(false);
  // Another number of replicas is nothing else, and what has failed in between has not stayed.
  expect(service(...undone, { digest: "d1", cause: "scale" }, { digest: "d1", cause: "scale" })(5, "d2")).toBe(true);
  expect(service(...undone, { digest: "d3", verdict: "failed" }, { digest: "d1", cause: "scale" })(5, "d2")).toBe(true);
});

test("R13 containers are updated only if they ask for it, by a policy that is known", () => {
  const policy = (value?: string) => updatePolicy({ annotations: value === undefined ? {} : { "io.containers.autoupdate": value } });
  expect([undefined, "", "disabled"].map(policy)).toEqual(["none", "none", "none"]);
  expect(["registry", "image", "local"].map(policy)).toEqual(["registry", "registry", "local"]);
  expect(policy("daily")).toMatchObject({
    unknown: expect.stringContaining('is "daily", and only registry, local and disabled are known'),
  });
});
