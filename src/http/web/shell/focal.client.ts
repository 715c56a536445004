/* Focal point of a picture: a mark that mouse, finger, pen and arrow keys move, beside the list of points. */

export interface Point {
  readonly x: number
  readonly y: number
}

/** Step of an arrow key, as a part of the picture. */
const step = 0.05

const steps: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -step, y: 0 },
  ArrowRight: { x: step, y: 0 },
  ArrowUp: { x: 0, y: -step },
  ArrowDown: { x: 0, y: step }
}

const limited = (value: number) => Math.max(0, Math.min(1, value))

/** Returns the chosen point, as parts of the picture from its left and its top. */
export const pointOf = (choice: HTMLSelectElement): Point => {
  const [x = 0, y = 0] = choice.value.split(",").map(Number)
  return { x: (x + 1) / 2, y: (1 - y) / 2 }
}

/** Chooses a point that may not be in the list. */
export const choose = (choice: HTMLSelectElement, { x, y }: Point): void => {
  const round = (value: number) => Math.round(value * 100) / 100
  const value = `${round(limited(x) * 2 - 1)},${round(1 - limited(y) * 2)}`
  const label = choice.dataset["chosen"] ?? ""
  const option = [...choice.options].find(({ text }) => text === label) ?? new Option(label)
  option.value = value
  choice.append(option)
  option.selected = true
}

/** Parts of a movable mark: the picture's box, the mark in it, and the list of points. */
interface Parts {
  readonly area: HTMLElement
  readonly mark: HTMLElement
  readonly choice: HTMLSelectElement
  /** Draws the mark at the chosen point. */
  readonly draw: () => void
  /** Returns the point for a movement by `by` that ended at `at` of the area. */
  readonly moved: (at: Point, by: Point) => Point
  /** Tells that the point changed. */
  readonly touched: () => void
}

/** Lets pointers and arrow keys move the mark. */
export const movable = ({ area, choice, draw, mark, moved, touched }: Parts): void => {
  const name = choice.labels[0]?.firstChild?.textContent ?? ""
  mark.tabIndex = 0
  mark.setAttribute("role", "slider")
  mark.setAttribute("aria-label", name)
  area.style.touchAction = "none"
  let last: Point | undefined
  const show = () => {
    const { x, y } = pointOf(choice)
    const [across, down] = [x, y].map((part) => Math.round(part * 100))
    mark.ariaValueNow = String(across)
    mark.ariaValueText = `${across}% / ${down}%`
    draw()
  }
  const move = (point: Point) => {
    choose(choice, point)
    show()
    touched()
  }
  const follow = ({ clientX, clientY }: PointerEvent) => {
    const { height, left, top, width } = area.getBoundingClientRect()
    const at = { x: (clientX - left) / width, y: (clientY - top) / height }
    const from = last ?? at
    last = at
    move(moved(at, { x: at.x - from.x, y: at.y - from.y }))
  }
  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return
    area.setPointerCapture(event.pointerId)
    last = undefined
    follow(event)
  })
  area.addEventListener("pointermove", (event) => {
    if (area.hasPointerCapture(event.pointerId)) follow(event)
  })
  // Else the browser drags the picture itself, which ends the pointer's events, or marks the picture as selected.
  for (const type of ["dragstart", "selectstart"]) area.addEventListener(type, (event) => event.preventDefault())
  mark.addEventListener("keydown", (event) => {
    const by = steps[event.key]
    if (by === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const { x, y } = pointOf(choice)
    move(moved({ x: x + by.x, y: y + by.y }, by))
  })
  choice.addEventListener("change", show)
  show()
}
