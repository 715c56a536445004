/* Completion of names, hashtags and emoji in a text field. */

import { insert } from "./insertion.client.ts"

/** Pause in typing before completions are asked for, in milliseconds. */
const pauseMillis = 200

/** Beginning of a name, a hashtag or an emoji before the caret. */
const beginning = /(?:^|\s)(@[\w.-]+(?:@[\w.-]*)?|#[\p{L}\p{N}_]+|:\w{2,})$/u

interface Completion {
  readonly text: string
  readonly label: string
  readonly image?: string
}

let lists = 0

/** Completes what is typed into a field. */
export const complete = (field: HTMLTextAreaElement, touched: () => void): void => {
  const list = document.createElement("ul")
  list.id = `completions-${++lists}`
  list.className = "completions"
  list.setAttribute("role", "listbox")
  list.setAttribute("aria-label", field.labels?.[0]?.firstChild?.textContent ?? "")
  let found: ReadonlyArray<Completion> = []
  let chosen = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const typed = () => beginning.exec(field.value.slice(0, field.selectionStart))?.[1]
  const close = () => {
    found = []
    list.remove()
    field.removeAttribute("aria-controls")
    field.removeAttribute("aria-activedescendant")
  }
  const choose = (index: number) => {
    chosen = (index + found.length) % found.length
    ;[...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)))
    field.setAttribute("aria-activedescendant", `${list.id}-${chosen}`)
  }
  const take = () => {
    const text = typed()
    const completion = found[chosen]
    if (text !== undefined && completion !== undefined) {
      insert(field, field.selectionStart - text.length, `${completion.text} `)
      touched()
    }
    close()
  }
  const show = () => {
    list.replaceChildren(...found.map(({ image, label }, at) => {
      const item = document.createElement("li")
      item.id = `${list.id}-${at}`
      item.setAttribute("role", "option")
      if (image !== undefined) item.append(Object.assign(new Image(), { src: image, alt: "" }))
      item.append(label)
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault()
        chosen = at
        take()
      })
      return item
    }))
    field.parentElement?.after(list)
    field.setAttribute("aria-controls", list.id)
    choose(0)
  }
  const ask = async () => {
    const text = typed()
    if (text === undefined) return close()
    const response = await fetch(`/web/compose/completions?${new URLSearchParams({ q: text })}`)
    if (!response.ok || typed() !== text) return
    found = await response.json()
    if (found.length === 0) close()
    else show()
  }

  field.setAttribute("aria-autocomplete", "list")
  field.addEventListener("input", () => {
    clearTimeout(timer)
    if (typed() === undefined) close()
    else timer = setTimeout(() => void ask().catch(close), pauseMillis)
  })
  field.addEventListener("blur", close)
  field.addEventListener("keydown", (event) => {
    if (found.length === 0 || event.ctrlKey || event.metaKey) return
    switch (event.key) {
      case "ArrowDown":
        choose(chosen + 1)
        break
      case "ArrowUp":
        choose(chosen - 1)
        break
      case "Enter":
      case "Tab":
        take()
        break
      case "Escape":
        close()
        break
      default:
        return
    }
    event.preventDefault()
  })
}
