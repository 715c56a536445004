/* Shows chosen profile pictures, each with a rectangle on it, which is moved to the part that is kept. */

import { movable, pointOf } from "../shell/focal.client.ts"

/** Width of the kept part by its height. */
const proportions: Readonly<Record<string, number>> = { avatar: 1, header: 3 }

/** Returns the left or top edge of the kept part around a point; the part stays in the picture. */
const edgeOf = (length: number, part: number, point: number): number =>
  Math.max(0, Math.min(length - part, length * point - part / 2))

const opened = (chosen: File, at: HTMLElement, choice: HTMLSelectElement, proportion: number): void => {
  const picture = document.createElement("img")
  const kept = Object.assign(document.createElement("div"), { className: "kept" })
  const crop = Object.assign(document.createElement("div"), { className: "crop" })
  const hint = Object.assign(document.createElement("p"), { className: "soft", textContent: at.dataset["hint"] ?? "" })
  picture.alt = ""
  /** Returns the size of the kept part: the largest of its proportion. */
  const size = () => {
    const width = Math.min(picture.clientWidth, picture.clientHeight * proportion)
    return { width, height: width / proportion }
  }
  const draw = () => {
    const { height, width } = size()
    const { x, y } = pointOf(choice)
    kept.style.width = `${width}px`
    kept.style.height = `${height}px`
    kept.style.left = `${edgeOf(picture.clientWidth, width, x)}px`
    kept.style.top = `${edgeOf(picture.clientHeight, height, y)}px`
  }
  /** Returns the nearest point at which the part is in the picture, so that no movement is lost at its edges. */
  const within = (length: number, part: number, point: number) => {
    const half = part / length / 2
    return Math.max(half, Math.min(1 - half, point))
  }
  picture.addEventListener("load", () => {
    movable({
      area: crop,
      mark: kept,
      choice,
      draw,
      moved: (_, by) => {
        const { height, width } = size()
        const { x, y } = pointOf(choice)
        return { x: within(picture.clientWidth, width, x) + by.x, y: within(picture.clientHeight, height, y) + by.y }
      },
      touched: () => undefined
    })
  }, { once: true })
  const reader = new FileReader()
  reader.addEventListener("load", () => picture.src = String(reader.result))
  reader.readAsDataURL(chosen)
  crop.append(picture, kept)
  at.replaceChildren(hint, crop)
}

for (const [kind, proportion] of Object.entries(proportions)) {
  const file = document.querySelector<HTMLInputElement>(`input[type=file][name=${kind}]`)
  const choice = document.querySelector<HTMLSelectElement>(`select[name=${kind}_focus]`)
  const place = file?.closest("div")?.querySelector<HTMLElement>(".crop-place")
  if (file === null || choice === null || !place) continue
  file.addEventListener("change", () => {
    const chosen = file.files?.[0]
    choice.value = ""
    if (chosen === undefined) place.replaceChildren()
    else opened(chosen, place, choice, proportion)
  })
}
