import { expect, test } from "vitest";
import { parseTasks, renderFinding } from "../index.ts";

test("a port of the host may be published on several of its addresses, and once on each", () => {
  const told = (...ports: readonly object[]) => {
    const text = JSON.stringify({ name: "t", network: { mode: "bridge", ports }, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
    return parseTasks(text).findings.map((one) => renderFinding(one, "f").replace(/^f:\d+:\d+: /, ""));
  };
  const at = (address?: string, more: object = {}) => ({
    container: 80,
    host: 8080,
    ...(address === undefined ? {} : { address }),
    ...more,
  });
  expect(told(at("127.0.0.1"), at("192.0.2.1"), at(undefined, { protocol: "udp" }))).toEqual([]);
  for (const twice of [
    [at("127.0.0.1"), at("127.0.0.1")],
    [at("127.0.0.1"), at()],
    [at("0.0.0.0"), at("127.0.0.1")],
    [at(), at()],
  ])
    expect(told(...twice)).toEqual(["/network/ports/1: 8080/tcp is there twice"]);
});
