import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { TaskRecord } from "../../model/index.ts";
import { Paths } from "../paths.ts";
import { TaskVolumes } from "./volumes.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-resources-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let count = 0;

/** A directory of somebody else that has what a volume's place is called. */
function madeVictim(): string {
  const victim = join(directory, `victim-${++count}`);
  mkdirSync(join(victim, "v/below"), { recursive: true });
  writeFileSync(join(victim, "v/precious"), "");
  return victim;
}

const PLANTS: Readonly<Record<string, (path: string, victim: string) => void>> = {
  "a link": (path, victim) => symlinkSync(victim, path),
  "a file": (path) => writeFileSync(path, ""),
};

test.each(Object.keys(PLANTS).flatMap((how) => [true, false].map((isVolume) => [how, isVolume] as const)))(
  "%s has the place of the directory of a task's volumes (of a volume: %s): it is removed itself",
  async (how, isVolume) => {
    const victim = madeVictim();
    const paths = new Paths(join(directory, `state-${count}`));
    const volumes = new TaskVolumes({ paths, pullPolicy: "default", runtimes: {}, kept: {} as never, images: {} as never, log: () => {} });
    const spec = { volumes: [{ name: "v" }] };
    const record = { id: "g.t.1", group: "g", spec, cgroup: "/c" } as unknown as TaskRecord;
    const place = isVolume ? paths.volume(record.id, "v") : paths.volumes(record.id);
    const plant = () => {
      mkdirSync(dirname(place), { recursive: true });
      rmSync(place, { recursive: true, force: true });
      PLANTS[how]!(place, victim);
    };
    plant();
    const making = volumes.make(record, "volume:v", { signal: new AbortController().signal, onLate: () => {} });
    if (isVolume) await expect(making).rejects.toThrow(/is not a directory|EEXIST/);
    else {
      await making;
      expect(lstatSync(paths.volume(record.id, "v")).isDirectory()).toBe(true);
    }
    plant();
    await volumes.unmake(record, "volume:v");
    expect(existsSync(paths.volume(record.id, "v"))).toBe(false);
    expect(readdirSync(victim, { recursive: true }).sort()).toEqual(["v", "v/below", "v/precious"]);
    expect(statSync(join(victim, "v")).mode & 0o777).not.toBe(0o777);
  },
);

test.each(["pull", "makeRoot"])("an image that is a volume ends with its task: %s", async (last) => {
  const stop = new AbortController();
  let given: AbortSignal | undefined;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const call = async (name: string, signal: AbortSignal) => {
    if (name !== last) return;
    given = signal;
    begin();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const images = {
    releaseRoot: async () => {},
    pull: ({ signal }: { readonly signal: AbortSignal }) => call("pull", signal),
    makeRoot: (_id: string, _pin: object, _volumes: object, signal: AbortSignal) => call("makeRoot", signal),
  };
  const paths = new Paths(join(directory, `state-${++count}`));
  const volumes = new TaskVolumes({
    paths,
    pullPolicy: "default",
    runtimes: {},
    kept: {} as never,
    images: images as never,
    log: () => {},
  });
  const spec = { volumes: [{ name: "v", image: "docker://registry.invalid/a:1" }] };
  const record = { id: "g.t.1", group: "g", spec } as unknown as TaskRecord;
  const making = volumes.make(record, "volume:v", { signal: stop.signal, onLate: () => {} });
  await begun;
  stop.abort(new Error("it is not wanted"));
  expect(given?.aborted).toBe(true);
  await expect(making).rejects.toThrow("it is not wanted");
});
