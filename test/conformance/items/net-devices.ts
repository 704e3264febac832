import * as assert from "../assert.ts";
import type { Container } from "../container.ts";
import { waitFor } from "../container.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";
import { addressesOf, isUp, Network } from "../network.ts";

type NetDevices = Readonly<Record<string, { readonly name?: string }>>;

/** Every kernel has veth. d0 is up and has addresses, d1 is neither. */
const HOST = [
  "link add d0 type veth peer name peer0",
  "link add d1 type veth peer name peer1",
  "link set peer0 up",
  "link set d0 up mtu 1400",
  "addr add 10.1.2.1/24 label d0:x dev d0",
  "addr add 2001:db8::1/64 nodad dev d0",
];
const ADDRESSES = ["10.1.2.1/24 d0:x", "2001:db8::1/64"];

const withDevices =
  (netDevices: NetDevices, change: Change = () => {}): Change =>
  (config) => {
    Object.assign(config.linux, { netDevices });
    change(config);
  };

async function create(c: Context, host: Network, change: Change): Promise<{ readonly container: Container; readonly inside: Network }> {
  const container = c.container(c.bundle(change));
  const { status, stderr } = await host.call(["create", "--bundle", container.bundle, container.id]);
  assert.equal(status, 0, stderr);
  return { container, inside: Network.of(c, await container.pid()) };
}

/** d0 and d1 are as they were made. */
async function expectHome(host: Network): Promise<void> {
  const [d0, d1] = [await host.device("d0"), await host.device("d1")];
  assert.deepEqual([isUp(d0), d0.mtu, addressesOf(d0), isUp(d1), addressesOf(d1)], [true, 1400, ADDRESSES, false, []]);
}

async function refused(c: Context, host: Network, change: Change, pointer?: string): Promise<void> {
  await c.refusedBundle(c.bundle(change), pointer, [], (args) => host.call(args));
  await expectHome(host);
}

