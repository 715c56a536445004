/* Shows a chosen avatar with a square on it, which is dragged to the part that is kept. */

const edgeOf = (picture: HTMLImageElement): number => Math.min(picture.clientWidth, picture.clientHeight)

const place = document.querySelector<HTMLElement>(".crop-place")
const file = document.querySelector<HTMLInputElement>("input[type=file][name=avatar]")
const focus = document.querySelector<HTMLInputElement>("input[name=avatar_focus]")

/** Position of the square, from 0 to 1 of the space that it can move in. */
const shift = { x: 0.5, y: 0.5 }

const shown = (picture: HTMLImageElement, square: HTMLElement, field: HTMLInputElement): void => {
  const edge = edgeOf(picture)
  const slack = { x: picture.clientWidth - edge, y: picture.clientHeight - edge }
  square.style.width = square.style.height = `${edge}px`
  square.style.left = `${slack.x * shift.x}px`
  square.style.top = `${slack.y * shift.y}px`
  const part = (space: number, length: number, at: number) => (space * at + edge / 2) / length * 2 - 1
  const x = part(slack.x, picture.clientWidth, shift.x)
  const y = -part(slack.y, picture.clientHeight, shift.y)
  field.value = `${x.toFixed(3)},${y.toFixed(3)}`
}

const opened = (chosen: File, at: HTMLElement, field: HTMLInputElement): void => {
  const picture = document.createElement("img")
  const square = Object.assign(document.createElement("div"), { className: "square", tabIndex: 0 })
  const crop = Object.assign(document.createElement("div"), { className: "crop" })
  const hint = Object.assign(document.createElement("p"), { className: "soft", textContent: at.dataset["hint"] ?? "" })
  square.setAttribute("role", "img")
  square.setAttribute("aria-label", hint.textContent)
  picture.alt = ""
  shift.x = shift.y = 0.5
  const render = () => shown(picture, square, field)
  const moved = (x: number, y: number) => {
    const edge = edgeOf(picture)
    const limited = (value: number) => Math.max(0, Math.min(1, value))
    const [width, height] = [picture.clientWidth - edge, picture.clientHeight - edge]
    if (width > 0) shift.x = limited(shift.x + x / width)
    if (height > 0) shift.y = limited(shift.y + y / height)
    render()
  }
  crop.addEventListener("pointerdown", (event) => crop.setPointerCapture(event.pointerId))
  crop.addEventListener("pointermove", (event) => {
    if (crop.hasPointerCapture(event.pointerId)) moved(event.movementX, event.movementY)
  })
  square.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[event.key]
    if (step === undefined) return
    event.preventDefault()
    moved(step[0] ?? 0, step[1] ?? 0)
  })
  picture.addEventListener("load", render)
  const reader = new FileReader()
  reader.addEventListener("load", () => picture.src = String(reader.result))
  reader.readAsDataURL(chosen)
  crop.append(picture, square)
  at.replaceChildren(hint, crop)
}

if (place !== null && file !== null && focus !== null) {
  file.addEventListener("change", () => {
    const chosen = file.files?.[0]
    focus.value = "0,0"
    if (chosen === undefined) place.replaceChildren()
    else opened(chosen, place, focus)
  })
}
