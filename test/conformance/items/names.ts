import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import { group } from "../group.ts";

const domainname = () => readFileSync("/proc/sys/kernel/domainname", "utf8").trim();

const withoutNamespace = (config: Config): void => {
  config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "uts");
};

/** Names as a process sees them, read by a program of the host in its namespace. */
const namesOf = (pid: number) =>
  execFileSync("nsenter", ["-t", String(pid), "-u", "sh", "-c", "uname -n; cat /proc/sys/kernel/domainname"], { encoding: "utf8" });

export const names = group("UTS", "hostname and domainname", ({ must, should, may }) => {
  must(1, "the container has the hostname", async (c) => {
    const before = hostname();
    for (const name of ["a-name", "x".repeat(64)]) {
      const container = await c.create((config) => {
        config.hostname = name;
      });
      assert.equal(namesOf(await container.pid()).split("\n")[0], name);
      await container.start();
      assert.equal((await container.exec("uname -n")).trim(), name);
    }
    assert.equal(hostname(), before);
  });
  must(2, "the container has the domainname, in its own UTS namespace", async (c) => {
    const before = domainname();
    const container = await c.start((config) => {
      config["domainname"] = "a.domain.example";
    });
    assert.equal(namesOf(await container.pid()).split("\n")[1], "a.domain.example");
    assert.equal((await container.exec("cat /proc/sys/kernel/domainname")).trim(), "a.domain.example");
    await c.refused((config) => {
      withoutNamespace(config);
      Reflect.deleteProperty(config, "hostname");
      config["domainname"] = "a.domain.example";
    }, "/domainname");
    assert.equal(domainname(), before);
  });
  may(3, "a container without its own UTS namespace gets no hostname: it would change that of the host", async (c) => {
    const before = hostname();
    await c.refused(withoutNamespace, "/hostname");
    assert.equal(hostname(), before);
    const container = await c.start((config) => {
      withoutNamespace(config);
      Reflect.deleteProperty(config, "hostname");
    });
    assert.equal(namesOf(await container.pid()).split("\n")[0], before);
  });
  should(4, "in a joined UTS namespace, the hostname is set for all its processes", async (c) => {
    const first = await c.start((config) => {
      config.hostname = "first";
    });
    const pid = await first.pid();
    const second = await c.start((config) => {
      config.hostname = "second";
      withoutNamespace(config);
      config.linux.namespaces.push({ type: "uts", path: `/proc/${pid}/ns/uts` });
    });
    assert.equal(await second.namespace("uts"), await first.namespace("uts"));
    assert.equal(namesOf(pid).split("\n")[0], "second");
  });
});
