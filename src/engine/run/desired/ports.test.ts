import { expect, test } from "vitest";
import { newRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { withPorts } from "./ports.ts";

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const specOf = (name: string, ...ports: object[]) =>
  taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x" }], network: { ports } });
const recordOf = (spec: ReturnType<typeof specOf>) => newRecord({ id: `g.${spec.name}.1`, group: "g", spec, cgroup: null, at });
const chosen = (specs: Parameters<typeof withPorts>[0], tasks: Parameters<typeof withPorts>[2] = []) =>
  withPorts(specs, "g", tasks).map(({ network }) => network!.ports.map(({ host }) => host));

test("a port of a range is the first that no task and no other mapping has", () => {
  const range = (container: number) => ({ container, hostRange: [8000, 8002] });
  expect(chosen([specOf("a", range(80), range(81)), specOf("b", { container: 1, host: 8001 })])).toEqual([[8000, 8002], [8001]]);
  const other = recordOf(specOf("other", { container: 80, host: 8000 }));
  expect(chosen([specOf("a", range(80))], [other])).toEqual([[8001]]);
  expect(chosen([specOf("a", { ...range(80), protocol: "udp" })], [other])).toEqual([[8000]]);
  expect(() => chosen([specOf("a", range(1), range(2), range(3), range(4))])).toThrow("task a does not fit: the ports 8000 to 8002");
});

test("a task keeps the port that was chosen for it, so that the same file changes nothing", () => {
  const written = specOf("a", { container: 80, hostRange: [49_152, 65_535] }, { container: 81, hostRange: [8000, 8010] });
  const [first] = withPorts([written], "g", []);
  const record = recordOf(first!);
  expect(withPorts([written], "g", [record])).toEqual([first]);
  const [, second] = withPorts([specOf("new", { container: 1, hostRange: [8000, 8010] }), written], "g", [record]);
  expect(second!.network!.ports[0]).toEqual(first!.network!.ports[0]);
});

test("all tasks of a service get one port, also those that come later, or whose own port is another one", () => {
  const of = (name: string, ...containers: number[]) =>
    specOf(name, ...containers.map((container) => ({ container, hostRange: [30_000, 32_767], service: { name: "web" } })));
  const specs = withPorts([of("a", 80, 81), of("b", 8080, 81)], "g", []);
  const [first, second] = specs.map(({ network }) => network!.ports.map(({ host }) => host));
  expect(second).toEqual(first);
  expect(new Set(first).size).toBe(2);
  expect(chosen([of("c", 9000, 81)], specs.map(recordOf))).toEqual([first]);
  const other = withPorts([of("c", 80)], "other", specs.map(recordOf))[0]!.network!.ports[0]!.host;
  expect(first).not.toContain(other);
});
