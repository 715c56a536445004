import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Points of a picture, from -1 to 1 each, that browsers without scripts offer; the empty one is the centre. */
const points = ["", "0,1", "0,-1", "-1,0", "1,0"] as const

/**
 * Renders the choice of the point that stays visible where a picture is cropped. Scripts add a mark on the picture, and
 * set any other point (`focal.client.ts`).
 */
export const focalPoint = (
  { reader: { words: { say } } }: Visit,
  name: string,
  label: string,
  chosen: string
): Html => {
  const labels = {
    "": say("Centre"),
    "0,1": say("Top"),
    "0,-1": say("Bottom"),
    "-1,0": say("Left"),
    "1,0": say("Right")
  }
  const known = points.some((point) => point === chosen)
  return html`<label>${label}<select name="${name}" data-chosen="${say("Chosen point")}">${
    known ? "" : html`<option value="${chosen}" selected>${say("Chosen point")}</option>`
  }${
    points.map((point) =>
      html`<option value="${point}"${point === chosen ? html` selected` : ""}>${labels[point]}</option>`
    )
  }</select></label>`
}
