/** Numbers of what the task engine does: E for tasks and containers, T for the limits of a task and its shared network, P for pods, R for rollouts of services. */

/** A part of the numbers that has a page of its own: those of one letter from `first` to `last`. */
export interface EngineChapter {
  /** Name of its page, without the ending. */
  readonly file: string;
  readonly title: string;
  readonly letter: "E" | "T" | "P" | "R";
  readonly first: number;
  readonly last: number;
}

export const ENGINE_CHAPTERS: readonly EngineChapter[] = [
  { file: "daemon", title: "start, room on the host, recovery, events", letter: "E", first: 1, last: 35 },
  { file: "containers", title: "images, and what containers are made of", letter: "E", first: 36, last: 62 },
  { file: "life", title: "start, networks, stop, order", letter: "E", first: 63, last: 95 },
  { file: "limits", title: "limits of a task and its interfaces", letter: "T", first: 1, last: 24 },
  { file: "pods", title: "pods", letter: "P", first: 1, last: 34 },
  { file: "rollouts", title: "rollouts of services with replicas", letter: "R", first: 1, last: 13 },
];

/** Each number, such as "E1". What it is about is said by the titles of its tests, and nowhere else. */
export const ENGINE_ROWS: readonly string[] = ENGINE_CHAPTERS.flatMap(({ letter, first, last }) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`),
);
