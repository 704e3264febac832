import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import * as assert from "../assert.ts";
import { waitFor } from "../container.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";

const sysctl =
  (values: Readonly<Record<string, string>>, without?: string): Change =>
  (config) => {
    Object.assign(config.linux, { sysctl: values });
    if (without !== undefined) config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== without);
    if (without === "network") config.mounts = config.mounts.filter(({ destination }) => destination !== "/sys");
    if (without === "ipc") config.mounts = config.mounts.filter(({ destination }) => destination !== "/dev/mqueue");
  };

/** A runtime that does not refuse changes a namespace of the test, not the host. */
const OWN_NAMES = ["unshare", "--uts"];

/** The file shows the value in the container, and not on the host. */
async function applied(c: Context, key: string, value: string, path = key.replaceAll(".", "/"), more: Change = () => {}): Promise<void> {
  const text = await c.output(`cat /proc/sys/${path}`, (config) => {
    sysctl({ [key]: value })(config);
    more(config);
  });
  assert.equal(text.trim().split(/\s+/).join(" "), value, key);
  assert.notEqual(readFileSync(`/proc/sys/${path}`, "utf8").trim().split(/\s+/).join(" "), value, `the host has it: ${key}`);
}

const IPC: Readonly<Record<string, string>> = {
  "kernel.msgmax": "8191",
  "kernel.msgmnb": "16383",
  "kernel.msgmni": "31999",
  "kernel.sem": "31000 1024000000 499 31999",
  "kernel.shmall": "18446744073692774398",
  "kernel.shmmax": "18446744073692774390",
  "kernel.shmmni": "4095",
  "kernel.shm_rmid_forced": "1",
  "fs.mqueue.msg_max": "11",
};

export const sysctls = group("SYS", "sysctl", ({ must, should }) => {
  must(1, "values are written before the program runs", async (c) => {
    await applied(c, "net.ipv4.ip_default_ttl", "77");
    // The others write through the container's own procfs.
    if (!c.isRunt) return;
    const keeper = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", "umount -l /proc && exec sleep 60"], {
      stdio: "ignore",
    });
    c.cleanup(() => void keeper.kill("SIGKILL"));
    await waitFor(() => readFileSync(`/proc/${keeper.pid}/cmdline`, "utf8").startsWith("sleep"), "a mount namespace without procfs");
    const container = await c.create((config) => {
      sysctl({ "net.ipv4.ip_default_ttl": "77" })(config);
      config.mounts = [];
      Object.assign(config.linux, { maskedPaths: [], readonlyPaths: [] });
      Object.assign(config.root, { path: c.rootfs(), readonly: false });
      for (const namespace of config.linux.namespaces) if (namespace.type === "mount") namespace.path = `/proc/${keeper.pid}/ns/mnt`;
    });
    const namespace = `--net=/proc/${await container.pid()}/ns/net`;
    assert.equal(execFileSync("nsenter", [namespace, "cat", "/proc/sys/net/ipv4/ip_default_ttl"], { encoding: "utf8" }), "77\n");
  });
  should(2, "values of an IPC namespace need one", async (c) => {
    for (const [key, value] of Object.entries(IPC)) await applied(c, key, value);
    for (const key of ["kernel.msgmax", "fs.mqueue.msg_max"])
      await c.refused(sysctl({ [key]: "11" }, "ipc"), `/linux/sysctl/${key}`, ["unshare", "--ipc"]);
  });
  should(3, "net.* needs a network namespace that is not the caller's", async (c) => {
    const own = ["unshare", "--net"];
    const key = "net.ipv4.ip_default_ttl";
    // crun writes the host's even so.
    const host = `/proc/sys/${key.replaceAll(".", "/")}`;
    const before = readFileSync(host, "utf8");
    c.cleanup(() => writeFileSync(host, before));
    await c.refused(sysctl({ [key]: "77" }, "network"), `/linux/sysctl/${key}`, own);
    const joined: Change = (config) => {
      sysctl({ [key]: "77" }, "network")(config);
      config.linux.namespaces.push({ type: "network", path: "/proc/self/ns/net" });
    };
    await c.refused(joined, `/linux/sysctl/${key}`, own);
  });
  should(4, "kernel.domainname needs a UTS namespace; kernel.hostname is refused, because the field hostname sets it", async (c) => {
    await applied(c, "kernel.domainname", "given.example");
    await c.refused(sysctl({ "kernel.hostname": "x" }), "/linux/sysctl/kernel.hostname", OWN_NAMES);
    await c.refused(
      (config) => {
        sysctl({ "kernel.domainname": "x" }, "uts")(config);
        delete config.hostname;
      },
      "/linux/sysctl/kernel.domainname",
      OWN_NAMES,
    );
  });
  should(5, "user.* needs a user namespace", async (c) => {
    await applied(c, "user.max_ipc_namespaces", "17", undefined, (config) => {
      config.linux.namespaces.push({ type: "user" });
      const ids = [{ containerID: 0, hostID: 10_000, size: 1000 }];
      Object.assign(config.linux, { uidMappings: ids, gidMappings: ids });
    });
    await c.refused(sysctl({ "user.max_ipc_namespaces": "17" }), "/linux/sysctl/user.max_ipc_namespaces");
  });
  should(6, "all other values belong to the host and are refused", async (c) => {
    for (const key of ["vm.swappiness", "kernel.panic", "fs.file-max"]) await c.refused(sysctl({ [key]: "1" }), `/linux/sysctl/${key}`);
  });
  should(7, "slashes separate like dots, and allow dots in names", async (c) => {
    await applied(c, "net/ipv4/ip_default_ttl", "78", "net/ipv4/ip_default_ttl");
    const dotted = "net/ipv4/conf/eth0.100/forwarding";
    const child = spawn("unshare", ["--net", "sh", "-c", "ip link add eth0.100 type veth peer name other && exec sleep 60"], {
      stdio: "ignore",
    });
    c.cleanup(() => void child.kill("SIGKILL"));
    await waitFor(() => readFileSync(`/proc/${child.pid}/comm`, "utf8").trim() === "sleep", "the device");
    const joined: Change = (config) => {
      sysctl({ [dotted]: "1" }, "network")(config);
      config.linux.namespaces.push({ type: "network", path: `/proc/${child.pid}/ns/net` });
    };
    assert.equal(await c.output(`cat /proc/sys/${dotted}`, joined), "1\n");
  });
});
