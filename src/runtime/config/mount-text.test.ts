import { expect, it } from "vitest";
import type { Spec, SpecMount } from "../spec/index.ts";
import { deriveConfig } from "./index.ts";
import { MOUNT_OPTIONS } from "./mount-options.ts";
import { mountText, mountWords } from "./mount-text.ts";
import type { MountConfig } from "./types.ts";

const derived = (mount: SpecMount): MountConfig =>
  deriveConfig({ ociVersion: "1.2.0", root: { path: "r" }, mounts: [mount], linux: { namespaces: [{ type: "mount" }] } } as Spec, {
    bundle: "/b",
  }).mounts[0]!;

it.each([
  [{ type: "bind", source: "/srv", options: ["rbind", "ro", "nosuid"] }, "bind from /srv", ["rbind", "ro", "nosuid"]],
  [
    { type: "tmpfs", source: "shm", options: ["size=1k", "mode=755", "noexec", "ro"] },
    "tmpfs from shm",
    ["ro", "noexec", "size=1k", "mode=755"],
  ],
  [{ type: "bind", source: "/srv", options: ["bind", "rro", "rslave"] }, "bind from /srv", ["bind", "rro", "rslave"]],
  [{ type: "bind", source: "/srv", options: ["bind", "noatime"] }, "bind from /srv", ["bind", "noatime"]],
  [{ type: "cgroup", source: "cgroup", options: ["ro"] }, "cgroup", ["ro"]],
  [{ type: "proc", source: "proc" }, "proc from proc", []],
])("%o is told by its type and source, and its words", (mount, text, words) => {
  const config = derived({ destination: "/m", ...mount });
  expect(mountText(config, "source" in config ? config.source : undefined)).toBe(text);
  expect(mountWords(config)).toEqual(words);
});

it("the words ask for just what the options asked for, one by one and in pairs", () => {
  const words = [...MOUNT_OPTIONS.keys()].filter((word) => !/idmap$/.test(word));
  const asked = words.flatMap((one) => [[one], ...words.filter((other) => other !== one).map((other) => [one, other])]);
  let count = 0;
  for (const base of [
    { type: "bind", source: "/srv" },
    { type: "tmpfs", source: "tmpfs" },
  ]) {
    for (const options of asked) {
      let config: MountConfig;
      try {
        config = derived({ destination: "/m", ...base, options });
      } catch {
        continue;
      }
      const again = derived({ destination: "/m", ...base, options: [...mountWords(config)] });
      expect({ options, config: again }).toEqual({ options, config });
      count++;
    }
  }
  expect(count).toBeGreaterThan(5_000);
});
