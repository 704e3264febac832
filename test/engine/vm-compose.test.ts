/** Services of a Compose file with a runtime that makes virtual machines: each has one, and they find each other by their names. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { machineMissing, programs, VM_TIMEOUT } from "../support/vm.ts";
import { useMachines } from "./machines.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { until, useEngine } from "./support.ts";

const missing = machineMissing() ?? noNetworks;

describe.skipIf(missing !== undefined)(`services in machines${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const { options, containerOf } = useMachines(scene);
  const ctl = (...args: string[]) => scene.ctl("-g", "shop", ...args);
  const said = async (name: string, command: string) => {
    const { stdout, stderr } = await ctl("exec", name, "-c", name, "--", "/bin/sh", "-c", command);
    return (stdout + stderr).trim();
  };
  const container = async (name: string) =>
    JSON.parse((await ctl("get", name, "-o", "json")).stdout)[0].containers.find((one: { readonly name: string }) => one.name === name);
  /** JSON is YAML. */
  const file = (services: object) => scene.file("compose.yaml", JSON.stringify({ name: "shop", services, volumes: { data: {} } }, null, 2));
  const service = (script: string, fields: object = {}) => ({
    ...{ "x-runt-rootfs": scene.rootfs(), runtime: "vm", stop_grace_period: "1s", command: ["/bin/sh", "-c", script] },
    ...fields,
  });

  test("one waits for the health of another, knows it by name, and is reached by a port of the host", async () => {
    await host.daemon(options());
    const boot = "cat /proc/sys/kernel/random/boot_id";
    const db = service(
      `echo start >> /data/starts; mkdir -p /tmp/db; ${boot} >/tmp/db/boot; busybox httpd -p 80 -h /tmp/db; exec sleep 100000`,
      {
        healthcheck: { test: ["CMD", "busybox", "wget", "-q", "-O", "/dev/null", "http://127.0.0.1/ready"], interval: "1s", timeout: "1m" },
        ...{ volumes: ["data:/data"], restart: "unless-stopped" },
      },
    );
    // What it serves is what it has got of the other one at its start.
    const web = service(
      "mkdir -p /tmp/web; busybox wget -q -O /tmp/web/boot http://db/boot; busybox httpd -p 80 -h /tmp/web; exec sleep 100000",
      {
        depends_on: { db: { condition: "service_healthy" } },
        ...{ ports: ["18087:80"], sysctls: { "net.core.somaxconn": 77 } },
      },
    );
    const compose = file({ db, web });
    expect(await ctl("apply", "-f", compose)).toMatchObject({ status: 0, stderr: "" });
    await until(async () => (await said("db", "cat /tmp/db/boot")).length === 36, VM_TIMEOUT);
    await until(async () => /\d failures in a row/.test((await ctl("describe", "db")).stdout), VM_TIMEOUT);
    expect((await container("web")).known).not.toBe("RUNNING");
    await said("db", "touch /tmp/db/ready");
    expect(await ctl("apply", "-f", compose, "--wait", "--timeout", "5m")).toMatchObject({ status: 0 });

    const booted = await said("db", boot);
    expect(await said("web", boot)).not.toBe(booted);
    expect(await said("web", "cat /proc/sys/net/core/somaxconn")).toBe("77");
    const fetched = "fetch('http://127.0.0.1:18087/boot').then((a) => a.text()).then((text) => console.log(text.trim()))";
    const published = () => host.on(process.execPath, "-e", fetched).catch((error) => String(error));
    await until(async () => (await published()) === `${booted}\n`, VM_TIMEOUT);
    // It began before the other one had an address.
    await until(async () => (await said("db", "busybox wget -q -O - http://web/boot")) === booted, VM_TIMEOUT);

    // Another machine takes the place of one that has broken, with the same address and the same volume.
    process.kill(programs(containerOf("db-")).get("qemu-system-x86")!, "SIGKILL");
    await until(async () => (await container("db")).restarts === 1, VM_TIMEOUT);
    await until(async () => (await said("web", "busybox wget -q -O - http://db/boot")).length === 36, VM_TIMEOUT);
    expect(await said("web", "busybox wget -q -O - http://db/boot")).not.toBe(booted);
    expect(await said("db", "cat /data/starts")).toBe("start\nstart");

    expect(await ctl("delete", "-f", compose, "--volumes")).toMatchObject({ status: 0, stderr: "" });
    expect(scene.list()).toEqual([]);
    await until(async () => (await host.left()).length === 0);
  });

  test("what a machine cannot have is refused by name, with line and column, before anything is done", async () => {
    await host.daemon(options());
    const directory = join(scene.directory, "site");
    mkdirSync(directory, { recursive: true });
    const compose = file({ web: service("exec sleep 1000", { privileged: true, network_mode: "host" }) });
    const { status, stderr } = await ctl("apply", "-f", compose);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/compose\.yaml:\d+:\d+: .*a task in a virtual machine cannot have a privileged container/);
    expect(stderr).toMatch(/compose\.yaml:\d+:\d+: .*a task in a virtual machine cannot have the network namespace of the host/);
    expect((await ctl("get", "-o", "name")).stdout).toBe("");
  });
});
