// What every section asks for: the page, and its fabrics with their names and looks.

import { looksOf, type Look } from "./theme";
import type { FabricKind, FabricResult, Page, Result } from "./result";

export interface Fabric {
  id: string;
  /** As people write it. */
  name: string;
  look: Look;
  result: FabricResult;
}

export interface Report {
  page: Page;
  result: Result;
  fabrics: Fabric[];
  currency: string;
  training: boolean;
}

const NAMES: Record<FabricKind, string> = {
  infiniband: "InfiniBand",
  "roce-v2": "RoCE v2",
  tcp: "TCP",
  "roce-v1": "RoCE v1",
};

/** "InfiniBand" of the id; names that users gave stay as they are. */
export function displayName(id: string): string {
  return (NAMES as Record<string, string>)[id] ?? id;
}

export function reportOf(page: Page): Report {
  const entries = Object.entries(page.result.fabrics);
  const looks = looksOf(entries.map(([id, fabric]) => [id, fabric.kind]));
  const fabrics = entries.flatMap(([id, result]): Fabric[] => {
    const look = looks.get(id);
    return look ? [{ id, name: displayName(id), look, result }] : [];
  });
  return {
    page,
    result: page.result,
    fabrics,
    currency: fabrics[0]?.result.cost.currency ?? page.result.designs?.[0]?.currency ?? "",
    training: fabrics.some((fabric) => fabric.result.training !== undefined),
  };
}

/** The fabric that the verdict names, where it was looked at closely. */
export function chosen(report: Report): Fabric | undefined {
  return report.fabrics.find((fabric) => fabric.id === report.result.verdict.choice);
}

/** The best of the others, by the score of the evidence (a cost: less is better). */
export function runnerUp(report: Report): Fabric | undefined {
  const { choice, evidence } = report.result.verdict;
  const score = (fabric: Fabric) => evidence.score[fabric.id] ?? Infinity;
  return report.fabrics
    .filter((fabric) => fabric.id !== choice)
    .sort((a, b) => score(a) - score(b))[0];
}
