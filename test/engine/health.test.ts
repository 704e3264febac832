/** Health checks by HTTP and TCP: asked from inside the container's network, whichever it is. */
import { describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

interface Seen {
  readonly name: string;
  readonly known: string;
  readonly restarts: number;
  readonly generation: number;
}

const QUICK = { interval: "100ms", timeout: "2s", retries: 2 };
/** A server on loopback only. */
const SERVER = "trap 'exit 0' TERM; httpd -f -p 127.0.0.1:8000 -h /bin & wait $!";

describe.skipIf(!isRoot)("health checks by the network (needs root)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const apply = async (containers: readonly ContainerText[], fields: object = {}) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", containers, { ...fields }) });
    expect(answer.text).toContain("created");
  };
  const task = async (): Promise<{ known: string; containers: Seen[] }> =>
    JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const container = async (name: string) => (await task()).containers.find((one) => one.name === name)!;
  const health = async (name: string): Promise<{ status: string; output: string } | null> => {
    const { containers } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t/detail")).text);
    return containers.find((one: { name: string }) => one.name === name).health;
  };
  const is = (name: string, status: string) => until(async () => (await health(name))?.status === status);
  const check = (way: object, further: object = {}) => ({ healthCheck: { ...way, ...QUICK, ...further } });

  test.each([
    ["private", { namespaces: { network: "private" } }],
    ["shared", { namespaces: { network: "shared" } }],
    ["of the host", { namespaces: { network: "host" } }],
    ["without interfaces", { network: { mode: "none" } }],
  ])(
    "E28: checks over HTTP and TCP reach only a server on the loopback of the task's own network (%s)",
    async (_, fields) => {
      await host.daemon();
      await apply(
        [
          { name: "web", script: SERVER, fields: check({ http: { port: 8000, path: "/busybox" } }) },
          { name: "door", script: SERVER.replace("8000", "8001"), fields: check({ tcp: { port: 8001 } }) },
          { name: "lost", script: SERVER.replace("8000", "8002"), fields: check({ http: { port: 8002, path: "/nothing" } }) },
          { name: "closed", script: SLEEP, fields: check({ tcp: { port: 8003 } }) },
        ],
        fields,
      );
      await Promise.all([is("web", "HEALTHY"), is("door", "HEALTHY"), is("lost", "UNHEALTHY"), is("closed", "UNHEALTHY")]);
      expect((await health("web"))!.output).toMatch(/^HTTP\/1\.[01] 200 OK$/);
      expect((await health("lost"))!.output).toMatch(/^HTTP\/1\.[01] 404 Not Found/);
      expect((await health("closed"))!.output).toBe("connect to 127.0.0.1: Connection refused");
      // Health is no status: all of them run on.
      expect((await task()).containers.filter(({ known }) => known !== "RUNNING" && known !== "RESOURCES_PROVISIONED")).toEqual([]);
    },
    LONGEST_MS,
  );

  test.skipIf(noNetworks !== undefined)(
    "E28 E91: behind a bridge: HEALTHY lets the next container go on; failures in the start period do not count",
    async () => {
      await host.daemon();
      const late = `sleep 1; ${SERVER}`;
      await apply(
        [
          { name: "web", script: late, fields: check({ http: { port: 8000, path: "/busybox" } }, { startPeriod: "1m", retries: 1 }) },
          { name: "next", fields: { dependsOn: [{ container: "web", condition: "HEALTHY" }] } },
        ],
        { network: {} },
      );
      await until(async () => (await container("web")).known === "RUNNING");
      expect([(await health("web"))!.status, (await container("next")).known]).toEqual(["UNKNOWN", "NONE"]);
      await until(async () => (await container("next")).known === "RUNNING");
      expect((await health("web"))!.status).toBe("HEALTHY");
    },
    LONGEST_MS,
  );

  test(
    "E94: an unhealthy container is restarted as often as its policy says; a server that does not answer becomes unhealthy in time",
    async () => {
      await host.daemon();
      // The kernel takes connections for a server that is stopped.
      const silent = "trap 'kill -KILL $p; exit 0' TERM; httpd -f -p 127.0.0.1:8000 & p=$!; sleep 0.3; kill -STOP $p; sleep 1000 & wait $!";
      const restart = { unhealthy: true, maximumCount: 2, backoff: { initial: "50ms" } };
      await apply([
        { name: "again", script: SLEEP, fields: { ...check({ tcp: { port: 8000 } }), restart } },
        { name: "silent", script: silent, fields: check({ http: { port: 8000 } }, { timeout: "300ms" }) },
      ]);
      await until(async () => (await container("again")).restarts === 2);
      await is("again", "UNHEALTHY");
      await is("silent", "UNHEALTHY");
      await until(async () => (await health("silent"))!.output === "no answer within 300 ms");
      const seen = await container("again");
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await container("again")).toEqual(seen);
      expect([seen.generation, seen.known]).toEqual([3, "RUNNING"]);
    },
    LONGEST_MS,
  );
});
