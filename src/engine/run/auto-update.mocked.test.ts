import { afterEach, expect, test, vi } from "vitest";
import { ImageError } from "../images/index.ts";
import { type RevisionRecord, reason, type ServiceRecord } from "../model/index.ts";
import { type ImageConfig, taskSchema } from "../spec/index.ts";
import { AutoUpdate, type AutoUpdateOptions } from "./auto-update.ts";

const digests = vi.hoisted(() => new Map<string, () => Promise<string>>());
vi.mock("../images/index.ts", async (original) => ({
  ...(await original<typeof import("../images/index.ts")>()),
  latestDigest: ({ place }: { readonly place: string }) => digests.get(place)!(),
}));
afterEach(() => digests.clear());

const referenceOf = (name: string) => `docker://registry.invalid/${name}:1`;
const imageOf = (name: string, digest: string) => ({
  ...{ reference: referenceOf(name), digest, manifest: digest, config: null, via: "cache" as const },
  ...{ stopSignal: null, healthCheck: null },
});

const CONFIG: Partial<ImageConfig> = { user: null, cwd: null, entrypoint: [], cmd: [], env: [], stopSignal: null, healthCheck: null };

/** An engine with these services, all at version 1 with the digest d1, whose registry, and whose store, has d2. */
function scene(...names: string[]) {
  const services = new Map<string, ServiceRecord>();
  const revisions = new Map<string, RevisionRecord>();
  const put = (name: string, number: number, digest: string, command = "x", policy = "registry") => {
    const containers = [{ name: "c", image: referenceOf(name), command, annotations: { "io.containers.autoupdate": policy } }];
    const specs = [taskSchema.parse({ name, update: {}, containers })];
    revisions.set(`g/${name}/${number}`, {
      group: "g",
      service: name,
      number,
      specs,
      images: { [referenceOf(name)]: imageOf(name, digest) },
    });
    return { number, cause: "apply" as const, atMs: 0, changed: [], verdict: "good" as const, reason: null };
  };
  for (const name of names) {
    const rollout = { kind: "create", to: 1, state: "complete", replicas: [] } as unknown as ServiceRecord["rollout"];
    services.set(`g/${name}`, { version: 1, group: "g", name, revisions: [put(name, 1, "d1")], rollout });
    digests.set(`registry.invalid/${name}`, async () => "d2");
  }
  const rolled: string[] = [];
  const begun = { revision: 2 };
  const commands = {
    services: {
      get: ({ name }: { readonly name: string }) => services.get(`g/${name}`),
      recordsOf:
        ({ name }: { readonly name: string }) =>
        (number: number) =>
          revisions.get(`g/${name}/${number}`),
      roll: ({ name }: { readonly name: string }) => rolled.push(name) && begun.revision,
    },
  };
  const edits = { make: async (_: unknown, change: (all: typeof commands) => unknown) => change(commands) };
  const pull = vi.fn(async ({ reference }: { readonly reference: string }) => imageOf(/([a-z]+):1$/.exec(reference)![1]!, "d2"));
  const inspect = vi.fn((_: string) => ({ digest: "d2" }));
  const images = { pull, config: () => CONFIG, shelf: { inspect } };
  const options = { records: new Map(), services, revisions, edits, images, credentials: {} } as unknown as AutoUpdateOptions;
  const updates = new AutoUpdate(options);
  const ended = new AbortController();
  const run = () => updates.run({ group: "g", dryRun: false }, undefined, ended.signal);
  return { updates, run, services, put, rolled, begun, pull, inspect, ended };
}

test("R13 an error of any kind is that of one row, and the others are updated", async () => {
  const { run, rolled, updates } = scene("a", "b");
  digests.set("registry.invalid/a", async () => Promise.reject(new TypeError("of a registry")));
  expect(await run()).toMatchObject([
    { name: "a", state: "failed", reason: "of a registry" },
    { name: "b", state: "updating" },
  ]);
  expect([rolled, updates.used]).toEqual([["b"], []]);
});

test("R13 a request that has waited for its turn works with what is there by then", async () => {
  const { run, services, put, rolled } = scene("a");
  const answers: ((digest: string) => void)[] = [];
  digests.set("registry.invalid/a", () => new Promise((resolve) => answers.push(resolve)));
  const first = run();
  const second = run();
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  // Meanwhile d2 was rolled out, and has failed.
  const service = services.get("g/a")!;
  const failed = { ...put("a", 2, "d2"), verdict: "failed" as const, reason: reason("RolloutFailed", "it has failed") };
  services.set("g/a", { ...service, revisions: [...service.revisions, failed] });
  answers[0]!("d1");
  await first;
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]!("d2");
  expect(await second).toMatchObject([{ state: "no", reason: "rolled back before" }]);
  expect(rolled).toEqual([]);
});

test("R13 a service that has changed during the pull is left alone", async () => {
  const { run, put, rolled, pull } = scene("a");
  pull.mockImplementation(async () => {
    // Deleted and applied again, with another command.
    put("a", 1, "d1", "y");
    return imageOf("a", "d2");
  });
  expect(await run()).toMatchObject([{ state: "no", reason: "the service was changed meanwhile" }]);
  expect(rolled).toEqual([]);
});

test("R13 a client that goes away ends the request before a rollout begins", async () => {
  const { run, rolled, pull, ended, updates } = scene("a");
  pull.mockImplementation(async () => {
    ended.abort(new Error("the client has gone away"));
    return imageOf("a", "d2");
  });
  expect(await run()).toMatchObject([{ state: "failed", reason: "the client has gone away" }]);
  expect([rolled, updates.used]).toEqual([[], []]);
});

test("R13 a service whose replicas have the image by now is not said to be updated", async () => {
  const { run, begun } = scene("a");
  // As the engine answers a version that is the current one.
  begun.revision = 1;
  expect(await run()).toMatchObject([{ state: "no", reason: "its replicas have this image by now", to: "d2", revision: null }]);
});

test("R13 the policy local takes what the store has for the name, and asks no registry", async () => {
  const { run, put, rolled, pull, inspect } = scene("a");
  put("a", 1, "d1", "x", "local");
  digests.clear();
  expect(await run()).toMatchObject([{ state: "updating", from: "d1", to: "d2", revision: 2 }]);
  expect(rolled).toEqual(["a"]);
  expect(pull.mock.calls.map(([asked]) => asked)).toMatchObject([{ reference: referenceOf("a"), policy: "never" }]);
  inspect.mockReturnValue({ digest: "d1" });
  expect(await run()).toMatchObject([{ state: "no", reason: null, to: "d1" }]);
  inspect.mockImplementation(() => {
    throw new ImageError("unknown-image", "it is not in the store");
  });
  expect(await run()).toMatchObject([{ state: "no", reason: "the store has no image of this name", to: null }]);
});
