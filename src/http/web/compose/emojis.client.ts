/* Emoji picker of the composer, made of the page that lists the emoji. */

import { insert } from "./insertion.client.ts"

/** Turns the link to the list of emoji into a button that opens a picker. */
export const emojiPicker = (form: HTMLFormElement, touched: () => void): void => {
  const link = form.querySelector<HTMLAnchorElement>("a[data-emojis]")
  if (link === null) return
  let target = form.querySelector("textarea")
  form.addEventListener("focusin", ({ target: focused }) => {
    if (focused instanceof HTMLTextAreaElement) target = focused
  })
  let picker: HTMLElement | undefined
  const close = () => {
    picker?.remove()
    picker = undefined
    link.setAttribute("aria-expanded", "false")
  }
  const open = async () => {
    const response = await fetch(link.href)
    const page = new DOMParser().parseFromString(await response.text(), "text/html")
    picker = document.createElement("div")
    picker.className = "emoji-picker"
    picker.setAttribute("role", "group")
    picker.setAttribute("aria-label", link.textContent ?? "")
    for (const section of page.querySelectorAll("main section")) {
      const copy = document.importNode(section, true)
      copy.removeAttribute("class")
      for (const item of copy.querySelectorAll<HTMLElement>("[data-emoji]")) {
        const text = item.dataset["emoji"] ?? ""
        const button = document.createElement("button")
        button.type = "button"
        button.title = text
        button.setAttribute("aria-label", text)
        button.append(item.querySelector("img") ?? text)
        button.addEventListener("click", () => {
          if (target === null) return
          insert(target, target.selectionStart, text)
          touched()
        })
        item.replaceChildren(button)
      }
      picker.append(copy)
    }
    picker.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape") return
      close()
      link.focus()
    })
    link.parentElement?.after(picker)
    link.setAttribute("aria-expanded", "true")
    picker.querySelector("button")?.focus()
  }
  link.setAttribute("role", "button")
  link.setAttribute("aria-expanded", "false")
  link.addEventListener("click", (event) => {
    event.preventDefault()
    if (picker === undefined) void open()
    else close()
  })
}
