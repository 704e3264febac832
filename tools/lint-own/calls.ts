/**
 * The calls of a source for Node that act on what a name or a number leads to, as "function(argument)": those of node:fs that read, write, remove, rename or give away, and
 * process.kill. What makes a new name, such as mkdir(2), or removes an empty directory, harms nothing that is there.
 */
import ts from "typescript";

/** How many of the first arguments are names. */
const WATCHED: Readonly<Record<string, number>> = {
  readFile: 1,
  open: 1,
  createReadStream: 1,
  createWriteStream: 1,
  writeFile: 1,
  appendFile: 1,
  copyFile: 2,
  cp: 2,
  rm: 1,
  unlink: 1,
  rename: 2,
  chmod: 1,
  chown: 1,
  lchown: 1,
  truncate: 1,
  utimes: 1,
};

export function ownCalls(text: string): string[] {
  const file = ts.createSourceFile("source.ts", text, ts.ScriptTarget.ES2023, true);
  const imported = new Map<string, number>();
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !/^["']node:fs(\/promises)?["']$/.test(statement.moduleSpecifier.getText(file))) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName } of bindings.elements) {
      const count = WATCHED[(propertyName ?? name).text.replace(/Sync$/, "")];
      if (count !== undefined) imported.set(name.text, count);
    }
  }
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText(file);
      const count = name === "process.kill" ? 1 : ts.isIdentifier(node.expression) ? imported.get(name) : undefined;
      const words = node.arguments.slice(0, count).map((word) => word.getText(file));
      if (count !== undefined) found.add(`${name}(${words.join(", ")})`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...found];
}
