import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

/** Source of Axe for a page: the minified build loads faster. */
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Found {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}

/** Assets that Axe loads before its rules; no enabled rule needs style sheets. */
const preload = { assets: ["media"] }

const findings = async (page: Page, options: object): Promise<ReadonlyArray<string>> => {
  // Axe stays in the page, so that a page with several checks loads it once.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(source)
  const found = await page.evaluate<ReadonlyArray<Found>>(
    `axe.run(${
      JSON.stringify({ resultTypes: ["violations"], selectors: false, preload, ...options })
    }).then(({ violations }) => violations)`
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`)
}

/** Returns Axe's findings on a page: its rules for WCAG 2.2 A and AA, and its best practices. */
export const axeFinds = (page: Page) => findings(page, {})

/** The rules whose findings depend on colours. */
const colorRules = { type: "rule", values: ["color-contrast", "link-in-text-block"] }

/** Returns Axe's colour findings on a page without other findings. */
export const axeFindsInColors = (page: Page) => findings(page, { runOnly: colorRules, preload: false })
