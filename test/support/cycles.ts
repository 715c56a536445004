/** Dependency of one place on another, and the import that causes it. */
export interface Dependency {
  readonly from: string
  readonly to: string
  readonly by: string
}

/** Returns the cycles among the dependencies, each as its imports; empty if there are no cycles. */
export const cyclesOf = (needs: ReadonlyArray<Dependency>): ReadonlyArray<string> => {
  const known = Map.groupBy(needs, ({ from }) => from)
  const done = new Set<string>()
  const cycles: Array<string> = []
  const visit = (place: string, way: ReadonlyArray<Dependency>) => {
    const start = way.findIndex(({ from }) => from === place)
    if (start !== -1) cycles.push(way.slice(start).map(({ by }) => by).join(", "))
    if (done.has(place)) return
    done.add(place)
    for (const need of known.get(place) ?? []) visit(need.to, [...way, need])
  }
  for (const place of known.keys()) visit(place, [])
  return cycles
}
