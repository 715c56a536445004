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

/** Pictures and videos whose place has no size until they are loaded. */
const unsized = `[...document.querySelectorAll("img, video, iframe")].filter((one) => one.checkVisibility() &&
  !(one.hasAttribute("width") && one.hasAttribute("height")) && getComputedStyle(one).aspectRatio === "auto"
).map((one) => one.outerHTML.slice(0, 200))`

/**
 * Looks at the open page in three widths and two schemes. Returns the findings of Axe, elements that are wider than the
 * window, and media that move the page when they are loaded.
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

/** Returns the name of a page's pictures. */
export const pictureName = (path: string): string =>
  path.replace(/\?.*/, "").replaceAll(/[/@]/g, "-").replaceAll(/\d{6,}/g, "id")
