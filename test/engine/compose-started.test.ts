/**
 * What a container of a Compose file sees is what Docker Compose makes of the file: environment, arguments, user, directory, mounts, limits, capabilities, names of others, ports of the
 * host. The images are stubs, which print it (test/compose-model/stub.ts). RUNT_COMPOSE_CORPUS names directories with files of others, and RUNT_COMPOSE_STARTED how many of them are
 * started; both take Docker Compose itself (`make test-compose-model`). Without them some of our own files are.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../src/shared/linux/index.ts";
import { CASES } from "../compose-model/cases.ts";
import { expectedOf } from "../compose-model/expected.ts";
import { asked, ENVIRONMENT, type Model, ORACLE } from "../compose-model/oracle.ts";
import { read } from "../compose-model/read.ts";
import { FACTS, type Facts, factsIn, stubbed } from "../compose-model/stub.ts";
import { fieldsOf, listOf, plainName, textsOf, type View } from "../compose-model/view.ts";
import { REPOSITORY } from "../support/programs.ts";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

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

/** Files that both take, with not too many services. */
function ofOthers(): readonly Started[] {
  const count = Number(process.env["RUNT_COMPOSE_STARTED"] ?? 0);
  if (count === 0 || ORACLE === undefined) return [];
  const found: Started[] = [];
  for (const directory of (process.env["RUNT_COMPOSE_CORPUS"] ?? "").split(":").filter(Boolean))
    for (const path of (readdirSync(directory, { recursive: true, encoding: "utf8" }) as string[]).sort()) {
      if (found.length >= count) return found;
      if (!NAME.test(basename(path))) continue;
      const one = { files: [basename(path)], directory: dirname(join(directory, path)) };
      const answer = asked(one);
      if (answer.refused !== undefined) continue;
      const services = Object.keys(answer.model.services ?? {}).length;
      if (services === 0 || services > MOST_SERVICES || read(one)?.findings.length !== 0) continue;
      found.push({ title: path, model: () => answer.model });
    }
  return found;
}

