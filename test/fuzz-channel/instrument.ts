/** Counters in a module's text: one for each statement, and for each part of an expression that may be left out. */
import ts from "typescript";

export interface Place {
  readonly file: string;
  readonly line: number;
}

/** `next`: the number of the first counter. The types stay. */
export function instrument(file: string, text: string, next: number): { readonly text: string; readonly places: readonly Place[] } {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const places: Place[] = [];
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const counter = (node: ts.Node): string => {
    places.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    return `__hit[${next + places.length - 1}]++`;
  };
  const around = (node: ts.Node, before: string, after: string): void => {
    inserts.push({ at: node.getStart(), text: before }, { at: node.getEnd(), text: after });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    const { parent } = node;
    if (ts.isStatement(node) && !ts.isBlock(node) && parent && isCode(node)) {
      if (ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseOrDefaultClause(parent))
        inserts.push({ at: node.getStart(), text: `${counter(node)};` });
      else around(node, `{${counter(node)};`, "}");
    } else if (isOptional(node)) around(node, `(${counter(node)},(`, "))");
    ts.forEachChild(node, visit);
  };
  visit(source);
  let changed = text;
  // From the end: what is at the same place comes in the order in which it was put there.
  for (const { at, text: insert } of inserts.map((each, index) => ({ ...each, index })).sort((a, b) => b.at - a.at || b.index - a.index))
    changed = changed.slice(0, at) + insert + changed.slice(at);
  return { text: changed, places };
}

function isCode(node: ts.Statement): boolean {
  const isDeclared =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  return !isDeclared && !ts.isFunctionDeclaration(node) && !ts.isClassDeclaration(node);
}

/** The second operand of a logical operator, and both ends of a conditional. */
function isOptional(node: ts.Node): boolean {
  const { parent } = node;
  if (!parent || !ts.isExpression(node)) return false;
  if (ts.isConditionalExpression(parent)) return node !== parent.condition;
  if (!ts.isBinaryExpression(parent) || node !== parent.right) return false;
  const { kind } = parent.operatorToken;
  return (
    kind === ts.SyntaxKind.BarBarToken || kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.QuestionQuestionToken
  );
}
