/* Files of the composer: uploads with progress, paste and drop, focal points. */

import { movable, pointOf } from "../shell/focal.client.ts"

/** Pause before a file that is still being processed is asked for again, in milliseconds. */
const reloadMillis = 2_000

const fragmentOf = (text: string, selector: string): Element | null => {
  const fragment = new DOMParser().parseFromString(text, "text/html").querySelector(selector)
  return fragment === null ? null : document.importNode(fragment, true)
}

/** Adds the mark of the focal point to a picture. */
const focal = (item: Element, touched: () => void): void => {
  const area = item.querySelector<HTMLElement>(".thumb")
  const choice = item.querySelector<HTMLSelectElement>("select[name^=focus_]")
  if (area === null || choice === null || area.querySelector("img") === null) return
  const mark = document.createElement("span")
  mark.className = "point"
  area.append(mark)
  const draw = () => {
    const { x, y } = pointOf(choice)
    mark.style.left = `${x * 100}%`
    mark.style.top = `${y * 100}%`
  }
  movable({ area, mark, choice, draw, moved: (at) => at, touched })
}

/** Enlivens the files of a form; `touched` tells that the draft changed. */
export const files = (form: HTMLFormElement, touched: () => void): void => {
  const list = form.querySelector<HTMLUListElement>(".composed-files ul")
  const field = form.querySelector<HTMLInputElement>("input[type=file]")
  const add = form.querySelector<HTMLElement>(".composed-files .add")
  const uploads = form.querySelector<HTMLElement>(".uploads")
  if (list === null || field === null || add === null || uploads === null) return
  const filesMax = 4
  const full = () => list.children.length >= filesMax
  const updateAdd = () => add.hidden = full()

  const shown = (item: Element): void => {
    focal(item, touched)
    if (item instanceof HTMLElement && item.dataset["waiting"] !== undefined) {
      setTimeout(() => void reload(item), reloadMillis)
    }
  }
  const reload = async (item: HTMLElement) => {
    const response = await fetch(`/web/compose/files/${item.dataset["file"]}`)
    const replacement = response.ok ? fragmentOf(await response.text(), "li") : null
    if (replacement === null || !item.isConnected) return
    const [before, after] = [item, replacement].map((one) => one.querySelector("textarea"))
    if (before && after) after.value = before.value
    item.replaceWith(replacement)
    shown(replacement)
  }

  const upload = (file: File): Promise<void> =>
    new Promise((done) => {
      if (full()) return done()
      const bar = document.createElement("progress")
      bar.setAttribute("aria-label", file.name)
      uploads.append(bar)
      const data = new FormData()
      const token = form.querySelector<HTMLInputElement>("input[name=authenticity_token]")
      data.set("authenticity_token", token?.value ?? "")
      data.set("file", file)
      const request = new XMLHttpRequest()
      request.open("POST", "/web/compose/files")
      request.setRequestHeader("x-murmuration-part", "file")
      request.upload.addEventListener("progress", ({ loaded, total }) => {
        bar.max = total
        bar.value = loaded
      })
      request.addEventListener("loadend", () => {
        bar.remove()
        const item = request.status === 200 ? fragmentOf(request.responseText, "li") : null
        if (item === null) {
          const message = fragmentOf(request.responseText, "[role=alert]") ?? document.createElement("p")
          if (message.textContent === "") message.textContent = `${file.name}: ${request.status || "–"}`
          uploads.append(message)
        } else {
          list.append(item)
          shown(item)
          item.querySelector("textarea")?.focus()
          touched()
        }
        updateAdd()
        done()
      })
      request.send(data)
    })
  let last = Promise.resolve()
  const uploadAll = (chosen: Iterable<File>) => {
    uploads.replaceChildren()
    for (const file of chosen) last = last.then(() => upload(file))
  }

  field.multiple = true
  field.addEventListener("change", () => {
    const chosen = [...field.files ?? []]
    field.value = ""
    uploadAll(chosen)
  })
  form.querySelector<HTMLElement>("button[value=add_file]")?.setAttribute("hidden", "")
  form.addEventListener("paste", (event) => {
    const pasted = [...event.clipboardData?.files ?? []]
    if (pasted.length === 0) return
    event.preventDefault()
    uploadAll(pasted)
  })
  form.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return
    event.preventDefault()
    form.classList.add("dropping")
  })
  for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => form.classList.remove("dropping"))
  form.addEventListener("drop", (event) => {
    const dropped = [...event.dataTransfer?.files ?? []]
    if (dropped.length === 0) return
    event.preventDefault()
    uploadAll(dropped)
  })
  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[value^=remove_file_]") : null
    if (button === null) return
    event.preventDefault()
    button.closest("li")?.remove()
    updateAdd()
    field.focus()
    touched()
  })
  for (const item of list.children) shown(item)
}
