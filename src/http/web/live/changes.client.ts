/*
 * Changed posts: articles are fetched again and replaced in place, or removed.
 */

import { remove, replace } from "../acts/acts.client.ts"
import { gathered } from "./gather.client.ts"

/** Maximum articles of one request. */
const partsMax = 40

/** Returns the articles of a post on the page. */
export const articleOf = (id: string) => document.querySelectorAll<HTMLElement>(`#status-${CSS.escape(id)}`)
const isTyping = (article: Element) =>
  article.contains(document.activeElement) && document.activeElement !== article ||
  article.querySelector("details.more[open], input:checked") !== null

const changed = new Set<string>()

/** Fetches the articles of at most `partsMax` posts, replaces those on the page, and removes those that no longer exist. */
export const refresh = async (all: ReadonlyArray<string>): Promise<void> => {
  const ids = all.slice(0, partsMax)
  if (ids.length === 0) return
  const response = await fetch(`/web/statuses?ids=${ids.join(",")}`)
  if (!response.ok || response.redirected) return
  const page = new DOMParser().parseFromString(await response.text(), "text/html")
  for (const id of ids) {
    const known = document.getElementById(`status-${id}`)
    // Never replaces an article while the reader types in it or has its dialog open.
    if (known === null || isTyping(known) || known.closest("dialog") !== null) continue
    const updated = page.querySelector(`body > #status-${CSS.escape(id)}`)
    if (updated === null) {
      remove(known)
      continue
    }
    const isFocused = document.activeElement === known
    const fresh = document.importNode(updated, true)
    for (const name of known.classList) fresh.classList.add(name)
    replace(known, fresh)
    if (!isFocused || !(fresh instanceof HTMLElement)) continue
    fresh.tabIndex = -1
    fresh.focus({ preventScroll: true })
  }
}

const refreshChanged = gathered(() => {
  const ids = [...changed]
  changed.clear()
  return refresh(ids)
})

/** Has the articles of a changed post refreshed soon. */
export const gather = (id: string): void => {
  if (articleOf(id).length === 0) return
  changed.add(id)
  refreshChanged()
}

const articles = () => [...document.querySelectorAll<HTMLElement>("main article[id^=status-]")]
const isOnScreen = (article: HTMLElement): boolean => {
  const { bottom, top } = article.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}
const idsOf = (some: ReadonlyArray<HTMLElement>): ReadonlyArray<string> =>
  some.map(({ id }) => id.slice("status-".length))
/** Ids of the posts on the screen. */
export const shownIds = (): ReadonlyArray<string> => idsOf(articles().filter(isOnScreen))
/** Ids of the posts on the screen, then of the others. */
export const nearestIds = (): ReadonlyArray<string> =>
  idsOf(articles().toSorted((one, other) => Number(isOnScreen(other)) - Number(isOnScreen(one))))
