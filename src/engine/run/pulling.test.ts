/** Which image a container gets when its tag has moved. */
import { expect, test } from "vitest";
import type { Images, Pin } from "../images/index.ts";
import { newRecord, type TaskRecord } from "../model/index.ts";
import { type ImageConfig, taskSchema } from "../spec/index.ts";
import { FreshImages, Pulling } from "./pulling.ts";

const CONFIG: ImageConfig = {
  ...{ os: "linux", architecture: "amd64", env: [], entrypoint: [], cmd: ["x"], user: null, cwd: null },
  ...{ stopSignal: null, volumes: [], healthCheck: null, diffIds: [] },
};
const REFERENCE = "docker://h/web:v1";
const pinOf = (digest: string): Pin => ({ reference: REFERENCE, digest, manifest: digest, config: null, via: "pulled" });

/** A store in which every pinned image is there. */
class TaggedImages {
  tagged = "";

  async pull({ pin }: Parameters<Images["pull"]>[0]): Promise<Pin> {
    return pin ?? pinOf(this.tagged);
  }

  config(): ImageConfig {
    return CONFIG;
  }
}

test("E45: the next incarnation has the image that was recorded, whatever its tag is by then; another task gets the new one", async () => {
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", image: REFERENCE }] });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: { bootId: "b", bootMs: 0, wallMs: 0 } });
  const images = new TaggedImages();
  const pulling = new Pulling({ images: images as Partial<Images> as Images, fresh: new FreshImages(), policy: "default", tell: () => {} });
  const pulled = (of: TaskRecord, generation: number) =>
    pulling.pull(of, { container: "c", generation, runtimeId: `${of.id}.c.${generation}` });

  images.tagged = "sha256:first";
  const image = await pulled(record, 1);
  expect(image).toMatchObject({ digest: "sha256:first" });
  images.tagged = "sha256:second";
  const recorded = { ...record, containers: record.containers.map((one) => ({ ...one, image: image! })) };
  expect(await pulled(recorded, 2)).toEqual(image);
  expect(await pulled({ ...record, id: "g.next.1" }, 1)).toMatchObject({ digest: "sha256:second" });
});

test("how far a pull is is told once for each step, and never a step back", async () => {
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", image: REFERENCE }] });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: { bootId: "b", bootMs: 0, wallMs: 0 } });
  const told: string[] = [];
  const shown: unknown[] = [];
  const images: Partial<Images> = {
    config: () => CONFIG,
    async pull({ onProgress, onUnpack }) {
      for (const bytes of [0, 5, 9]) onProgress?.({ bytes, total: 9, layers: { done: bytes > 5 ? 2 : 0, total: 2 } });
      shown.push(pulling.progressOf("x"));
      onUnpack?.();
      onProgress?.({ bytes: 9, total: 9, layers: { done: 2, total: 2 } });
      return pinOf("sha256:first");
    },
  };
  const pulling = new Pulling({
    ...{ images: images as Images, fresh: new FreshImages(), policy: "default" },
    tell: (task, { container, generation }, phase, size) =>
      told.push(`${task} ${container} ${generation} ${phase} ${JSON.stringify(size)}`),
  });
  await pulling.pull(record, { container: "c", generation: 3, runtimeId: "x" });
  const size = '{"layers":2,"bytes":9}';
  expect(told).toEqual([`g.t.1 c 3 pulling ${size}`, `g.t.1 c 3 unpacking ${size}`]);
  expect([...shown, pulling.progressOf("x")]).toEqual([{ bytes: 9, total: 9, layers: { done: 2, total: 2 } }, undefined]);
});

test("what is made for a task is cancelled when the task is not wanted any more, and not before", async () => {
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", image: REFERENCE }] });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: { bootId: "b", bootMs: 0, wallMs: 0 } });
  const pulling = new Pulling({ images: {} as Images, fresh: new FreshImages(), policy: "default", tell: () => {} });
  let signal: AbortSignal | undefined;
  const made = pulling.cancellableOf(record.id, "volume:v", (given) => {
    signal = given;
    return new Promise((_, reject) => given.addEventListener("abort", () => reject(given.reason as Error)));
  });
  pulling.cancelUnwanted(new Map([[record.id, record]]));
  expect(signal?.aborted).toBe(false);
  pulling.cancelUnwanted(new Map([[record.id, { ...record, desired: "STOPPED" }]]));
  await expect(made).rejects.toThrow("cancelled");
});
