/** What is known about agents, the further programs in containers. It is only reported: containers run and stop independently of their agents. */
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import type { AgentRecord, ContainerRecord, TaskRecord } from "./record.ts";

/** Ignored if the event is about an older incarnation. */
export function applyAgent(record: TaskRecord, { container, generation, agent }: Extract<TaskEvent, { type: "agent" }>): TaskRecord {
  const found = containerOf(record, container);
  if (found?.generation !== generation) return record;
  const others = (found.agents ?? []).filter(({ name }) => name !== agent.name);
  return changeContainer(record, container, { agents: [...others, agent] });
}

/** A new daemon ends the agents that its predecessor has started. */
export function fencedAgents({ agents }: ContainerRecord): Pick<ContainerRecord, "agents"> {
  return agents === undefined
    ? {}
    : { agents: agents.map((one) => (one.known === "STOPPED" ? one : stopped(one, "the daemon began anew"))) };
}

/** The agents as shown to users: none runs in a container that does not run. */
export function agentsOf({ agents = [], known }: ContainerRecord): readonly AgentRecord[] {
  return known === "STOPPED" ? agents.map((one) => (one.known === "STOPPED" ? one : stopped(one, "its container has ended"))) : agents;
}

function stopped(agent: AgentRecord, why: string): AgentRecord {
  return { ...agent, known: "STOPPED", pid: null, reason: why };
}
