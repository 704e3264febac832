import { expect, test } from "vitest";
import { one, only } from "../../test/support/engine/pod-file.ts";
import { addedCapabilities, capabilityName } from "./capability.ts";

test.each([
  ["all", "ALL"],
  ["net_bind_service", "CAP_NET_BIND_SERVICE"],
  ["Cap_Net_Raw", "CAP_NET_RAW"],
])("%s is %s", (written, name) => expect(capabilityName(written)).toBe(name));

test("ALL among those that are added is each of them, once", () => {
  const all = addedCapabilities(["net_raw", "ALL"]);
  expect(all).toContain("CAP_SYS_ADMIN");
  expect(new Set(all).size).toBe(all.length);
});

test("a pod names them in any case", () => {
  const { containers } = only(one("    securityContext: { capabilities: { drop: [all], add: [net_bind_service] } }\n"));
  expect(containers[0]!.capabilities).toEqual({ drop: ["ALL"], add: ["CAP_NET_BIND_SERVICE"] });
});
