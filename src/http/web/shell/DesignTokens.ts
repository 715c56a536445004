import { palette } from "../../html/Palette.ts"

const colors = (scheme: keyof typeof palette): string =>
  Object.entries(palette[scheme]).map(([name, color]) =>
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${color};`
  ).join(" ")

/** Design tokens as CSS variables: colours of `Palette.ts`, spaces `--s1` to `--s6`, sizes of text, radii. */
export const tokens = `
:root {
  color-scheme: light dark;
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2rem;
  --small: .875rem; --body: 1rem; --large: 1.25rem;
  --round: .5rem; --rounder: .75rem; --measure: 38rem;
  ${colors("light")}
}
@media (prefers-color-scheme: dark) { :root:not(.light) { ${colors("dark")} } }
:root.light { color-scheme: light }
:root.dark { color-scheme: dark; ${colors("dark")} }
`
