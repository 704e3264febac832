/** Replaces "%n" and the like, and what systemd makes of "$" in a command. Source: systemd.unit(5), "Specifiers"; systemd.service(5), "Command lines". */

/** What a specifier stands for, by its letter. */
export type Specifiers = Readonly<Record<string, string | undefined>>;

/** A unit of systemd: the name of the service that Quadlet makes, without its suffix. */
export function specifiersOf(service: string, host: Specifiers): Specifiers {
  const [, prefix = service, instance = ""] = /^([^@]*)@(.*)$/.exec(service) ?? [];
  const last = prefix.slice(prefix.lastIndexOf("-") + 1);
  return {
    ...{ t: "/run", S: "/var/lib", C: "/var/cache", L: "/var/log", E: "/etc", T: "/tmp", V: "/var/tmp" },
    ...host,
    ...{ n: `${service}.service`, N: service, p: prefix, P: unescaped(prefix), i: instance, I: unescaped(instance) },
    ...{ j: last, J: unescaped(last), "%": "%" },
  };
}

/** "-" is "/", and "\\xNN" is a character. Source: systemd-escape(1). */
function unescaped(text: string): string {
  return text.replaceAll("-", "/").replaceAll(/\\x([0-7][0-9a-f])/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}

/** @throws Error: it names a specifier that is not known */
export function withSpecifiers(text: string, specifiers: Specifiers): string {
  return text.replaceAll(/%(.?)/gsu, (all, letter: string) => {
    const value = Object.hasOwn(specifiers, letter) ? specifiers[letter] : undefined;
    if (value === undefined)
      throw new Error(`the specifier ${all} is not supported${letter === "" ? ": write %% for a percent sign" : ""}`);
    return value;
  });
}

const VARIABLE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;
const WORD = /^\$[A-Za-z_][A-Za-z0-9_]*$/;

/** "$$" is a dollar sign. @throws Error: systemd would put a variable of its own there */
export function withoutVariables(word: string): string {
  const [found] = VARIABLE.exec(word.replaceAll("$$", "")) ?? WORD.exec(word) ?? [];
  if (found !== undefined) throw new Error(`${found} is a variable of systemd, which has no value here: write $$ for a dollar sign`);
  return word.replaceAll("$$", "$");
}
