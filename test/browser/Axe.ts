import axe from "axe-core"
import type { Page } from "playwright-core"

interface Found {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}

/** What Axe finds on a page: its rules for WCAG 2.2 A and AA, and what it counts among good practice. */
export const axeFinds = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const found = await page.evaluate<ReadonlyArray<Found>>("axe.run().then(({ violations }) => violations)")
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`)
}
