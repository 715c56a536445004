/* Shows a chosen avatar with a square on it, which is moved to the part that is kept. */

import { movable, pointOf } from "../shell/focal.client.ts"

const place = document.querySelector<HTMLElement>(".crop-place")
const file = document.querySelector<HTMLInputElement>("input[type=file][name=avatar]")
const choice = document.querySelector<HTMLSelectElement>("select[name=avatar_focus]")

/** Returns the left or top edge of the square around a point; the square stays in the picture. */
const edgeOf = (length: number, edge: number, part: number): number =>
  Math.max(0, Math.min(length - edge, length * part - edge / 2))

const opened = (chosen: File, at: HTMLElement, choice: HTMLSelectElement): void => {
  const picture = document.createElement("img")
  const square = Object.assign(document.createElement("div"), { className: "square" })
  const crop = Object.assign(document.createElement("div"), { className: "crop" })
  const hint = Object.assign(document.createElement("p"), { className: "soft", textContent: at.dataset["hint"] ?? "" })
  picture.alt = ""
  const draw = () => {
    const { clientHeight, clientWidth } = picture
    const edge = Math.min(clientWidth, clientHeight)
    const { x, y } = pointOf(choice)
    square.style.width = square.style.height = `${edge}px`
    square.style.left = `${edgeOf(clientWidth, edge, x)}px`
    square.style.top = `${edgeOf(clientHeight, edge, y)}px`
  }
  /** Returns the nearest point at which the square is in the picture, so that no movement is lost at its edges. */
  const within = (length: number, part: number) => {
    const half = Math.min(picture.clientWidth, picture.clientHeight) / length / 2
    return Math.max(half, Math.min(1 - half, part))
  }
  picture.addEventListener("load", () => {
    movable({
      area: crop,
      mark: square,
      choice,
      draw,
      moved: (_, by) => {
        const { x, y } = pointOf(choice)
        return { x: within(picture.clientWidth, x) + by.x, y: within(picture.clientHeight, y) + by.y }
      },
      touched: () => undefined
    })
  }, { once: true })
  const reader = new FileReader()
  reader.addEventListener("load", () => picture.src = String(reader.result))
  reader.readAsDataURL(chosen)
  crop.append(picture, square)
  at.replaceChildren(hint, crop)
}

if (place !== null && file !== null && choice !== null) {
  file.addEventListener("change", () => {
    const chosen = file.files?.[0]
    choice.value = ""
    if (chosen === undefined) place.replaceChildren()
    else opened(chosen, place, choice)
  })
}
