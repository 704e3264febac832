/**
 * From where tasks come: a file, or the directory of a Compose project. A project changes nothing that others have made, and no other file changes what a
 * project has made, unless that is asked for. A file of tasks or pods changes what another such file has made, as with kubectl. Pure.
 */
import type { TaskRecord } from "../../model/index.ts";
import { EngineError } from "../errors.ts";

export interface Origin {
  /** Absolute path of the file, or of the directory of the project; undefined: nobody says, and nothing is compared. */
  readonly from?: string | undefined;
  /** The group is a Compose project of this directory: its volumes and networks belong to it, too. */
  readonly isProject?: boolean;
  /** What others have made is meant, too; what is applied to it becomes this one's. */
  readonly takeOver?: boolean;
}

export interface Owned {
  readonly group: string;
  /** All tasks, of every group. */
  readonly tasks: readonly Pick<TaskRecord, "group" | "name" | "from" | "isDeleteAsked">[];
  /** The directory whose project the group is, as long as there are tasks or volumes of it. */
  readonly project: string | undefined;
}

/** By group, the directory whose Compose project it is, or was last. */
export type Projects = Readonly<Record<string, string>>;

/** A group is nobody's as soon as it has neither tasks nor volumes. */
export function projectsIn(projects: Projects, tasks: Owned["tasks"], hasVolumes: (group: string) => boolean) {
  return (group: string): string | undefined => {
    const isThere = () => tasks.some((task) => task.group === group && !task.isDeleteAsked) || hasVolumes(group);
    return Object.hasOwn(projects, group) && isThere() ? projects[group] : undefined;
  };
}

/** @param isMeant of the name of a task: whether it would be changed. @throws EngineError other-origin */
export function checkOrigin(
  { from, isProject = false, takeOver = false }: Origin,
  { group, tasks, project }: Owned,
  isMeant: (name: string) => boolean,
): void {
  if (from === undefined || takeOver) return;
  const others = tasks.filter((task) => task.group === group && !task.isDeleteAsked && task.from !== undefined && task.from !== from);
  const refuse = (what: string, owner: string, details: object): never => {
    const ways = "use another group (-g NAME; -p NAME for a Compose file), or say that they are meant (--take-over)";
    throw new EngineError("other-origin", `${what} from ${owner}, and not from ${from}: ${ways}`, { group, from, owner, ...details });
  };
  const meant = isProject ? others : others.filter((task) => task.from === project && isMeant(task.name));
  const names = meant.map(({ name }) => name);
  if (isProject && project !== undefined && project !== from) refuse(`the project ${group} was made`, project, {});
  if (meant.length > 0)
    refuse(
      `${names.length === 1 ? "task" : "tasks"} ${names.join(", ")} of group ${group} ${names.length === 1 ? "was" : "were"} made`,
      meant[0]!.from!,
      { tasks: names },
    );
}
