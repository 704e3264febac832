/** The secrets of a container: files in memory, which are mounted in it or become variables. */
import { specOf, type TaskRecord } from "../../model/index.ts";
import { type Incarnation, withRouterSecrets } from "../../plan/index.ts";
import { readVariable, type SecretFile, SecretFiles } from "../../secrets/index.ts";
import type { ContainerSpec, TaskSpec } from "../../spec/index.ts";
import { type Contribution, engineMount, type Known, type TaskResource } from "./resource.ts";

export class ContainerSecrets implements TaskResource {
  readonly name = "secrets";
  readonly #files: SecretFiles;

  /** @param directory absolute; made if it is absent */
  constructor(directory: string) {
    this.#files = new SecretFiles(directory);
  }

  /** @throws SecretError; the reason of `signal` */
  async prepare({ spec }: TaskRecord, { container, runtimeId }: Incarnation, signal: AbortSignal): Promise<void> {
    const files = usesOf(spec, container).map(({ secret, mode, uid }): SecretFile => {
      const { file, exec } = (spec.secrets ?? []).find(({ name }) => name === secret)!;
      return { name: secret, mode, uid, source: file === undefined ? { exec: exec! } : { file } };
    });
    await this.#files.make(runtimeId, files, signal);
  }

  /** @throws SecretError: what a secret has in it cannot be a variable */
  contribute({ spec }: TaskRecord, { container, runtimeId }: Incarnation): Contribution {
    const uses = usesOf(spec, container);
    const paths = this.#files.paths(runtimeId, uses.length);
    return {
      mounts: uses.flatMap(({ target }, at) => (target === undefined ? [] : [engineMount(target, paths[at]!, "rro")])),
      secretEnv: Object.fromEntries(
        uses.flatMap(({ secret, env }, at) => (env === undefined ? [] : [[env, readVariable(paths[at]!, secret)]])),
      ),
    };
  }

  async release(_task: string, runtimeId: string): Promise<void> {
    await this.#files.release(runtimeId);
  }

  async sweep({ containers }: Known): Promise<readonly unknown[]> {
    return this.#files.sweep(containers);
  }
}

/** The secrets that a container uses, with those of its senders if it is a log router. */
function usesOf(task: TaskSpec, container: string): NonNullable<ContainerSpec["secrets"]> {
  const spec = specOf({ spec: task }, container);
  return (spec && withRouterSecrets(task, spec).secrets) ?? [];
}
