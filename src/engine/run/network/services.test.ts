import { expect, test } from "vitest";
import { newRecord, type TaskRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { serviceNames as namesIn, namesOf, reachedBy as reachedIn, type Service, servicesOf } from "./services.ts";

const AT = { bootId: "b", bootMs: 1, wallMs: 1 };

/** A task whose only container has a check of the given status, or none. */
function task(name: string, services: readonly object[], { health = "", address = "10.64.0.2", network = "back" } = {}): TaskRecord {
  const check = health === "" ? {} : { healthCheck: { command: ["true"] } };
  const spec = taskSchema.parse({
    ...{ name, network: { name: network, ...(services.length === 0 ? {} : { services }) } },
    containers: [{ name: "c", rootfs: "/r", command: "x", ...check }],
  });
  const record = newRecord({ id: `g.${name}.1`, group: "g", spec, cgroup: null, at: AT });
  const containers = record.containers.map((one) => ({
    ...one,
    known: "RUNNING" as const,
    health: health === "" ? null : { ...one.health!, status: health as "HEALTHY" },
  }));
  return { ...record, containers, known: "RUNNING", network: { addresses: [`${address}/20`] } } as TaskRecord;
}

const API = { names: ["api", "api.default.svc"], ports: [{ port: 80, to: 8080 }] };
const web = (index: number, said: object = {}, rest: object = {}) =>
  task(`web-${index}`, [{ ...API, ...said }], { address: `10.64.0.${index}`, ...rest });
const CLIENT = task("client", [], { address: "10.64.0.99" });

const inNetworkOf = ({ group, spec: { network } }: TaskRecord, services: readonly Service[]) =>
  services.filter((one) => one.network === `${network!.shared ? "" : group}.${network!.name}`);
const reachedBy = (record: TaskRecord, services: readonly Service[]) => reachedIn(record, inNetworkOf(record, services));
const serviceNames = (record: TaskRecord, services: readonly Service[], hasAddresses: boolean) =>
  namesIn(inNetworkOf(record, services), hasAddresses);

test("connections to a service go to the parts that are ready, and are refused without one", () => {
  const parts = [web(1, {}, { health: "HEALTHY" }), web(2, {}, { health: "UNHEALTHY" }), web(3)];
  const services = servicesOf([...parts, CLIENT]);
  const [{ address, ports }] = reachedBy(CLIENT, services) as [{ address: string; ports: unknown }];
  expect(address).toMatch(/^198\.1[89]\.\d+\.\d+$/);
  expect(ports).toEqual([{ port: 80, protocol: "tcp", to: ["10.64.0.1:8080", "10.64.0.3:8080"] }]);
  expect(serviceNames(CLIENT, services, true)).toEqual([{ address, names: API.names }]);
  const [ending] = web(1).containers;
  for (const why of [{ isRestartAsked: true }, { desired: "STOPPED" }, { applied: "STOPPED" }, { preStop: "running" }]) {
    const left = { ...web(1), containers: [{ ...ending!, ...why }] } as TaskRecord;
    expect(reachedBy(CLIENT, servicesOf([left, web(3), CLIENT]))[0]!.ports).toMatchObject([{ to: ["10.64.0.3:8080"] }]);
  }
  // It stays while its parts come and go.
  const stopped = { ...web(1), desired: "STOPPED" as const };
  expect(reachedBy(CLIENT, servicesOf([stopped, CLIENT]))).toEqual([{ address, ports: [] }]);
});

test("in another network there is no such service, and a machine reaches the parts by the names", () => {
  const services = servicesOf([web(1), web(2)]);
  const stranger = task("stranger", [], { network: "front" });
  expect([reachedBy(stranger, services), serviceNames(stranger, services, true)]).toEqual([[], []]);
  expect(serviceNames(CLIENT, services, false).map(({ address }) => address)).toEqual(["10.64.0.1", "10.64.0.2"]);
});

test("addresses: the one that is asked for, and never the same for two services", () => {
  const many = Array.from({ length: 600 }, (_, index) => task(`t${index}`, [{ names: [`s${index}`] }]));
  const all = servicesOf([...many, task("fixed", [{ names: ["fixed"], address: "10.96.0.10" }])]).map(({ address }) => address);
  expect(new Set(all).size).toBe(601);
  expect(all.at(-1)).toBe("10.96.0.10");
});

test("a service without an address is the parts themselves, each with names of its own, also before they are ready where that is said", () => {
  const headless = (index: number, said: object, health: string) =>
    web(index, { address: "none", ports: [], hosts: [`web-${index}.api`], ...said }, { health });
  const services = servicesOf([headless(1, {}, "UNHEALTHY"), headless(2, { unready: true }, "UNHEALTHY"), headless(3, {}, "HEALTHY")]);
  expect(serviceNames(CLIENT, services, true)).toEqual([
    { address: "10.64.0.2", names: [...API.names, "web-2.api"] },
    { address: "10.64.0.3", names: [...API.names, "web-3.api"] },
  ]);
  expect(reachedBy(CLIENT, services)).toEqual([]);
});

test("a sticky service: each task keeps its part when others come", () => {
  const parts = Array.from({ length: 8 }, (_, index) => web(index + 1, { sticky: true }));
  const of = (client: TaskRecord, some: readonly TaskRecord[]) => reachedBy(client, servicesOf(some))[0]!.ports[0]!.to;
  const clients = Array.from({ length: 20 }, (_, index) => task(`c${index}`, []));
  const chosen = clients.map((one) => of(one, parts));
  expect(chosen.every((to) => to.length === 1)).toBe(true);
  expect(new Set(chosen.flat()).size).toBeGreaterThan(1);
  const [first, ...others] = parts;
  for (const [index, client] of clients.entries())
    if (chosen[index]![0] !== `${first!.network!.addresses[0]!.split("/")[0]}:8080`) expect(of(client, others)).toEqual(chosen[index]);
});

test("the resolver knows the address of a service, and no task that has its name", () => {
  const same = { ...task("api", [API]), name: "api" };
  const { tasks, services } = namesOf([same, CLIENT]);
  expect(tasks.map(({ name }) => name)).toEqual(["", "client"]);
  expect(services).toMatchObject([{ names: API.names, members: [same.id], address: expect.stringMatching(/^198\.1/) }]);
});
