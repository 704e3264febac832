import type { Value } from "../../../src/runtime/cgroup/systemd/wire/types.ts";

/** One body with every type. */
export const SAMPLE_SIGNATURE = "ybnqiuxtdsogvayasa(ss)a{sv}(y(n(x)))a(sa(sv))";
export const SAMPLE: readonly Value[] = [
  255,
  true,
  -32_768,
  65_535,
  -2_147_483_648,
  4_294_967_295,
  -(1n << 63n),
  (1n << 64n) - 1n,
  -0.125,
  "ä €😀",
  "/org/freedesktop/systemd1/unit/a_2escope",
  "a(sv)",
  { signature: "a{s(tt)}", value: [["key", [1n, 2n]]] },
  Uint8Array.of(0, 1, 255),
  [],
  [
    ["/dev/char/1:3", "rwm"],
    ["char-pts", "rw"],
  ],
  [
    ["MemoryMax", { signature: "t", value: 5n }],
    ["AllowedCPUs", { signature: "ay", value: Uint8Array.of(3) }],
  ],
  [1, [-2, [3n]]],
  [["aux.service", [["Delegate", { signature: "b", value: true }]]]],
];
