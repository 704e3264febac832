/** What people type who know docker, podman or kubectl, and the call that does it here. */
const CALLS: Readonly<Record<string, string>> = {
  up: "runtctl apply -f compose.yaml --wait",
  down: "runtctl delete -f compose.yaml",
  compose: "runtctl apply -f compose.yaml, runtctl get, runtctl logs, runtctl delete -f compose.yaml",
  play: "runtctl apply -f FILE",
  create: "runtctl apply -f FILE, or runtctl run -d IMAGE",
  ps: "runtctl get",
  ls: "runtctl get",
  list: "runtctl get",
  inspect: "runtctl describe NAME, or runtctl get NAME -o json",
  kill: "runtctl stop NAME",
  rm: "runtctl delete NAME",
  rmi: "runtctl images prune",
  rollout: "runtctl restart NAME, or runtctl rollback NAME",
  cp: "runtctl exec NAME -- tar -c DIRECTORY | tar -x",
  stats: "runtctl top",
  config: "runtctl validate -f compose.yaml",
  info: "runtctl node",
  image: "runtctl images",
  volume: "runtctl volumes",
};

/** undefined: it is nobody's word. */
export function callFor(word: string): string | undefined {
  return Object.hasOwn(CALLS, word) ? CALLS[word] : undefined;
}
