/** Device rules: a program on v2, a list on v1. */
import { describe, expect, test } from "vitest";
import { shell, useHarness } from "../../support/harness.ts";

describe("device rules", () => {
  const { bundle, id, ok } = useHarness();

  const DENY_ALL = { allow: false, access: "rwm" };
  const KMSG = { type: "c", major: 1, minor: 11 };

  /** What a container with these rules prints. Its init may make device nodes in /tmp, and read the kernel log where that takes a right. */
  const withRules = (rules: readonly object[], script: string) =>
    bundle((config) => {
      shell(config, script);
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["dev"] });
      config.linux.resources = { devices: [DENY_ALL, ...rules] };
      for (const set of ["bounding", "effective", "permitted"]) config.process.capabilities[set]?.push("CAP_MKNOD", "CAP_SYSLOG");
    });

  const ATTEMPTS =
    "mknod /tmp/k c 1 11 2>/dev/null && echo made; dd if=/tmp/k of=/dev/null bs=8k count=1 2>/dev/null && echo read; " +
    "echo x 2>/dev/null >/tmp/k && echo written; true";

  test("without a rule the node can be made, as the defaults allow, and not be opened", async () => {
    expect(await ok(["run", "-b", withRules([], ATTEMPTS), id()])).toBe("made\n");
  });

  test("each access is a right of its own", async () => {
    expect(await ok(["run", "-b", withRules([{ allow: true, ...KMSG, access: "r" }], ATTEMPTS), id()])).toBe("made\nread\n");
    expect(await ok(["run", "-b", withRules([{ allow: true, ...KMSG, access: "w" }], ATTEMPTS), id()])).toBe("made\nwritten\n");
  });

  test("the last rule that matches counts", async () => {
    const rules = [
      { allow: true, ...KMSG, access: "rw" },
      { allow: false, ...KMSG, access: "w" },
    ];
    expect(await ok(["run", "-b", withRules(rules, ATTEMPTS), id()])).toBe("made\nread\n");
  });

  test("they hold for a process of exec too", async () => {
    const name = id();
    await ok(["run", "-d", "-b", withRules([], "sleep 1000"), name]);
    expect(await ok(["exec", "--cap", "CAP_MKNOD", "--cap", "CAP_SYSLOG", name, "sh", "-c", ATTEMPTS])).toBe("made\n");
  });
});
