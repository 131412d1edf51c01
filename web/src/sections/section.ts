// A part of the page under a heading of its own.

import { type Child, h } from "../dom";
import { say } from "../i18n";
import type { Report } from "../report";
import type { Text } from "../result";

/** Nothing where the result has no such part. */
export type Section = (report: Report) => HTMLElement | undefined;

export function section(id: string, title: Text, ...children: Child[]): HTMLElement {
  const heading = `${id}-title`;
  return h(
    "section",
    { id, "aria-labelledby": heading },
    h("h2", { id: heading }, say(title)),
    ...children,
  );
}
