import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ExecutorError } from "../errors.ts";
import { findUser, resolveInRoot } from "./user.ts";

const root = mkdtempSync(join(tmpdir(), "runt-in-root-"));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "etc"));
mkdirSync(join(root, "usr/etc"), { recursive: true });
writeFileSync(join(root, "usr/etc/passwd"), "root:x:0:0::/root:/bin/sh\nweb:x:33:34::/srv:/bin/sh\n1234:x:5:6::/:/bin/sh\n");
writeFileSync(join(root, "etc/group"), "www:x:34:\nextra:x:35:other,web\nbroken\n");
symlinkSync("../../../../../usr/etc/passwd", join(root, "etc/passwd"));
symlinkSync("/loop", join(root, "loop"));
symlinkSync("/usr/../../../usr/etc", join(root, "up"));

test("links and .. stay in the root", () => {
  expect(resolveInRoot(root, "/etc/passwd")).toBe(join(root, "usr/etc/passwd"));
  expect(resolveInRoot(root, "../../etc/group")).toBe(join(root, "etc/group"));
  expect(resolveInRoot(root, "/up/passwd")).toBe(join(root, "usr/etc/passwd"));
  expect(resolveInRoot(root, "/loop/x")).toBeUndefined();
  expect(resolveInRoot(root, "/etc/absent")).toBeUndefined();
});

test("users by name and number", () => {
  expect(findUser(root, "web")).toEqual({ uid: 33, gid: 34, additionalGids: [35], home: "/srv" });
  expect(findUser(root, "33")).toEqual({ uid: 33, gid: 34, additionalGids: [35], home: "/srv" });
  expect(findUser(root, "web:extra")).toEqual({ uid: 33, gid: 35, additionalGids: [], home: "/srv" });
  expect(findUser(root, "77:88")).toEqual({ uid: 77, gid: 88, additionalGids: [] });
  // A name of digits is a name first, as for chown(1).
  expect(findUser(root, "1234").uid).toBe(5);
  for (const user of ["nobody", "web:nogroup", "4294967295", "-1", ""]) expect(() => findUser(root, user)).toThrow(ExecutorError);
});
