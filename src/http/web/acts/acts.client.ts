/* Acts on posts without a page load: sends the form, and replaces its article with the response. */

import { actionOf } from "../shell/parts.client.ts"

const partHeader = "x-murmuration-part"

/** Puts a fresh article in the place of an old one; opened warnings stay open, and menus close. */
export const replace = (article: Element, fresh: Element): void => {
  const detailsOf = (of: Element) => [...of.querySelectorAll<HTMLDetailsElement>("details:not(.more)")]
  const open = detailsOf(article).map((one) => one.open)
  for (const [at, one] of detailsOf(fresh).entries()) one.open = open[at] ?? one.open
  article.replaceWith(fresh)
}

/** Returns true if the focus is in an article, or nowhere. A reader who moved on keeps the focus where it is. */
const hasFocus = (article: Element): boolean =>
  article.contains(document.activeElement) || document.activeElement === document.body

/** Removes the article of a deleted post; the next one gets its focus. */
export const remove = (article: Element): void => {
  const all = [...document.querySelectorAll<HTMLElement>("main article")]
  const at = all.findIndex((one) => one === article)
  const next = all[at + 1] ?? all[at - 1] ?? document.querySelector("main")
  const isFocused = hasFocus(article)
  article.remove()
  if (!isFocused || !(next instanceof HTMLElement)) return
  next.tabIndex = -1
  next.focus({ preventScroll: true })
}

const replaced = (article: Element, text: string, act: string): void => {
  const replacement = new DOMParser().parseFromString(text, "text/html").querySelector("article")
  if (replacement === null) return remove(article)
  const fresh = document.importNode(replacement, true)
  const isFocused = hasFocus(article)
  replace(article, fresh)
  if (!isFocused) return
  const opposite = act.startsWith("un") ? act.slice(2) : `un${act}`
  const isSame = (one: HTMLButtonElement) => one.value === opposite || one.value === act
  const button = [...fresh.querySelectorAll("button")].find(isSame)
  const isHidden = button?.closest("details.more") !== null
  const target = button === undefined || isHidden ? fresh.querySelector<HTMLElement>("details.more > summary") : button
  target?.focus({ preventScroll: true })
}

const showAlert = (place: Element, text: string): void => {
  const alert = new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert]")
  if (alert === null) return
  place.querySelector("[role=alert]")?.remove()
  place.append(document.importNode(alert, true))
}

/** Sends the form of an act on a post; `place` shows a refusal. Returns false if the act was refused. */
export const send = async (
  form: HTMLFormElement,
  button: HTMLButtonElement,
  article: Element,
  place: Element
): Promise<boolean> => {
  if (form.ariaBusy === "true") return false
  form.ariaBusy = "true"
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form, button)) if (typeof value === "string") fields.append(name, value)
  try {
    const response = await fetch(form.action, { method: "POST", body: fields, headers: { [partHeader]: "status" } })
    const text = await response.text()
    if (response.redirected) location.assign(response.url)
    else if (response.ok) replaced(article, text, button.value)
    else showAlert(place, text)
    return response.ok
  } catch {
    // Without a connection the browser itself sends the form, and tells of the failure.
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "act", value: button.value }))
    form.submit()
    return false
  } finally {
    form.ariaBusy = "false"
  }
}

document.addEventListener("submit", (event) => {
  const { submitter, target: form } = event
  if (!(form instanceof HTMLFormElement) || !(submitter instanceof HTMLButtonElement)) return
  const article = form.closest("article")
  if (article === null || !actionOf(form).startsWith("/web/statuses/")) return
  event.preventDefault()
  void send(form, submitter, article, article)
})

// One menu is open at a time, and closes by Escape or a click elsewhere.
document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.more[open]")) {
    if (target instanceof Node && !menu.contains(target)) menu.open = false
  }
})
document.addEventListener("keydown", ({ key }) => {
  const menu = key === "Escape" ? document.querySelector<HTMLDetailsElement>("details.more[open]") : null
  if (menu === null) return
  menu.open = false
  menu.querySelector("summary")?.focus()
})
