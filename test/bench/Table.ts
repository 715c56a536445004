import { total } from "./Cpu.ts"
import type { Measured } from "./Row.ts"

const number = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString("en") : value >= 10 ? value.toFixed(1) : value.toFixed(3)

const columns = ["row", "op/s", "Node ms", "Postgres ms", "Redis ms", "CPU ms", "target", "met"]

const cells = ({ figures, millis, name, perSecond, target }: Measured): Array<Array<string>> => [
  [
    name,
    perSecond === undefined ? "" : number(perSecond),
    ...(millis === undefined
      ? ["", "", "", ""]
      : [millis.node, millis.postgres, millis.redis, total(millis)].map(number)),
    target?.text ?? "",
    target === undefined ? "" : target.met ? "yes" : "NO"
  ],
  ...Object.entries(figures ?? {}).map(([label, value]) => [`  ${label}: ${number(value)}`])
]

/** Formats the figures as a text table. */
export const table = (measured: ReadonlyArray<Measured>): string => {
  const lines = [columns, ...measured.flatMap(cells)]
  const widths = columns.map((_, at) =>
    Math.max(...lines.filter((line) => line.length > 1).map((line) => line[at]?.length ?? 0))
  )
  return lines.map((line) =>
    line.map((cell, at) => at === 0 || at === 6 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)).join(
      "  "
    )
      .trimEnd()
  ).join("\n")
}
