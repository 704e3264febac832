/**
 * What a container of a Compose file sees is what Docker Compose makes of the file: environment, arguments, user, directory, mounts, limits, capabilities, names of others, answers
 * at ports of the host, order of starts and status at the end. The images are stubs, which print it (test/compose-model/stub.ts). RUNT_COMPOSE_CORPUS names directories with files of others, and RUNT_COMPOSE_STARTED how many of them are
 * started, the same number of each directory; both take Docker Compose itself (`make test-compose-model`). Without them some of our own files are.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { signalNumber } from "../../src/shared/linux/index.ts";
import { CASES } from "../compose-model/cases.ts";
import { expectedOf } from "../compose-model/expected.ts";
import { FIRST_ID, seenFrom } from "../compose-model/inside.ts";
import { asked, ENVIRONMENT, type Model, ORACLE } from "../compose-model/oracle.ts";
import { read } from "../compose-model/read.ts";
import { ends, FACTS, type Facts, factsIn, stubbed, tcpPortsOf } from "../compose-model/stub.ts";
import { fieldsOf, listOf, plainName, textsOf } from "../compose-model/view.ts";
import { REPOSITORY } from "../support/programs.ts";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

interface Started {
  readonly title: string;
  readonly model: () => Model | undefined;
}

const OWN = ["files", "rights"];
const recorded = JSON.parse(readFileSync(join(REPOSITORY, "test/golden/compose-models.json"), "utf8")) as Record<string, { model?: Model }>;
const own: readonly Started[] = CASES.filter(({ title }) => OWN.includes(title.split(" ")[0]!)).map(({ title }) => ({
  title: title.split(" ")[0]!,
  model: () => recorded[title]!.model,
}));

const MOST_SERVICES = 6;
const NAME = /^(?:docker-)?compose[^/]*\.ya?ml$/i;

/** Files of a directory that both take, with not too many services. */
function* takenBelow(directory: string): Generator<Started> {
  for (const path of (readdirSync(directory, { recursive: true, encoding: "utf8" }) as string[]).sort()) {
    if (!NAME.test(basename(path))) continue;
    const one = { files: [basename(path)], directory: dirname(join(directory, path)) };
    const answer = asked(one);
    if (answer.refused !== undefined) continue;
    const services = Object.keys(answer.model.services ?? {}).length;
    if (services === 0 || services > MOST_SERVICES || read(one)?.findings.length !== 0) continue;
    yield { title: `${basename(directory)}/${path}`, model: () => answer.model };
  }
}

function ofOthers(): readonly Started[] {
  const count = Number(process.env["RUNT_COMPOSE_STARTED"] ?? 0);
  if (count === 0 || ORACLE === undefined) return [];
  const found: Started[] = [];
  let sources = (process.env["RUNT_COMPOSE_CORPUS"] ?? "").split(":").filter(Boolean).map(takenBelow);
  while (sources.length > 0 && found.length < count)
    sources = sources.filter((source) => {
      const { value, done } = source.next();
      if (!done) found.push(value);
      return !done;
    });
  return found.slice(0, count);
}

/** Where the differences are written. */
const REPORT = join(REPOSITORY, "build/test/compose-started.txt");
const HAS_PROGRAMS = noNetworks === undefined;

