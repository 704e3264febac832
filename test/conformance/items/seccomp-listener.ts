/** SEC, what is about linux.seccomp.listenerPath. */
import { join } from "node:path";
import { Agent } from "../agent.ts";
import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import type { Levels } from "../group.ts";
import { SEMVER } from "../hook-log.ts";
import { allowBut, filtered, type Profile, rule } from "../seccomp.ts";

const MKDIR = ["mkdir", "mkdirat"];

const listening = (agent: Agent, rest: object = {}): Profile => ({
  ...allowBut(rule("NOTIFY", MKDIR)),
  listenerPath: agent.path,
  ...rest,
});

export const listenerItems = ({ must, should }: Levels): void => {
  must(13, "the agent gets one message per container, over a stream socket that is closed afterwards", async (c) => {
    const agent = await Agent.start(c);
    const container = await c.start(filtered(listening(agent)));
    await agent.connection();
    await agent.closed();
    assert.equal(agent.connections, 1);
    await container.kill("KILL");
    await container.until("stopped");
    await c.start(filtered(listening(agent)));
    await agent.connection(2);
  });
  must(14, "the first message has the listener's descriptor, and names it", async (c) => {
    const agent = await Agent.start(c);
    await c.start(filtered(listening(agent)));
    const { what, descriptors, state } = await agent.connection();
    assert.deepEqual([what, descriptors, state["fds"]], ["anon_inode:seccomp notify", 1, ["seccompFd"]]);
    const { stderr } = await c.run("mkdir /tmp/new", filtered(listening(agent)));
    assert.match(stderr, /uota exceeded/);
  });
  must(15, "the message is the state of the process, with that of the container in it", async (c) => {
    const agent = await Agent.start(c);
    const container = await c.start((config) => {
      filtered(listening(agent, { listenerMetadata: 'some "data"' }))(config);
      Object.assign(config, { annotations: { "org.example.key": "value" } });
    });
    const pid = await container.pid();
    const { ociVersion, metadata, ...rest } = (await agent.connection()).state as Record<string, unknown> & {
      state: Record<string, unknown>;
    };
    assert.match(String(ociVersion), SEMVER);
    assert.equal(metadata, 'some "data"');
    assert.equal(rest["pid"], pid);
    const { id, status, bundle, annotations } = rest.state;
    assert.match(String(rest.state["ociVersion"]), SEMVER);
    assert.equal(rest.state["pid"], pid);
    assert.deepEqual([id, bundle, annotations], [container.id, container.bundle, { "org.example.key": "value" }]);
    assert.match(String(status), /^(creating|created)$/);
    const without = await Agent.start(c);
    await c.start(filtered(listening(without)));
    assert.equal((await without.connection()).state["metadata"] ?? "", "");
  });
  must(16, "an agent that cannot be reached is an error", async (c) => {
    const listenerPath = join(c.scratch(), "absent");
    await c.refused(filtered({ ...allowBut(rule("NOTIFY", MKDIR)), listenerPath }), "/linux/seccomp/listenerPath");
    if (c.isRunt) await c.refused(filtered(allowBut(rule("NOTIFY", MKDIR))), "/linux/seccomp/syscalls/0/action");
  });
  must(17, "the agent gets no message if no rule notifies", async (c) => {
    const profile = allowBut(rule("ERRNO", MKDIR));
    await c.start(filtered({ ...profile, listenerPath: join(c.scratch(), "absent") }));
    const agent = await Agent.start(c);
    await c.start(filtered({ ...profile, listenerPath: agent.path }));
    assert.equal(agent.connections, 0);
  });
  must(18, "metadata without an agent is refused", async (c) => {
    await c.refused(filtered({ ...allowBut(rule("ERRNO", MKDIR)), listenerMetadata: "data" }), "/linux/seccomp/listenerMetadata");
  });
  should(19, "a profile that notifies before the agent can listen is refused", async (c) => {
    const agent = await Agent.start(c);
    await c.refused(filtered({ defaultAction: "SCMP_ACT_NOTIFY", listenerPath: agent.path }), "/linux/seccomp/defaultAction");
    // Which call hands the descriptor over is the runtime's business.
    for (const name of ["sendmsg", "write"]) await refusedOrServed(c, agent, name);
    if (c.isRunt) await c.refused(filtered(listening(agent, allowBut(rule("NOTIFY", ["sendmsg"])))), "/linux/seccomp/syscalls/0/action");
  });
};

async function refusedOrServed(c: Context, agent: Agent, name: string): Promise<void> {
  const before = agent.connections;
  const traces = c.traces();
  const bundle = c.bundle(filtered(listening(agent, allowBut(rule("NOTIFY", [name])))));
  const container = c.container(bundle);
  const { status } = await c.call(["create", "--bundle", bundle, container.id]);
  if (status !== 0) return c.nothingOf(container, traces);
  await container.start();
  await agent.connection(before + 1);
  await container.delete("--force");
}
