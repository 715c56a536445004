/* Acts on posts without leaving one's place: sends the form, and replaces its article with the response. */

const partHeader = "x-murmuration-part"

const replaced = (article: Element, text: string, act: string): void => {
  const made = new DOMParser().parseFromString(text, "text/html").querySelector("article")
  if (made === null) return
  // Opened details stay open.
  const open = [...article.querySelectorAll("details")].map((one) => one.open)
  const fresh = document.importNode(made, true)
  for (const [at, one] of [...fresh.querySelectorAll("details")].entries()) one.open = open[at] ?? one.open
  article.replaceWith(fresh)
  const opposite = act.startsWith("un") ? act.slice(2) : `un${act}`
  const button = fresh.querySelector<HTMLElement>(`button[value="${opposite}"], button[value="${act}"]`)
  button?.focus({ preventScroll: true })
}

const told = (article: Element, text: string): void => {
  const made = new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert]")
  if (made === null) return
  article.querySelector("[role=alert]")?.remove()
  article.append(document.importNode(made, true))
}

document.addEventListener("submit", (event) => {
  const { submitter, target: form } = event
  if (!(form instanceof HTMLFormElement) || !(submitter instanceof HTMLButtonElement)) return
  const article = form.closest("article")
  if (article === null || !new URL(form.action).pathname.startsWith("/web/statuses/")) return
  event.preventDefault()
  if (form.ariaBusy === "true") return
  form.ariaBusy = "true"
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form, submitter)) if (typeof value === "string") fields.append(name, value)
  const send = async () => {
    const response = await fetch(form.action, { method: "POST", body: fields, headers: { [partHeader]: "status" } })
    const text = await response.text()
    if (response.redirected) location.assign(response.url)
    else if (response.ok) replaced(article, text, submitter.value)
    else told(article, text)
  }
  // Without a connection the browser itself sends the form, and tells of the failure.
  send().catch(() => {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "act", value: submitter.value }))
    form.submit()
  }).finally(() => form.ariaBusy = "false")
})
