/* Marks notifications as read once they are visible: sends the form that does so without scripts. */

import { recount } from "../live/badge.client.ts"

const send = async (form: HTMLFormElement): Promise<void> => {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form, form.querySelector("button"))) {
    if (typeof value === "string") fields.append(name, value)
  }
  const response = await fetch(form.action, { method: "POST", body: fields, redirect: "manual" })
  if (response.type !== "opaqueredirect") return
  form.remove()
  recount()
}

const sendVisible = (): void => {
  const form = document.querySelector<HTMLFormElement>("form.mark-read")
  if (form === null || document.visibilityState !== "visible") return
  document.removeEventListener("visibilitychange", sendVisible)
  // Without a connection the button stays.
  send(form).catch(() => undefined)
}

document.addEventListener("visibilitychange", sendVisible)
sendVisible()
