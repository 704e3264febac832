/** Services and claims of Kubernetes documents: by what programs in the pods see, and what is there after them. */
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { FILTERS, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const WAIT = "trap 'exit 0' TERM; sleep 1000 & wait $!";

describe.skipIf(!isRoot || noNetworks !== undefined).each(FILTERS)("services and claims, by %s (needs root and CNI plugins)", (filter) => {
  const scene = useEngine();
  const host = useNetworkHost(scene, filter);
  const template = (app: string, script: string, fields: object = {}, spec: object = {}) => ({
    metadata: { labels: { app }, annotations: { "runt.dev/rootfs.main": scene.rootfs() } },
    spec: { containers: [{ name: "main", command: ["/bin/sh", "-c", script], ...fields }], ...spec },
  });
  const workload = (kind: string, name: string, pod: ReturnType<typeof template>, spec: object) => ({
    apiVersion: "apps/v1",
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: pod.metadata.labels }, template: pod, ...spec },
  });
  const service = (name: string, spec: object) => ({ apiVersion: "v1", kind: "Service", metadata: { name }, spec });
  const apply = async (documents: readonly object[]) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: documents.map((one) => JSON.stringify(one)).join("\n---\n") });
    expect(answer.text).toContain("created");
  };
  const printed = async (task: string): Promise<string> =>
    allPrinted((await taskOf(scene, task)).containers.find((one: { name: string }) => one.name === "main").log);
  const untilPrinted = async (task: string, end: RegExp) => {
    let text = "";
    const isPrinted = async () => {
      text = await printed(task);
      return end.test(text);
    };
    await until(isPrinted, undefined, () => `${end} ${JSON.stringify(text)}`);
  };
  const remove = async (...names: readonly string[]) => {
    for (const name of names) await http(scene.socket, "DELETE", `/v1/tasks/${name}?group=default`);
    for (const name of names) await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}?group=default`)).status === 404);
  };

  test(
    "P3 the port of a service leads to the port of its pods, for other pods and for themselves; a port of the host leads to them, too",
    async () => {
      await host.daemon();
      const serve = "d=/dev/shm/w && mkdir -p $d && echo served > $d/name && httpd -p 8080 -h $d && echo up";
      const self = "until wget -q -O - http://api/name; do sleep 0.1; done";
      const web = template("web", `${serve}; ${self}; ${WAIT}`, { ports: [{ name: "http", containerPort: 8080 }] });
      const ask = "until wget -q -O - http://api.default.svc.cluster.local/name; do sleep 0.1; done";
      await apply([
        service("api", { type: "NodePort", selector: { app: "web" }, ports: [{ port: 80, targetPort: "http", nodePort: 30_480 }] }),
        workload("Deployment", "web", web, { replicas: 1 }),
        workload("DaemonSet", "client", template("client", `${ask} && echo done; ${WAIT}`), {}),
      ]);
      await untilPrinted("client-0", /done/);
      expect(await printed("client-0")).toContain("served");
      await until(async () => /served/.test(await printed("web-0")));
      await until(async () => (await host.on("curl", "--silent", "http://127.0.0.1:30480/name").catch(() => "")) === "served\n");
      await remove("web-0", "client-0");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "P3 the successor of a pod of a stateful set finds the data of its claim, and its neighbour has another claim",
    async () => {
      const script = `echo $HOSTNAME >> /data/log; cat /data/log; echo end; ${WAIT}`;
      const set = workload("StatefulSet", "db", template("db", script, { volumeMounts: [{ name: "data", mountPath: "/data" }] }), {
        replicas: 2,
        serviceName: "db",
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      });
      await host.daemon();
      for (const lines of [1, 2]) {
        await apply([set]);
        for (const name of ["db-0", "db-1"]) {
          await until(async () => /end/.test(await printed(name).catch(() => "")));
          expect(await printed(name)).toBe(`${`${name}\n`.repeat(lines)}end\n`);
        }
        await remove("db-0", "db-1");
      }
      const names = ["data-db-0", "data-db-1"];
      for (const name of names) expect((await http(scene.socket, "GET", "/v1/volumes")).text).toContain(name);
      const removed = await http(scene.socket, "POST", "/v1/volumes/delete", { group: "default", names });
      expect(removed.status).toBe(200);
    },
    LONGEST_MS,
  );

  test(
    "P3 connections to a service are distributed over its pods that are ready; the pods of a headless service have their own names",
    async () => {
      await host.daemon();
      const serve = `d=/dev/shm/w && mkdir -p $d && echo $HOSTNAME > $d/name && httpd -p 8080 -h $d`;
      const ready = { exec: { command: ["/bin/sh", "-c", "test -e /data/ready"] }, periodSeconds: 1 };
      const set = workload(
        "StatefulSet",
        "web",
        template("web", `touch /data/ready; ${serve}; ${WAIT}`, {
          readinessProbe: ready,
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        }),
        {
          replicas: 2,
          serviceName: "peers",
          volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
        },
      );
      const get = (url: string) => `wget -q -O - http://${url}/name 2>&1`;
      const both = `until echo "$(for i in 1 2 3 4; do ${get("api")}; done)" | sort -u | grep -c web | grep -qx 2; do sleep 0.2; done; echo both`;
      // Before the first pod is unready, all six may lead to the second one by chance.
      const one = `until test -e /dev/shm/unready; do sleep 0.1; done; until test "$(for i in 1 2 3 4 5 6; do ${get("api")}; done | sort -u)" = web-1; do sleep 0.2; done; echo only web-1`;
      const none = `until ${get("api")} | grep -q refused; do sleep 0.2; done; echo refused`;
      const own = `for i in 0 1; do until ${get("web-$i.peers.default.svc.cluster.local:8080")}; do sleep 0.2; done; done`;
      const closed = `${get("10.96.7.7:81")} | grep -o refused`;
      await apply([
        service("api", { clusterIP: "10.96.7.7", selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] }),
        service("peers", { clusterIP: "None", selector: { app: "web" }, publishNotReadyAddresses: true }),
        set,
        workload("DaemonSet", "client", template("client", `${both}; ${own}; ${closed}; ${one}; ${none}; ${WAIT}`), {}),
      ]);
      await untilPrinted("client-0", /refused\n$/);
      expect(await printed("client-0")).toBe("both\nweb-0\nweb-1\nrefused\n");
      // Not ready is what has not ended.
      const unready = (task: string) => scene.ctl("exec", task, "-c", "main", "--", "rm", "/data/ready");
      expect((await unready("web-0")).status).toBe(0);
      expect((await scene.ctl("exec", "client-0", "touch", "/dev/shm/unready")).status).toBe(0);
      await untilPrinted("client-0", /only web-1\n$/);
      expect((await unready("web-1")).status).toBe(0);
      await untilPrinted("client-0", /web-1\nrefused\n$/);
      await remove("web-0", "web-1", "client-0");
      await http(scene.socket, "POST", "/v1/volumes/delete", { group: "default", names: ["data-web-0", "data-web-1"] });
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test("P16 on request, apply, plan and validate ignore fields for a cluster, and report each with its line", async () => {
    await host.daemon();
    const text = `${JSON.stringify({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "r" } })}\n---\n${JSON.stringify(
      workload("DaemonSet", "web", template("web", WAIT, {}, { nodeSelector: { a: "b" } }), {}),
    )}\n`;
    const file = scene.file("pods.yaml", text);
    expect(await scene.ctl("validate", "-f", file)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("--ignore-cluster-fields"),
    });
    const { status, stdout, stderr } = await scene.ctl("validate", "-f", file, "--ignore-cluster-fields");
    expect([status, stdout]).toEqual([0, `${file}: web-0: no errors\n`]);
    expect(stderr).toMatch(/pods.yaml:1:\d+: \/kind: warning: the document of kind Role is left out/);
    expect(stderr).toMatch(/pods.yaml:3:\d+: \/spec\/template\/spec\/nodeSelector: warning: is left out: /);
    expect((await scene.ctl("plan", "-f", file, "--ignore-cluster-fields")).stdout).toContain("+ task web-0");
    const applied = await scene.ctl("apply", "-f", file, "--ignore-cluster-fields");
    expect(applied).toMatchObject({
      status: 0,
      stdout: "task web-0 created\n",
      stderr: expect.stringContaining("warning: line 3: /spec/template/spec/nodeSelector"),
    });
    const alone = scene.file("service.yaml", JSON.stringify(service("api", { clusterIP: "None", selector: { app: "web" } })));
    expect(await scene.ctl("apply", "-f", alone, "--prune")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("every task of the group would be removed"),
    });
    expect((await scene.ctl("get", "-o", "name")).stdout).toBe("web-0\n");
    // Only the names of the file matter to it.
    expect((await scene.ctl("delete", "-f", file)).status).toBe(0);
  });
});
