/** Each policy with each state of the store and of the source, as the program that asks the source sees it. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const SKOPEO = "/usr/bin/skopeo";
const HAS_PROGRAMS = [SKOPEO, "/usr/bin/umoci"].every((name) => existsSync(name));

type Outcome = "runs" | "runs with what was there" | "container stops" | "task stops";

/** Of [cached and up, cached and down, only up, neither]: what comes of it, and whether the source was asked. */
const EXPECTED: Readonly<Record<string, readonly (readonly [Outcome, asked: boolean])[]>> = {
  always: [
    ["runs", true],
    ["task stops", true],
    ["runs", true],
    ["task stops", true],
  ],
  once: [
    ["runs", false],
    ["runs", false],
    ["runs", true],
    ["task stops", true],
  ],
  "prefer-cached": [
    ["runs", false],
    ["runs", false],
    ["runs", true],
    ["container stops", true],
  ],
  default: [
    ["runs", true],
    ["runs with what was there", true],
    ["runs", true],
    ["container stops", true],
  ],
};

const CASES = Object.entries(EXPECTED).flatMap(([policy, four]) =>
  four.map(([outcome, asked], at) => ({ policy, isCached: at < 2, isUp: at % 2 === 0, outcome, asked, name: `${policy}-${at}` })),
);

describe.skipIf(!isRoot || !HAS_PROGRAMS)("policies of pulls (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const bin = join(scene.directory, "bin");
  const callsFile = join(scene.directory, "calls");
  const source = (name: string) => join(scene.directory, `source-${name}`);
  const calls = (name: string) =>
    existsSync(callsFile)
      ? readFileSync(callsFile, "utf8")
          .split("\n")
          .filter((line) => line.includes(`${source(name)}:`)).length
      : 0;
  const task = async (name: string) => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);

  /** A task that goes on without the container in question. */
  const text = (name: string, policy: string) => {
    const common = { stopSignal: "SIGKILL", command: "/bin/sh", args: ["-c", SLEEP] };
    const image = { name: "image", essential: false, image: `oci:${source(name)}:v1`, pullPolicy: policy, ...common };
    return JSON.stringify({ name, containers: [image, { name: "other", rootfs: scene.rootfs(), ...common }] });
  };

  const outcomeOf = async (name: string): Promise<Outcome> => {
    const { known, containers } = await task(name);
    if (known === "STOPPED") return "task stops";
    const [{ known: state, image }] = containers;
    if (state === "STOPPED") return "container stops";
    return image.via === "usingCachedDigest" ? "runs with what was there" : "runs";
  };
  const isSettled = async (name: string) => {
    const { known, containers } = await task(name);
    return known === "STOPPED" || containers.every((one: { known: string }) => /RUNNING|STOPPED/.test(one.known));
  };

  test(
    "E37 E38: in all 16 cases the daemon asks the source exactly when the policy says so; the running image shows the result",
    async () => {
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, "skopeo"), `#!/bin/sh\necho "$*" >> ${callsFile}\nexec ${SKOPEO} "$@"\n`, { mode: 0o755 });
      await scene.daemon({ before: `export PATH=${bin}:$PATH` });
      for (const { name } of CASES) writeLayout(source(name), { layers: [baseLayer(), tar([{ name: "text", content: name }])], tag: "v1" });
      for (const { name } of CASES.filter(({ isCached }) => isCached))
        expect((await scene.ctl("pull", `oci:${source(name)}:v1`)).status, name).toBe(0);
      for (const { name } of CASES.filter(({ isUp }) => !isUp)) renameSync(source(name), `${source(name)}.gone`);
      const before = new Map(CASES.map(({ name }) => [name, calls(name)]));
      for (const { isCached, name } of CASES) expect(before.get(name)! > 0, name).toBe(isCached);
      const texts = CASES.map(({ name, policy }) => text(name, policy));
      expect((await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n") })).status).toBe(200);
      for (const { name } of CASES) await until(() => isSettled(name), LONGEST_MS);
      const found = [];
      for (const { name } of CASES) found.push({ name, outcome: await outcomeOf(name), asked: calls(name) > before.get(name)! });
      expect(found).toEqual(CASES.map(({ name, outcome, asked }) => ({ name, outcome, asked })));
      for (const { name } of CASES) await scene.ctl("delete", "--no-wait", name);
      await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks.length === 0, LONGEST_MS);
    },
    LONGEST_MS,
  );
});
