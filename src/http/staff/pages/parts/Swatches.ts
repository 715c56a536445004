import type { Messages } from "../../../../services/languages/Messages.ts"
import { type Html, html } from "../../../html/Html.ts"
import { accentOf, palette } from "../../../html/Palette.ts"

const [width, height] = [150, 72]

/** Preview of a link and a button in one colour scheme. An SVG, as the pages allow no inline styles. */
const swatch = ({ say }: Messages, scheme: keyof typeof palette, color: string | null): Html => {
  const { back, card, line } = palette[scheme]
  const { accent, onAccent } = color === null ? palette[scheme] : accentOf(color, scheme)
  const name = scheme === "light" ? say("Light mode") : say("Dark mode")
  return html`<figure class="swatch"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${name}: ${accent}">
<rect width="${width}" height="${height}" rx="8" fill="${back}"/>
<rect x="8" y="8" width="${width - 16}" height="${height - 16}" rx="6" fill="${card}" stroke="${line}"/>
<text x="20" y="42" font-size="16" fill="${accent}" text-decoration="underline">${say("Link")}</text>
<rect x="66" y="22" width="68" height="30" rx="6" fill="${accent}"/>
<text x="100" y="42" font-size="15" font-weight="600" text-anchor="middle" fill="${onAccent}">${say("Button")}</text>
</svg><figcaption>${name} <code>${accent}</code></figcaption></figure>`
}

/** Previews of an accent colour in light and dark; null previews the default colour. */
export const swatches = (words: Messages, color: string | null): Html =>
  html`<div class="row">${(["light", "dark"] as const).map((scheme) => swatch(words, scheme, color))}</div>`
