/* Opens the small pages of acts, such as the question before a deletion, as a dialog over the page. */

import { actionOf, dialogOf } from "../shell/parts.client.ts"
import { send } from "./acts.client.ts"

const dialog = dialogOf("page-dialog")
let opener: HTMLElement | null = null

/** Opens the content of one of this server's pages in the dialog; follows the link if that fails. */
export const openPage = async (href: string, from: HTMLElement | null): Promise<void> => {
  const response = await fetch(href)
  const page = new DOMParser().parseFromString(await response.text(), "text/html")
  const [title, main] = [page.querySelector("h1"), page.querySelector("main")]
  const place = dialog?.querySelector("div")
  if (!response.ok || response.redirected || title === null || main === null || !dialog || !place) {
    return location.assign(href)
  }
  // The article in question is on the page below.
  for (const one of main.querySelectorAll(".shown, .back, #offline, .done")) one.remove()
  dialog.setAttribute("aria-label", title.textContent)
  place.replaceChildren(...[...main.childNodes].map((one) => document.importNode(one, true)))
  for (const one of place.querySelectorAll("[id]")) one.removeAttribute("id")
  opener = from
  dialog.showModal()
  // A post in the dialog is for reading: a press would act on it. The browser has put the focus on the button that closes.
  const fields = place.querySelectorAll<HTMLElement>("input:not([type=hidden]), select, textarea, button")
  for (const one of fields) if (one.closest("article") === null) return one.focus()
}

document.addEventListener("click", (event) => {
  const { target } = event
  if (!(target instanceof Element) || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
  const link = target.closest<HTMLAnchorElement>("a[data-dialog]")
  if (link === null || dialog === null) return
  event.preventDefault()
  const menu = link.closest<HTMLDetailsElement>("details.more")
  if (menu !== null) menu.open = false
  openPage(link.href, menu?.querySelector("summary") ?? link).catch(() => location.assign(link.href))
})

dialog?.addEventListener("submit", (event) => {
  const { submitter, target: form } = event
  if (!(form instanceof HTMLFormElement) || !(submitter instanceof HTMLButtonElement) || form.method === "dialog") {
    return
  }
  const pathname = actionOf(form)
  const article = opener?.closest("article")
  if (!article || !/^\/web\/statuses\/\d+$/.test(pathname)) return
  event.preventDefault()
  const shown = /^status-(\d+)$/.exec(article.id)?.[1]
  if (shown !== undefined && !form.querySelector("[name=shown]")) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "shown", value: shown }))
  }
  const all = [...document.querySelectorAll<HTMLElement>("main article")]
  const at = all.findIndex((one) => one === article)
  const next = all[at + 1] ?? all[at - 1]
  const sendAndClose = async () => {
    if (!(await send(form, submitter, article, form))) return
    opener = null
    dialog.close()
    // The focused element was replaced: focus the new article, or the next post after a deletion.
    const fresh = document.querySelector<HTMLElement>(`#${article.id} summary.act`)
    if (fresh === null && next !== undefined) next.tabIndex = -1
    const target = fresh ?? next
    target?.focus({ preventScroll: true })
  }
  void sendAndClose()
})

dialog?.addEventListener("close", () => opener?.focus({ preventScroll: true }))
