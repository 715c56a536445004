/* Keys, as in Mastodon: the page /keys lists them. */

import { openPage } from "../acts/dialogs.client.ts"
import { places } from "./places.client.ts"

/** Time after `g` in which the second key counts, in milliseconds. */
const sequenceMillisMax = 2_000

const articles = () => [...document.querySelectorAll<HTMLElement>("main article")]
const isOnScreen = (one: Element) => {
  const { bottom, top } = one.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

/** The article with the focus, or else the first on the screen. */
const current = (): HTMLElement | undefined =>
  document.activeElement?.closest<HTMLElement>("main article") ?? articles().find(isOnScreen)

const go = (path: string) => location.assign(path)

const focus = (article: HTMLElement | undefined): void => {
  if (article === undefined) return
  article.tabIndex = -1
  article.focus({ preventScroll: true })
  article.scrollIntoView({ block: "nearest" })
}

const move = (by: 1 | -1) => (): void => {
  const all = articles()
  const focused = document.activeElement?.closest<HTMLElement>("main article")
  focus(focused === null || focused === undefined ? all.find(isOnScreen) : all[all.indexOf(focused) + by])
}

/** Presses the first of some elements of the current article. */
const press = (selector: string) => (): void => {
  const found = current()?.querySelector<HTMLElement>(selector)
  // A link in a closed menu is followed as if it were open.
  found?.click()
}

const toggle = (selector: string) => (): void => {
  const details = current()?.querySelector<HTMLDetailsElement>(selector)
  if (details) details.open = !details.open
}

const write = (): void => {
  const field = document.querySelector<HTMLElement>("main form textarea")
  if (field === null) go("/publish")
  else field.focus()
}

/** Focuses the content warning; a field in a closed part of the form cannot have the focus. */
const warn = (): void => {
  const field = document.querySelector<HTMLElement>("main input[name=spoiler_text]")
  const part = field?.closest("details")
  if (part) part.open = true
  field?.focus()
}

const search = (): void => {
  const field = document.querySelector<HTMLElement>("input[type=search]")
  if (field === null) go("/search")
  else field.focus()
}

const leave = (): void => {
  const active = document.activeElement
  if (active instanceof HTMLElement) active.blur()
}

const acts: Readonly<Record<string, () => void>> = {
  j: move(1),
  k: move(-1),
  "0": () => {
    scrollTo({ top: 0 })
    focus(articles()[0])
  },
  l: () => document.querySelector<HTMLElement>("#live button, main a[rel=next]")?.click(),
  r: press(`a[href*="/publish?reply_to="]`),
  m: press(`[data-key="m"]`),
  p: press("header a.by"),
  f: press(`button[value="favourite"], button[value="unfavourite"]`),
  b: press(`button[value="reblog"], button[value="unreblog"]`),
  q: press(`a[href*="/publish?quote="]`),
  o: press(".when a"),
  t: press(`[data-key="t"]`),
  e: press("a.file, video, audio"),
  x: toggle("details.warning, details.filtered"),
  h: toggle("details.hidden-files"),
  n: write,
  s: search,
  "/": search,
  "?": () => void openPage("/keys", null).catch(() => go("/keys")),
  Backspace: () => history.back()
}

const alternative: Readonly<Record<string, () => void>> = {
  n: () => go("/publish"),
  x: warn,
  PageDown: move(1),
  PageUp: move(-1)
}

const fields = "input:not([type=checkbox], [type=radio], [type=submit]), textarea, select, [contenteditable]"
let startedAt = -Infinity

const isPlace = (key: string): key is keyof typeof places => Object.hasOwn(places, key)

const handle = (event: KeyboardEvent): boolean => {
  const { altKey, code, key, target } = event
  const isField = target instanceof Element && target.closest(fields) !== null
  if (altKey) {
    const name = /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : key
    const act = Object.hasOwn(alternative, name) ? alternative[name] : undefined
    act?.()
    return act !== undefined
  }
  if (key === "Escape") {
    if (isField) leave()
    return false
  }
  if (isField) return false
  if (event.timeStamp - startedAt < sequenceMillisMax) {
    startedAt = -Infinity
    if (!isPlace(key)) return false
    go(places[key].replace("{me}", document.body.dataset["me"] ?? "/home"))
    return true
  }
  if (key === "g") {
    startedAt = event.timeStamp
    return true
  }
  if (/^[1-9]$/.test(key)) {
    // Pages without tabs have the menu.
    const tabs = document.querySelectorAll<HTMLElement>("nav.tabs a")
    const links = tabs.length > 0 ? tabs : document.querySelectorAll<HTMLElement>("nav.side a")
    const link = links[Number(key) - 1]
    link?.click()
    return link !== undefined
  }
  if (key === "Enter") {
    if (!(target instanceof HTMLElement) || !target.matches("main article")) return false
    press(".when a")()
    return true
  }
  const act = Object.hasOwn(acts, key) ? acts[key] : undefined
  act?.()
  return act !== undefined
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.defaultPrevented || event.isComposing) return
  if (document.querySelector("dialog[open]") !== null) return
  if (handle(event)) event.preventDefault()
})
