/**
 * The calls of the host module in a TypeScript source that take a path which comes from a root file system, as "function(argument)".
 *
 * A path is taken for one when the expression has a name with `rootfs` in it, `/proc/PID/root`, or a variable of this file that was made from
 * one; beyond a call of another file nothing is followed, so that what goes out of a file has to keep the word in its name.
 */
import ts from "typescript";

/** Functions of the host module with one or more paths: which of the arguments. */
const PATH_FUNCTIONS: Readonly<Record<string, readonly number[]>> = {
  readFile: [0],
  readBytes: [0],
  readOwn: [0],
  writeFile: [0],
  open: [0],
  openat: [0, 1],
  openInRoot: [0, 1],
  stat: [0],
  lstat: [0],
  statfsType: [0],
  access: [0],
  mkdir: [0],
  rmdir: [0],
  unlink: [0],
  rename: [0, 1],
  link: [0, 1],
  symlink: [1],
  mkfifo: [0],
  chmod: [0],
  chown: [0],
  readdir: [0],
  readlink: [0],
  realpath: [0],
  chdir: [0],
  setxattr: [0],
  getxattr: [0],
  runProgram: [0, 6],
  spawnPeer: [0],
  enterOwnMounts: [0],
  makeRootReadonly: [0],
  connect: [0],
  connectDatagram: [0],
  bindDatagram: [0],
  sendDescriptor: [0],
  watchModified: [0],
};
/** Every use of these needs an explanation, wherever the path comes from. */
const ALWAYS: readonly string[] = ["openat", "openInRoot"];

export function runtimeCalls(text: string): string[] {
  const file = ts.createSourceFile("source.ts", text, ts.ScriptTarget.ES2023, true);
  const tainted = new Set<string>();
  const isTainted = (node: ts.Node): boolean => {
    if (ts.isIdentifier(node)) return /rootfs/i.test(node.text) || tainted.has(node.text);
    if (ts.isStringLiteralLike(node) || (node.kind >= ts.SyntaxKind.TemplateHead && node.kind <= ts.SyntaxKind.TemplateTail))
      return isProcRoot(node);
    return ts.forEachChild(node, (child) => (isTainted(child) ? true : undefined)) ?? false;
  };
  const found: string[] = [];

  /** A variable made from a tainted expression is tainted. Two passes, for variables that are used before they are declared. */
  function taint(node: ts.Node): void {
    if (ts.isVariableDeclaration(node) && node.initializer && isTaintedValue(node.initializer))
      for (const name of namesOf(node.name)) tainted.add(name);
    ts.forEachChild(node, taint);
  }
  /** The result of a call is not tainted, unless the call only rewrites text. */
  function isTaintedValue(node: ts.Expression): boolean {
    if (ts.isCallExpression(node) && !ts.isPropertyAccessExpression(node.expression)) return false;
    if (ts.isCallExpression(node) && hostFunction(node) !== undefined)
      return hostFunction(node) === "realpath" && node.arguments.some(isTainted);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isObjectLiteralExpression(node)) return false;
    return isTainted(node);
  }
  function visit(node: ts.Node): void {
    // Code of disabled defences is not in the product (src/runtime/testing/index.ts).
    if (ts.isConditionalExpression(node) && /^defenceDisabled\("/.test(node.condition.getText(file))) {
      visit(node.whenFalse);
      return;
    }
    const name = ts.isCallExpression(node) ? hostFunction(node) : undefined;
    if (name !== undefined && ts.isCallExpression(node)) {
      const places = PATH_FUNCTIONS[name]!;
      const words = places.flatMap((place) => node.arguments[place] ?? []);
      if (ALWAYS.includes(name) || words.some(isTainted)) found.push(`${name}(${words.map((word) => word.getText(file)).join(", ")})`);
    }
    ts.forEachChild(node, visit);
  }

  taint(file);
  taint(file);
  visit(file);
  return [...new Set(found)];
}

/** "host.open(...)" -> "open"; undefined for what takes no path. */
function hostFunction({ expression }: ts.CallExpression): string | undefined {
  if (!ts.isPropertyAccessExpression(expression) || expression.expression.getText() !== "host") return undefined;
  const name = expression.name.text;
  return Object.hasOwn(PATH_FUNCTIONS, name) ? name : undefined;
}

function isProcRoot(node: ts.Node): boolean {
  const { text } = node as ts.LiteralLikeNode;
  return /\/(root|cwd)(\/|$)/.test(text) && (text.startsWith("/proc/") || !ts.isStringLiteral(node));
}

function namesOf(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesOf(element.name)));
}
