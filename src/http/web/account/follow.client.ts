/* Follows and unfollows without a page load: sends the form, and replaces it with the response. */

import { gathered } from "../live/gather.client.ts"

const followed = async (form: HTMLFormElement, button: HTMLButtonElement): Promise<void> => {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form, button)) if (typeof value === "string") fields.append(name, value)
  const response = await fetch(form.action, {
    method: "POST",
    body: fields,
    headers: { "x-murmuration-part": "follow" }
  })
  if (response.redirected) return location.assign(response.url)
  const replacement = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild
  if (replacement === null) return location.reload()
  const fresh = document.importNode(replacement, true)
  form.parentElement?.querySelector("[role=alert]")?.remove()
  if (!response.ok) return form.after(fresh)
  form.replaceWith(fresh)
  fresh.querySelector("button")?.focus({ preventScroll: true })
}

/** Maximum accounts of one request, as the server has it. */
const accountsMax = 80

const formsOf = (of: ParentNode) => [...of.querySelectorAll<HTMLFormElement>("form.follow")]
const actOf = (form: HTMLFormElement) => form.querySelector("button")?.value
const labelOf = (form: HTMLFormElement) => form.querySelector("button")?.textContent

/** Fetches the buttons of the page, and replaces those that offer something else now. */
const refresh = async (): Promise<void> => {
  const ids = new Set(formsOf(document).map(({ action }) => new URL(action).pathname.split("/").at(-1) ?? ""))
  if (ids.size === 0) return
  const response = await fetch(`/web/follows?ids=${[...ids].slice(0, accountsMax).join(",")}`)
  if (!response.ok || response.redirected) return
  const freshForms = formsOf(new DOMParser().parseFromString(await response.text(), "text/html"))
  for (const form of formsOf(document)) {
    const fresh = freshForms.find(({ action }) => action === form.action)
    if (fresh === undefined || form.ariaBusy === "true") continue
    if (actOf(fresh) === actOf(form) && labelOf(fresh) === labelOf(form)) continue
    const isFocused = form.contains(document.activeElement)
    const shown = document.importNode(fresh, true)
    form.replaceWith(shown)
    if (isFocused) shown.querySelector("button")?.focus({ preventScroll: true })
  }
}

// `live.client.ts` tells that follows, requests or blocks of the reader may have changed.
document.addEventListener("relations", gathered(refresh))

document.addEventListener("submit", (event) => {
  const { submitter, target: form } = event
  if (!(form instanceof HTMLFormElement) || !(submitter instanceof HTMLButtonElement)) return
  if (!form.classList.contains("follow") || form.ariaBusy === "true") return
  event.preventDefault()
  form.ariaBusy = "true"
  followed(form, submitter).catch(() => {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "act", value: submitter.value }))
    form.submit()
  }).finally(() => form.ariaBusy = "false")
})
