import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Resolver } from "./resolver.ts";

// connect(2) of a datagram socket refuses the first one, and the lookup the second one.
test.each(["255.255.255.255", "no such address"])(
  "a resolver at %s, to which no socket can be connected, does not answer, and nothing else happens",
  async (address) => {
    const directory = mkdtempSync(join(tmpdir(), "runt-resolver-"));
    try {
      const cgroup = { make: () => [], processes: () => [], remove: async () => {} };
      const resolver = new Resolver({
        directory: join(directory, "resolver"),
        program: join(directory, "none"),
        timeoutMs: 60_000,
        cgroup,
      });
      await resolver.answer(new Map([["default", "127.0.0.1\n"]]));
      expect(resolver.problem).toContain("is not installed");
      await resolver.ready(address);
      await resolver.look();
      expect(resolver.problem).not.toBe("");
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
