/**
 * The fields of each line of passwd(5), group(5), subuid(5) and subgid(5), which are divided by colons. Lines with fewer than three fields, such as
 * empty ones and those of NIS, name no account and are left out.
 */
export function parseAccounts(text: string): string[][] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter(({ length }) => length >= 3);
}