/** Docker's, which a container has without cap_add and cap_drop, but for NET_RAW (docs/engine/compose.md). Source: moby, oci/caps/defaults.go. */
const CAPS = ["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "SETGID", "SETUID", "SETFCAP", "SETPCAP"];
const MORE_CAPS = ["NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"];

function capabilitiesOf(expected: View): string[] {
  const [added, dropped] = [textsOf(expected["cap_add"]), textsOf(expected["cap_drop"])];
  const usual = dropped.includes("ALL") ? [] : [...CAPS, ...MORE_CAPS].map((name) => `CAP_${name}`);
  const all = added.includes("ALL") ? [...CAPABILITIES] : [...usual, ...added];
  return [...new Set(all)].filter((name) => !dropped.includes(name) || added.includes(name)).sort();
}

const bits = (hex: string) => CAPABILITIES.filter((_, at) => (BigInt(`0x${hex}`) >> BigInt(at)) & 1n).sort();

/** Users and groups that files name, by their number in the stub. */
const FIRST_ID = 2000;

/** What every container has, whatever the file says. */
const ANYWAY = ["PATH", "HOME", "HOSTNAME", "TERM", "PWD", "SHLVL", "OLDPWD"];

/** Differences of one service, each as a line. */
function seenFrom(
  service: string,
  expected: View,
  { environment, arguments: given, one, mounts }: Facts,
  ids: ReadonlyMap<string, number>,
): string[] {
  const lines: string[] = [];
  const same = (what: string, wanted: unknown, found: unknown) => {
    const [a, b] = [JSON.stringify(wanted), JSON.stringify(found)];
    if (a !== b) lines.push(`${service}: ${what}: ${a} by the file, ${b} inside`);
  };
  const wanted = fieldsOf(expected["environment"]);
  for (const [name, value] of Object.entries(wanted)) same(`environment ${name}`, value, environment[name]);
  same(
    "further variables",
    [],
    Object.keys(environment).filter((name) => !(name in wanted) && !ANYWAY.includes(name)),
  );
  same("arguments", textsOf(expected["entrypoint"]).slice(2), given);
  same("working_dir", expected["working_dir"] ?? "/", one["directory"]);
  const [user = "0", group] = String(expected["user"] ?? "0").split(":");
  const number = (name: string) => (/^\d+$/.test(name) ? Number(name) : ids.get(name));
  same("user", number(user), Number(one["user"]?.split(":")[0]));
  if (group !== undefined) same("group", number(group), Number(one["user"]?.split(":")[1]));
  for (const name of textsOf(expected["group_add"]))
    same(`group_add ${name}`, true, one["groups"]?.split(" ").includes(String(number(name))));
  if (expected["hostname"] !== undefined) same("hostname", expected["hostname"], one["hostname"]?.split(".")[0]);
  if (expected["privileged"] !== true) same("capabilities", capabilitiesOf(expected), bits(one["CapBnd"] ?? "0"));
  same("no_new_privs", textsOf(expected["security_opt"]).includes("no-new-privileges") ? "1" : "0", one["NoNewPrivs"]);
  same("read_only", expected["read_only"] === true, mounts["/"]?.includes("ro"));
  if (expected["oom_score_adj"] !== undefined) same("oom_score_adj", String(expected["oom_score_adj"]), one["oom"]);
  // Docker lets any user listen on any port of a network of its own, and ping.
  const mode = expected["network_mode"];
  const sysctls = fieldsOf(expected["sysctls"]);
  if (mode !== "host" && mode !== "none") {
    same("lowest port of any user", sysctls["net.ipv4.ip_unprivileged_port_start"] ?? "0", one["ports"]);
    same("groups that ping", sysctls["net.ipv4.ping_group_range"] ?? "0 2147483647", one["pings"]);
  }
  const { nofile } = fieldsOf(expected["ulimits"]);
  if (nofile !== undefined) same("ulimits nofile", nofile, one["files"]);
  const cgroup = (...names: string[]) => names.map((name) => one[name]).find((value) => value !== undefined);
  const memory = cgroup("memory/memory.limit_in_bytes", "memory.max");
  if (memory !== undefined && expected["mem_limit"] !== undefined)
    same("mem_limit", Math.floor(Number(expected["mem_limit"]) / 4096) * 4096, Number(memory));
  const pids = cgroup("pids/pids.max", "pids.max");
  if (pids !== undefined && expected["pids_limit"] !== undefined) same("pids_limit", expected["pids_limit"], Number(pids));
  for (const field of ["volumes", "secrets", "configs"])
    for (const mount of listOf(expected[field]).map(fieldsOf)) {
      const options = mounts[String(mount["target"])];
      same(
        `${field} ${String(mount["target"])}`,
        field !== "volumes" || mount["read_only"] === true ? "ro" : "rw",
        options?.find((word) => /^r[ow]$/.test(word)),
      );
    }
  return lines;
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
    const programs = ["base64", "tr", "printf", "hostname", "sed", "nslookup", "cut"].map((name) => ({
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
        differences.push(...seenFrom(key, expected, factsIn(printed)!, ids));
      }
      differences.push(...(await namesOf(services)), ...(await ports(model)));
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
  async function namesOf(services: readonly (readonly [string, Readonly<Record<string, unknown>>])[]): Promise<string[]> {
    const [first, ...others] = services.filter(([, service]) => service["network_mode"] === undefined);
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
    const rules = (await host.on("iptables-save", "-t", "nat")).split("\n").flatMap((line) => {
      const [, protocol, from, to] = / -p (tcp|udp) .*--dport (\d+) .*--to-destination [\d.]+:(\d+)/.exec(line) ?? [];
      return from === undefined ? [] : [{ protocol, from: Number(from), to }];
    });
    const isOut = (service: Readonly<Record<string, unknown>>) =>
      service["network_mode"] === undefined &&
      Object.keys(fieldsOf(service["networks"])).some((name) => networks[name]?.["internal"] !== true);
    const wanted = Object.entries(services).flatMap(([key, service]) =>
      isOut(service)
        ? listOf(service["ports"]).map(
            (one) => ({ key, ...fieldsOf(one) }) as { key: string; target: number; published?: string; protocol: string },
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
    return [...missing, ...rest.map((rule) => `ports: ${rule.from} leads to ${rule.to}, which no service says`)];
  }
});
