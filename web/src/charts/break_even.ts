// Two ways to pay for the same work, and where they cost the same.

import { plain, unitName } from "../format";
import { say, text } from "../i18n";
import type { BreakEven } from "../result";
import { type Look, PARTS } from "../theme";
import type { Chart } from "./figure";
import { lines } from "./lines";

const LOOKS: Look[] = [
  { colour: PARTS[0], symbol: "circle" },
  { colour: PARTS[2], symbol: "rect" },
  { colour: PARTS[4], symbol: "triangle" },
  { colour: PARTS[6], symbol: "diamond" },
];

export function breakEven(data: BreakEven): Chart {
  const unit = unitName(data.x_unit);
  const lead =
    data.crossing === undefined
      ? text("The lines do not cross in this range.", "在此范围内两线不相交。")
      : text(
          `The lines cross at ${plain(data.crossing)} ${unit}.`,
          `两线相交于 ${plain(data.crossing)} ${unit}。`,
        );
  return lines({
    id: `chart-break-even-${data.id}`,
    title: say(data.title),
    lead: say(lead),
    lines: data.series.map(({ name, values }, i) => ({
      name: say(name),
      look: LOOKS[i % LOOKS.length]!,
      points: data.x.map((x, at) => [x, values[at] ?? null]),
    })),
    x: { name: say(data.x_name), unit },
    y: { name: say(data.y_name), unit: unitName(data.y_unit) },
    ...(data.crossing !== undefined && {
      crossing: { at: data.crossing, name: say(text("equal", "相等")) },
    }),
  });
}
