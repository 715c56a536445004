import type { Page } from "playwright-core"
import { axeFinds, axeFindsInColors } from "./Axe.ts"
import { picture } from "./Browser.ts"

const widths = [1280, 768, 390]
const schemes = ["light", "dark"] as const

/** Innermost element that is wider than the window; null if everything fits. */
const widest = `document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll("body *")].findLast((one) => {
      const { left, right } = one.getBoundingClientRect()
      return right > innerWidth || left < 0
    })?.outerHTML.slice(0, 200)
  : null`

/** Pictures and videos without a size before they are loaded. */
const unsized = `[...document.querySelectorAll("img, video, iframe")].filter((one) => one.checkVisibility() &&
  !(one.hasAttribute("width") && one.hasAttribute("height")) && getComputedStyle(one).aspectRatio === "auto"
).map((one) => one.outerHTML.slice(0, 200))`

/**
 * Checks the open page in three widths and two colour schemes. Returns the findings of Axe, elements wider than the
 * window, and media that shift the page when they load.
 */
export const findingsAtEveryWidth = async (page: Page, path: string, name: string): Promise<ReadonlyArray<string>> => {
  const found = (await page.evaluate<ReadonlyArray<string>>(unsized)).map((one) => `${path} has no size for ${one}`)
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme })
      const by = await (scheme === "light" ? axeFinds : axeFindsInColors)(page)
      found.push(...by.map((one) => `${path} ${width} ${scheme}: ${one}`))
      await picture(page, `${name}-${width}-${scheme}`)
    }
    const wide = await page.evaluate(widest)
    if (wide !== null) found.push(`${path} is wider than ${width}: ${String(wide)}`)
  }
  return found
}

/** Returns the name for screenshots of a page. */
export const pictureName = (path: string): string =>
  path.replace(/\?.*/, "").replaceAll(/[/@]/g, "-").replaceAll(/\d{6,}/g, "id")
