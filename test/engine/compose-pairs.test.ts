/**
 * Two projects beside each other, of Compose files that say the same names: neither takes or ends what the other has. RUNT_COMPOSE_PAIRS: so many pairs of ten files, at most 45;
 * absent: one.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const WAIT = "trap 'exit 0' TERM; sleep 1000 & wait $$!";

/** What each file has beside its two services: the same names in all of them. */
interface Kind {
  readonly web?: object;
  readonly db?: object;
  readonly top?: object;
  /** How many tasks it has, beside `web` and `db`. */
  readonly more?: number;
}

const KINDS: readonly Kind[] = [
  {},
  { web: { ports: ["80"] }, db: { ports: ["8000"] } },
  { web: { ports: ["18000-18020:80"] } },
  { web: { container_name: "web", hostname: "web" }, db: { container_name: "db" } },
  { web: { networks: ["front"] }, db: { networks: ["front"] }, top: { networks: { front: {} } } },
  { db: { networks: ["back"] }, web: { networks: ["back", "default"] }, top: { networks: { back: { internal: true } } } },
  { web: { links: ["db:database"] }, db: { scale: 2 }, more: 1 },
  { web: { init: true, tmpfs: ["/cache"] }, db: { restart: "always" } },
  { web: { secrets: ["token"], configs: ["conf"] }, top: { secrets: { token: { file: "./token" } }, configs: { conf: { content: "c" } } } },
  { web: { volumes: ["data:/data", "other:/other", "/scratch"] }, top: { volumes: { data: {}, other: {} } } },
];

const ALL = KINDS.flatMap((_, first) => KINDS.slice(first + 1).map((_, at) => [first, first + 1 + at] as const));
/** The first of them has published ports and a network of its own. */
const PAIRS = [[1, 4] as const, ...ALL.filter(([a, b]) => a !== 1 || b !== 4)].slice(0, Number(process.env["RUNT_COMPOSE_PAIRS"] ?? 1));

test("there are 45 pairs", () => expect(ALL).toHaveLength(45));

describe.skipIf(!isRoot || noNetworks !== undefined)("pairs of Compose projects (need root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);

  /** A directory with the file of a kind; the project has the name of the directory. */
  function project(name: string, { web = {}, db = {}, top = {} }: Kind): string {
    const common = { "x-runt-rootfs": scene.rootfs(), stop_grace_period: "5s", volumes: ["data:/data"] };
    const command = (script: string) => ["/bin/sh", "-c", script];
    // Whoever comes first makes the file; nobody makes it again.
    const serve = `mkdir -p /data/site; [ -e /data/site/who ] || echo ${name} > /data/site/who; httpd -p 8000 -h /data/site; ${WAIT}`;
    const services = {
      db: { ...common, command: command(serve), ...db },
      web: { ...common, depends_on: ["db"], command: command(`httpd -p 80 -h /data/site; ${WAIT}`), ...web },
    };
    const directory = join(scene.directory, name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "token"), name);
    writeFileSync(join(directory, "compose.yaml"), JSON.stringify({ services, volumes: { data: {} }, ...top }));
    return join(directory, "compose.yaml");
  }

  interface Task {
    readonly id: string;
    readonly group: string;
    readonly known: string;
    readonly addresses: readonly string[];
    readonly ports: readonly string[];
    readonly containers: readonly { readonly id: string; readonly restarts: number; readonly startedMs: number }[];
  }

  /** What there is of a project, when all of it runs: another one has other processes, addresses or ports. */
  async function seen(group: string, count: number): Promise<readonly Pick<Task, "id" | "addresses" | "ports" | "containers">[]> {
    let text = "";
    const list = async () => {
      text = (await http(scene.socket, "GET", "/v1/tasks")).text;
      return (JSON.parse(text).tasks as Task[]).filter((one) => one.group === group);
    };
    await until(
      async () => {
        const all = await list();
        return all.length === count && all.every(({ known, addresses }) => known === "RUNNING" && addresses.length > 0);
      },
      undefined,
      () => text,
    );
    return (await list()).map(({ id, addresses, ports, containers }) => ({
      ...{ id, addresses, ports },
      containers: containers.map(({ id: container, restarts, startedMs }) => ({ id: container, restarts, startedMs })),
    }));
  }

  /** The one `db` that a service of the project finds, and what is in its volume. */
  async function answers(group: string): Promise<void> {
    const ask = async (program: string) => (await scene.ctl("-g", group, "exec", "web", "--", "/bin/sh", "-c", program)).stdout;
    await until(
      async () => (await ask("wget -qO- http://db:8000/who")) === `${group}\n`,
      undefined,
      () => group,
    );
    expect(await ask("cat /data/site/who")).toBe(`${group}\n`);
  }

  test.each(PAIRS)(
    "files %i and %i",
    async (one, other) => {
      await host.daemon();
      const [first, second] = [project("one", KINDS[one]!), project("other", KINDS[other]!)];
      const count = (at: number) => 2 + (KINDS[at]!.more ?? 0);
      expect(await scene.ctl("apply", "-f", first)).toMatchObject({ status: 0, stderr: "" });
      const before = await seen("one", count(one));
      expect(await scene.ctl("apply", "-f", second)).toMatchObject({ status: 0, stderr: "" });
      const beside = await seen("other", count(other));
      for (const group of ["one", "other"]) await answers(group);
      // Nothing of the first was replaced, and no port is there twice.
      expect(await seen("one", count(one))).toEqual(before);
      const published = [...before, ...beside].flatMap(({ ports }) => ports.map((one) => one.replace(/->.*/, "")));
      expect(new Set(published).size).toBe(published.length);
      expect(readdirSync(join(scene.stateDir, "kept")).sort()).toEqual(["one", "other"]);
      expect(await scene.ctl("delete", "-f", first, "--volumes")).toMatchObject({ status: 0, stderr: "" });
      expect(await seen("other", count(other))).toEqual(beside);
      await answers("other");
      expect(readFileSync(join(scene.stateDir, "kept/other/data/site/who"), "utf8")).toBe("other\n");
      expect(await scene.ctl("delete", "-f", second, "--volumes")).toMatchObject({ status: 0, stderr: "" });
      await until(async () => (await host.left()).length === 0);
    },
    LONGEST_MS,
  );

  test(
    "a port of the host that the other project has is told of, and is not taken from it",
    async () => {
      await host.daemon();
      const kind = { web: { ports: ["18000:80"] } };
      const [first, second] = [project("one", kind), project("other", kind)];
      expect(await scene.ctl("apply", "-f", first)).toMatchObject({ status: 0, stderr: "" });
      const before = await seen("one", 2);
      const answer = await scene.ctl("apply", "-f", second);
      let told = "";
      await until(
        async () => {
          told = `${answer.stderr}${(await scene.ctl("-g", "other", "describe", "web")).stdout}`;
          return told.includes("18000/tcp is taken by one.web");
        },
        undefined,
        () => told,
      );
      expect(await seen("one", 2)).toEqual(before);
      await answers("one");
      expect((await scene.ctl("delete", "-p", "other", "--volumes")).status).toBe(0);
      expect(await seen("one", 2)).toEqual(before);
      expect((await scene.ctl("delete", "-f", first, "--volumes")).status).toBe(0);
    },
    LONGEST_MS,
  );
});
