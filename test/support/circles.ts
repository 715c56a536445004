/** That one place needs another, and the import by which it does. */
export interface Need {
  readonly from: string
  readonly to: string
  readonly by: string
}

/** The circles that needs form, each as the imports that it is made of; none where there is no circle. */
export const circlesOf = (needs: ReadonlyArray<Need>): ReadonlyArray<string> => {
  const known = Map.groupBy(needs, ({ from }) => from)
  const done = new Set<string>()
  const circles: Array<string> = []
  const visit = (place: string, way: ReadonlyArray<Need>) => {
    const start = way.findIndex(({ from }) => from === place)
    if (start !== -1) circles.push(way.slice(start).map(({ by }) => by).join(", "))
    if (done.has(place)) return
    done.add(place)
    for (const need of known.get(place) ?? []) visit(need.to, [...way, need])
  }
  for (const place of known.keys()) visit(place, [])
  return circles
}
