/** What is known of the programs that run in a container beside its own. They decide nothing: a container runs and stops without regard to them. */
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import type { AgentRecord, ContainerRecord, TaskRecord } from "./record.ts";

/** That of an older incarnation says nothing of this one. */
export function applyAgent(record: TaskRecord, { container, generation, agent }: Extract<TaskEvent, { type: "agent" }>): TaskRecord {
  const found = containerOf(record, container);
  if (found?.generation !== generation) return record;
  const others = (found.agents ?? []).filter(({ name }) => name !== agent.name);
  return changeContainer(record, container, { agents: [...others, agent] });
}

/** A daemon that begins ends what runs in containers for the one before. */
export function fencedAgents({ agents }: ContainerRecord): Pick<ContainerRecord, "agents"> {
  return agents === undefined
    ? {}
    : { agents: agents.map((one) => (one.known === "STOPPED" ? one : stopped(one, "the daemon began anew"))) };
}

/** As it is to be shown: none runs in a container that does not. */
export function agentsOf({ agents = [], known }: ContainerRecord): readonly AgentRecord[] {
  return known === "STOPPED" ? agents.map((one) => (one.known === "STOPPED" ? one : stopped(one, "its container has ended"))) : agents;
}

function stopped(agent: AgentRecord, why: string): AgentRecord {
  return { ...agent, known: "STOPPED", pid: null, reason: why };
}
