import { expect, test } from "vitest";
import { parseRoot } from "./root.ts";

test.each([
  ["the system's, v2", "0::/init.scope\n", ""],
  ["the system's in a container", "0::/machine.slice/a.scope/init.scope\n", "/machine.slice/a.scope"],
  ["a user's", "0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", "/user.slice/user-1000.slice/user@1000.service"],
  ["hybrid: the same in both hierarchies", "4:memory:/\n1:name=systemd:/init.scope\n0::/init.scope\n", ""],
  ["v1", "4:memory:/init.scope2\n1:name=systemd:/a/init.scope\n", "/a"],
  ["v2, and a hierarchy of that name that it does not use", "9:name=systemd:/\n0::/init.scope\n", ""],
  ["another place", "0::/system.slice/other.service\n", undefined],
  ["a name that only ends like it", "0::/my-init.scope\n", undefined],
  ["two that differ", "1:name=systemd:/a/init.scope\n0::/b/init.scope\n", undefined],
  ["a controller of v1 is none of its own", "4:memory:/init.scope\n", undefined],
  ["nothing", "", undefined],
])("%s", (_, text, root) => {
  expect(parseRoot(text)).toBe(root);
});
