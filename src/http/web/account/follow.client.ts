/* Follows and unfollows without a page load: sends the form, and replaces it with the response. */

const followed = async (form: HTMLFormElement, button: HTMLButtonElement): Promise<void> => {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form, button)) if (typeof value === "string") fields.append(name, value)
  const response = await fetch(form.action, {
    method: "POST",
    body: fields,
    headers: { "x-murmuration-part": "follow" }
  })
  if (response.redirected) return location.assign(response.url)
  const made = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild
  if (made === null) return location.reload()
  const fresh = document.importNode(made, true)
  form.parentElement?.querySelector("[role=alert]")?.remove()
  if (!response.ok) return form.after(fresh)
  form.replaceWith(fresh)
  fresh.querySelector("button")?.focus({ preventScroll: true })
}

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