describe.skipIf(!isRoot || !HAS_PROGRAMS)("started Compose files (need root, CNI plugins, skopeo and umoci)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  beforeAll(() => {
    mkdirSync(dirname(REPORT), { recursive: true });
    writeFileSync(REPORT, "");
  });

  function stubImage(names: readonly string[]): string {
    const directory = join(scene.directory, "stub");
    rmSync(directory, { recursive: true, force: true });
    const lines = (home: string) => names.map((name, at) => `${name}:x:${FIRST_ID + at}:${home}\n`).join("");
    const users = names.map((name, at) => `${name}:x:${FIRST_ID + at}:${FIRST_ID + at}::/:/bin/sh\n`).join("");
    const programs = ["base64", "tr", "printf", "hostname", "sed", "nslookup", "cut", "nc", "echo"].map((name) => ({
      name: `bin/${name}`,
      type: "2",
      link: "busybox",
    }));
    const added = [
      ...programs,
      { name: "facts", content: FACTS, mode: 0o755 },
      { name: "etc/passwd", content: `root:x:0:0::/:/bin/sh\n${users}` },
      { name: "etc/group", content: `root:x:0:\n${lines("")}` },
    ];
    writeLayout(directory, { layers: [baseLayer(), tar(added)], config: {} });
    return `oci:${directory}:v1`;
  }

  test.each([...own, ...ofOthers()])(
    "$title",
    async ({ title, model: given }) => {
      await host.daemon();
      const original = given()!;
      const parts = Object.values(original.services ?? {}).flatMap((one) => [
        ...String(one["user"] ?? "").split(":"),
        ...textsOf(one["group_add"]),
      ]);
      const names = [...new Set(parts)].filter((name) => name !== "" && name !== "root" && !/^\d+$/.test(name));
      const ids = new Map([["root", 0] as const, ...names.map((name, at) => [name, FIRST_ID + at] as const)]);
      const directory = join(scene.directory, "project");
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory, { recursive: true });
      const { text, model } = stubbed({ ...original, name: "started" }, stubImage(names), directory);
      const file = join(directory, "compose.yaml");
      writeFileSync(file, text);
      const applied = await scene.ctl("apply", "-f", file);
      expect(applied).toMatchObject({ status: 0 });
      const differences: string[] = [];
      const services = Object.entries(model.services ?? {});
      const inside = new Map<string, Facts>();
      for (const [key, service] of services) {
        const expected = expectedOf(key, service, { model, environment: ENVIRONMENT, directory });
        const task = taskOf(key, model);
        const log = async () =>
          (await scene.ctl("-g", "started", "logs", task, "-c", plainName(String(service["container_name"] ?? key)))).stdout;
        let printed = "";
        await until(
          async () => {
            printed = await log();
            return factsIn(printed) !== undefined;
          },
          undefined,
          () => `${key}: ${printed}`,
        );
        inside.set(key, factsIn(printed)!);
        differences.push(...seenFrom(key, expected, factsIn(printed)!, ids));
      }
      differences.push(
        ...(await namesOf(model)),
        ...(await ports(model)),
        ...(await orderOf(model, inside)),
        ...(await statusOf(model, file)),
      );
      appendFileSync(REPORT, [`${title}: ${services.length} services`, ...differences.map((line) => `  ${line}`), ""].join("\n"));
      expect((await scene.ctl("delete", "-f", file, "--volumes")).status).toBe(0);
      expect(differences).toEqual([]);
    },
    LONGEST_MS,
  );

  /** A service that is in the network of another one is in its task. */
  function taskOf(key: string, { services = {} }: Model): string {
    const [, owner] = /^service:(.*)$/.exec(String(services[key]?.["network_mode"] ?? "")) ?? [];
    return owner === undefined ? plainName(key) : taskOf(owner, { services, name: "" });
  }

  /** The first service finds all that are in one of its networks. */
  async function namesOf({ services = {} }: Model): Promise<string[]> {
    const [first, ...others] = Object.entries(services).filter(
      ([key, service]) => service["network_mode"] === undefined && !ends(key, services),
    );
    if (first === undefined) return [];
    const mine = Object.keys(fieldsOf(first[1]["networks"]));
    const lines: string[] = [];
    for (const [key, service] of others) {
      if (!Object.keys(fieldsOf(service["networks"])).some((name) => mine.includes(name))) continue;
      const { status } = await scene.ctl("-g", "started", "exec", plainName(first[0]), "--", "/bin/sh", "-c", `nslookup ${key} 127.0.0.11`);
      if (status !== 0) lines.push(`${first[0]}: the name ${key} is not known inside`);
    }
    return lines;
  }

  /** Each port that the file publishes leads into a container, and no other one does. */
  async function ports({ services = {}, networks = {} }: Model): Promise<string[]> {
    const found = (await host.rules()).join("\n").matchAll(/(tcp|udp) \. (\d+) comment "[^"]*" : [\d.]+ \. (\d+)/g);
    const rules = [...found].map(([, protocol, from, to]) => ({ protocol, from: Number(from), to }));
    const isOut = (service: Readonly<Record<string, unknown>>) =>
      service["network_mode"] === undefined &&
      Object.keys(fieldsOf(service["networks"])).some((name) => networks[name]?.["internal"] !== true);
    const wanted = Object.entries(services).flatMap(([key, service]) =>
      isOut(service)
        ? listOf(service["ports"]).map(
            (one) => ({ key, ...fieldsOf(one) }) as { key: string; target: number; published?: string; protocol: string; host_ip?: string },
          )
        : [],
    );
    const rest = [...rules];
    const missing = wanted.flatMap(({ key, target, published, protocol }) => {
      const [low = "49152", high = published === undefined ? "65535" : low] = (published ?? "").split("-").filter(Boolean);
      const at = rest.findIndex(
        (rule) => rule.protocol === protocol && rule.to === String(target) && rule.from >= Number(low) && rule.from <= Number(high),
      );
      if (at >= 0) rest.splice(at, 1);
      return at >= 0 ? [] : [`${key}: ports ${published ?? "any"}>${target}/${protocol}: no rule of the host leads there`];
    });
    const answers = wanted.map(async ({ key, target, published, protocol, host_ip: address = "127.0.0.1" }) => {
      const port = published ?? rules.find((rule) => rule.to === String(target))?.from;
      if (protocol !== "tcp" || ends(key, services) || !tcpPortsOf(services[key]!).includes(String(target)) || !/^\d+$/.test(String(port)))
        return [];
      const at = [/^[0:.]+$/.test(address) ? "127.0.0.1" : address, String(port)];
      const told = await host.on("busybox", "nc", "-w", "5", ...at).catch(String);
      return told.trim() === key ? [] : [`${key}: ports ${at.join(":")}>${target}: ${JSON.stringify(told)} answers`];
    });
    const unknown = rest.map((rule) => `ports: ${rule.from} leads to ${rule.to}, which no service says`);
    return [...missing, ...unknown, ...(await Promise.all(answers)).flat()];
  }

  interface Container {
    readonly name: string;
    readonly startedMs: number;
    readonly exit: { readonly code: number } | null;
  }

  async function containersOf(key: string, model: Model): Promise<Container | undefined> {
    const { tasks } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text) as {
      tasks: readonly { name: string; group: string; containers: readonly Container[] }[];
    };
    const name = plainName(String(model.services![key]!["container_name"] ?? key));
    return tasks.find((one) => one.group === "started" && one.name === taskOf(key, model))?.containers.find((one) => one.name === name);
  }

  /** A service starts after those that it depends on have started, are healthy, or have ended. */
  async function orderOf(model: Model, inside: ReadonlyMap<string, Facts>): Promise<string[]> {
    const lines: string[] = [];
    for (const [key, service] of Object.entries(model.services ?? {}))
      for (const [other, one] of Object.entries(fieldsOf(service["depends_on"]))) {
        const condition = String(fieldsOf(one)["condition"]);
        const [first, then] = [await containersOf(other, model), await containersOf(key, model)];
        const began = (name: string) => Number(inside.get(name)?.one["began"]);
        const isRight = condition === "service_started" ? first!.startedMs <= then!.startedMs : began(other) <= began(key);
        if (!isRight) lines.push(`${key}: begins before ${other} (${condition})`);
      }
    return lines;
  }

  /** The number of the file's signal is in the status of each container, but of those that have ended before. */
  async function statusOf(model: Model, file: string): Promise<string[]> {
    expect((await scene.ctl("stop", "-f", file)).status).toBe(0);
    const lines: string[] = [];
    for (const [key, service] of Object.entries(model.services ?? {})) {
      const signal = String(service["stop_signal"] ?? "SIGTERM");
      const number = /^\d+$/.test(signal) ? Number(signal) : signalNumber(signal.replace(/^SIG/, ""))!;
      const wanted = ends(key, model.services!) ? 0 : 100 + number;
      const exitOf = async () => (await containersOf(key, model))?.exit?.code;
      await until(
        async () => (await exitOf()) !== undefined,
        undefined,
        () => key,
      );
      const code = await exitOf();
      if (code !== wanted) lines.push(`${key}: ends with ${code} instead of ${wanted}`);
    }
    return lines;
  }
});
