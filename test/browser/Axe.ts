import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

/** Source of Axe for a page: the minified build loads faster. */
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Found {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}

/** Assets that Axe reads before its rules; no rule that is on needs style sheets. */
const preload = { assets: ["media"] }

const findings = async (page: Page, options: object): Promise<ReadonlyArray<string>> => {
  // It stays in the page: a page that is looked at in several ways reads it once.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(source)
  const found = await page.evaluate<ReadonlyArray<Found>>(
    `axe.run(${
      JSON.stringify({ resultTypes: ["violations"], selectors: false, preload, ...options })
    }).then(({ violations }) => violations)`
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`)
}

/** Findings of Axe on a page: its rules for WCAG 2.2 A and AA, and its best practices. */
export const axeFinds = (page: Page) => findings(page, {})

/** The rules that can find something else where nothing but the colours is other. */
const colorRules = { type: "rule", values: ["color-contrast", "link-in-text-block"] }

/** Colour findings of Axe on a page without other findings. */
export const axeFindsInColors = (page: Page) => findings(page, { runOnly: colorRules, preload: false })
