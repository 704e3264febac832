/** Values by clean absolute paths. It has a node only where paths part: a path of 4,096 characters may have 2,000 directories. */

interface Node<T> {
  /** The way from the node above it, whole names: "/a/b". */
  label: string;
  value: T | undefined;
  /** By the first name on the way. */
  below: Map<string, Node<T>> | undefined;
}

export class PathTree<T> {
  readonly #root: Node<T> = { label: "", value: undefined, below: undefined };

  /** Visits the values at a path and at the directories above it, the outermost first. */
  along(path: string, visit: (value: T) => void): void {
    let node: Node<T> | undefined = this.#root;
    for (let at = 0; node !== undefined && goesOn(path, at, node.label); node = node.below?.get(nameAt(path, at))) {
      if (node.value !== undefined) visit(node.value);
      at += node.label.length;
    }
  }

  /** Whether there is a value below a path, not counting its own. */
  hasBelow(path: string): boolean {
    let node: Node<T> | undefined = this.#root;
    let at = 0;
    for (; node !== undefined && goesOn(path, at, node.label); node = node.below?.get(nameAt(path, at))) {
      at += node.label.length;
      if (at === path.length || path === "/") return (node.below?.size ?? 0) > 0;
    }
    return node !== undefined && goesOn(node.label, 0, path.slice(at));
  }

  /** Gives a path a value, and takes out those at it and below it. Returns them, in no order. */
  replace(path: string, value: T): readonly T[] {
    const length = path === "/" ? 0 : path.length;
    let node = this.#root;
    for (let at = 0; at < length; at += node.label.length) {
      const name = nameAt(path, at);
      const next = node.below?.get(name);
      if (next === undefined) {
        node.below ??= new Map();
        node.below.set(name, { label: at === 0 ? path : path.slice(at), value, below: undefined });
        return NONE;
      }
      // The name was found, so more than it is compared only where the way is longer.
      if (next.label.length > name.length + 1 && !goesOn(path, at, next.label)) part(next, commonLength(path, at, next.label));
      node = next;
    }
    const taken = valuesOf(node);
    node.value = value;
    node.below = undefined;
    return taken;
  }
}

const NONE: readonly never[] = [];

function valuesOf<T>(top: Node<T>): readonly T[] {
  const values: T[] = [];
  const left = [top];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.value !== undefined) values.push(node.value);
    if (node.below) for (const next of node.below.values()) left.push(next);
  }
  return values;
}

/** The name behind the slash at this place. */
function nameAt(path: string, slash: number): string {
  const end = path.indexOf("/", slash + 1);
  return end < 0 ? path.slice(slash + 1) : path.slice(slash + 1, end);
}

/** Whether a path goes on with these names. */
function goesOn(path: string, at: number, names: string): boolean {
  const end = at + names.length;
  return path.startsWith(names, at) && (end === path.length || path[end] === "/");
}

/** The length of the names that both go on with: the first is the same. */
function commonLength(path: string, at: number, label: string): number {
  let [low, high] = [0, label.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (path.startsWith(label.slice(low, middle), at + low)) low = middle;
    else high = middle - 1;
  }
  const isWhole = (low === label.length || label[low] === "/") && (at + low === path.length || path[at + low] === "/");
  return isWhole ? low : label.lastIndexOf("/", low - 1);
}

/** Puts a node in the middle of the way to a node. */
function part<T>(node: Node<T>, length: number): void {
  const rest: Node<T> = { ...node, label: node.label.slice(length) };
  node.label = node.label.slice(0, length);
  node.value = undefined;
  node.below = new Map([[nameAt(rest.label, 0), rest]]);
}
