import type { Messages } from "../../../../services/languages/Messages.ts"
import { type Html, html } from "../../../html/Html.ts"

/** A series of values with their labels, such as days or months. */
interface Plot {
  readonly title: string
  readonly points: ReadonlyArray<readonly [label: string, value: number]>
}

const [width, height, left] = [480, 120, 4]

/**
 * Bar chart, rendered on the server. Axis labels are outside the SVG, so that they keep their size. A table repeats the
 * values for screen readers.
 */
export const barChart = ({ figure, say }: Messages, { points, title }: Plot): Html => {
  const most = Math.max(1, ...points.map(([, value]) => value))
  const step = (width - left * 2) / Math.max(1, points.length)
  const [first, last] = [points[0], points.at(-1)]
  const total = points.reduce((sum, [, value]) => sum + value, 0)
  return html`<figure class="plot"><figcaption>${title} <span class="soft">${
    say("{total} in total", { total: figure(total) })
  }</span></figcaption>
<p class="axis" aria-hidden="true">${figure(total === 0 ? 0 : most)}</p>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${
    say("{title}: from {least} to {most}", {
      title,
      least: figure(Math.min(...points.map(([, value]) => value), most)),
      most: figure(Math.max(0, ...points.map(([, value]) => value)))
    })
  }">
<line class="axis" x1="0" x2="${width}" y1="${height}" y2="${height}"/>
${
    points.map(([label, value], at) => {
      const tall = value === 0 ? 0 : Math.max(2, Math.round((value / most) * height))
      return html`<rect class="bar" x="${(left + at * step + step * 0.12).toFixed(1)}" y="${height - tall}" width="${
        Math.max(1, step * 0.76).toFixed(1)
      }" height="${tall}" rx="2"><title>${label}: ${figure(value)}</title></rect>`
    })
  }
</svg>
<p class="axis" aria-hidden="true"><span>${first?.[0] ?? ""}</span> <span>${last?.[0] ?? ""}</span></p>
<details><summary>${
    say("Show as table")
  }</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><caption class="spoken">${title}</caption><tbody>${
    points.map(([label, value]) => html`<tr><th scope="row">${label}</th><td>${figure(value)}</td></tr>`)
  }</tbody></table></div></details></figure>`
}

/** Returns a bar that shows the part of `max` in use; empty if `max` is 0 or less. */
export const usageBar = (used: number, max: number): Html => {
  const part = max <= 0 ? 0 : Math.min(1, used / max)
  return html`<svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="6" rx="3"/><rect class="${
    part > 0.9 ? "used full" : "used"
  }" width="${(part * 100).toFixed(1)}" height="6" rx="3"/></svg>`
}
