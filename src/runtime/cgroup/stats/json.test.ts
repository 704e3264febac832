import { expect, test } from "vitest";
import { statsJson } from "./json.ts";
import { statsV1 } from "./v1.ts";
import { statsV2 } from "./v2.ts";

const ZERO_CPUSET =
  '"cpuset":{"cpu_exclusive":0,"mem_hardwall":0,"mem_exclusive":0,"memory_migrate":0,"memory_spread_page":0,"memory_spread_slab":0,' +
  '"memory_pressure":0,"sched_load_balance":0,"sched_relax_domain_level":0}';
const ENTRY = '{"limit":0,"failcnt":0}';

test("nothing is the same text as of runc", () => {
  expect(statsJson(statsV1(() => undefined, []))).toBe(
    `{"cpu":{"usage":{"kernel":0,"user":0},"throttling":{}},${ZERO_CPUSET},"memory":{"usage":${ENTRY},"swap":${ENTRY},"kernel":${ENTRY},` +
      `"kernelTCP":${ENTRY}},"pids":{},"blkio":{},"hugetlb":{},"intel_rdt":{},"network_interfaces":null}`,
  );
});

test("numbers are exact, names are runc's, maps are sorted", () => {
  const files: Readonly<Record<string, string>> = {
    "memory.stat": "b 18446744073709551615\na 0\n",
    "memory.max": "max\n",
    "memory.pressure": "some avg10=0.50 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    "io.stat": "8:0 rbytes=1 wbytes=0\n",
    "hugetlb.2MB.current": "0\n",
    "hugetlb.1GB.current": "7\n",
  };
  const text = statsJson(statsV2((name) => files[name], ["2MB", "1GB"]));
  expect(text).toContain('"raw":{"a":0,"b":18446744073709551615}');
  expect(text).toContain('"memory":{"usage":{"limit":18446744073709551615,"failcnt":0}');
  expect(text).toContain('"psi":{"some":{"avg10":0.5,"avg60":0,"avg300":0,"total":9},"full":{"avg10":0,"avg60":0,"avg300":0,"total":0}}');
  expect(text).toContain('"ioServiceBytesRecursive":[{"major":8,"op":"Read","value":1},{"major":8,"op":"Write"}]');
  expect(text).toContain('"hugetlb":{"1GB":{"usage":7,"failcnt":0},"2MB":{"failcnt":0}}');
  expect(() => JSON.parse(text)).not.toThrow();
});