export const netDevices = group("NET", "netDevices", ({ must }) => {
  must(1, "devices of the host are moved into the container's network namespace", async (c) => {
    const host = await Network.make(c, ...HOST);
    const { inside } = await create(c, host, withDevices({ d0: {}, d1: {} }));
    assert.deepEqual(await inside.names(), ["d0", "d1", "lo"]);
    assert.deepEqual(await host.names(), ["lo", "peer0", "peer1"]);
    // Its other end tells that it is the very device.
    await waitFor(async () => (await host.device("peer0")).flags.includes("LOWER_UP"), "a connection of d0");
  });
  must(2, "a device gets its new name, or keeps its own", async (c) => {
    const host = await Network.make(c, ...HOST);
    const { inside } = await create(c, host, withDevices({ d0: { name: "net0" }, d1: { name: "" } }));
    assert.deepEqual(await inside.names(), ["d1", "lo", "net0"]);
    assert.equal((await inside.device("net0")).mtu, 1400);
  });
  must(3, "a name that already exists there is an error, unless it is a template", async (c) => {
    const host = await Network.make(c, ...HOST);
    const there = await Network.make(c, "link add eth0 type veth peer name d1");
    await refused(c, host, withDevices({ d0: { name: "eth0" } }, there.joined), "/linux/netDevices/d0");
    await refused(c, host, withDevices({ d1: {} }, there.joined), "/linux/netDevices/d1");
    await refused(c, host, withDevices({ d0: { name: "same" }, d1: { name: "same" } }), "/linux/netDevices/d1/name");
    const { inside } = await create(c, host, withDevices({ d0: { name: "eth%d" }, d1: { name: "eth%d" } }, there.joined));
    assert.deepEqual(await inside.names(), ["d1", "eth0", "eth1", "eth2", "lo"]);
  });
  must(4, "permanent global addresses are kept, of all families", async (c) => {
    const host = await Network.make(
      c,
      ...HOST,
      "addr add 10.9.9.1 peer 10.9.9.2/32 dev d0",
      "addr add 10.5.0.1/24 scope link dev d0",
      "addr add 10.6.0.1/24 valid_lft 1000 preferred_lft 500 dev d0",
      "addr add 2001:db8:1::1/64 nodad valid_lft 1000 preferred_lft 500 dev d0",
    );
    const { inside } = await create(c, host, withDevices({ d0: { name: "net0" } }));
    const device = await inside.device("net0");
    assert.deepEqual(addressesOf(device).sort(), ["10.1.2.1/24 net0:x", "10.9.9.1/32 net0", "2001:db8::1/64"]);
    for (const address of ["10.5.0.1", "10.6.0.1", "2001:db8:1::1"])
      assert.ok(!device.addr_info.some(({ local }) => local === address), address);
  });
  must(5, "a device is up after the move", async (c) => {
    const host = await Network.make(c, ...HOST);
    const { inside } = await create(c, host, withDevices({ d0: { name: "net0" }, d1: {} }));
    assert.deepEqual([isUp(await inside.device("net0")), isUp(await inside.device("d1"))], [true, true]);
  });
  must(6, "after the container is created, the runtime does not touch its devices", async (c) => {
    const host = await Network.make(c, ...HOST);
    const there = await Network.make(c);
    const { container } = await create(c, host, withDevices({ d0: { name: "net0" } }, there.joined));
    assert.deepEqual(await there.names(), ["lo", "net0"]);
    await container.start();
    await there.ip("link set net0 down");
    await container.end();
    await container.delete();
    assert.deepEqual(await there.names(), ["lo", "net0"]);
    assert.deepEqual([isUp(await there.device("net0")), await host.names()], [false, ["d1", "lo", "peer0", "peer1"]]);
    // The kernel destroys what is virtual together with its namespace.
    const other = await create(c, host, withDevices({ d1: {} }));
    assert.deepEqual(await other.inside.names(), ["d1", "lo"]);
    await other.container.delete("--force");
    await waitFor(async () => (await host.names()).join() === "lo,peer0", "the end of d1");
  });
  must(7, "a missing device, an invalid name, and a container without its own network namespace are errors", async (c) => {
    const host = await Network.make(c, ...HOST);
    await refused(c, host, withDevices({ d9: {} }), "/linux/netDevices/d9");
    for (const name of ["a/b", "a b", ".", "..", "sixteen-letters-", "two%d%d", "%s"])
      await refused(c, host, withDevices({ d0: { name } }), "/linux/netDevices/d0/name");
    for (const name of ["a/b", "sixteen-letters-"])
      await refused(c, host, withDevices({ [name]: {} }), `/linux/netDevices/${name.replace("/", "~1")}`);
    const without: Change = ({ linux }) => {
      linux.namespaces = linux.namespaces.filter(({ type }) => type !== "network");
    };
    await refused(c, host, withDevices({ d0: {} }, without), "/linux/netDevices");
    await refused(c, host, withDevices({ d0: {} }, host.joined), "/linux/netDevices");
  });
  must(8, "a create that fails returns the devices unchanged", async (c) => {
    const host = await Network.make(c, ...HOST);
    const there = await Network.make(c);
    for (const place of [() => {}, there.joined]) {
      const devices = withDevices({ d0: { name: "net0" }, d1: { name: "d0" } }, place);
      const hooked: Change = (config) => {
        devices(config);
        Object.assign(config, { hooks: { createRuntime: [{ path: "/bin/false" }] } });
      };
      await refused(c, host, hooked);
      await refused(c, host, (config) => {
        devices(config);
        config.process.args = ["/no/such/program"];
      });
      assert.deepEqual([await host.names(), await there.names()], [["d0", "d1", "lo", "peer0", "peer1"], ["lo"]]);
    }
    await host.ip("link add br0 type bridge");
    // The kernel moves no bridge.
    await refused(c, host, withDevices({ d0: {}, br0: {} }), "/linux/netDevices/br0");
  });
});
