import { palette } from "./Palette.ts"
import { stylesheetFile } from "./StylesheetFile.ts"

export const stylesheetPath = "/assets/pages.css"

/** Returns colours as CSS variables: `onAccent` becomes `--on-accent`. */
const variables = (colors: Readonly<Record<string, string>>): string =>
  Object.entries(colors).map(([name, color]) =>
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${color};`
  ).join(" ")

/** Stylesheet of the server's own pages: one column, system fonts, light and dark by the reader's preference. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  ${variables(palette.light)}
}
@media (prefers-color-scheme: dark) {
  :root {
    ${variables(palette.dark)}
  }
}
*, ::before, ::after { box-sizing: border-box }
body {
  margin: 0; padding: 2rem 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
.skip { position: absolute; inset-block-start: -6rem; inset-inline-start: .5rem; padding: .75rem 1rem; background: var(--card); border-radius: .5rem; z-index: 3 }
.skip:focus { inset-block-start: .5rem }
main:focus { outline: none }
main, body > header, body > footer { max-width: 30rem; margin: 0 auto }
body > header { font-weight: 600; margin-bottom: 1rem }
body > header a { color: inherit; text-decoration: none }
body > footer { margin-top: 1rem; font-size: .875rem; color: var(--soft) }
main { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.5rem }
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0 0 1rem; unicode-bidi: plaintext; text-align: left }
[dir=rtl] h1 { text-align: right }
h2 { font-size: 1rem; margin: 0 }
p { margin: 0 0 1rem }
a { color: var(--accent) }
form { margin: 0 }
label { display: block; font-weight: 600; margin-bottom: 1rem }
input {
  display: block; width: 100%; margin-top: .25rem; padding: .625rem .75rem; font: inherit; font-weight: 400;
  color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: .5rem;
}
textarea, select {
  display: block; width: 100%; margin-top: .25rem; padding: .625rem .75rem; font: inherit; font-weight: 400;
  color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: .5rem;
}
input:is([type=checkbox], [type=radio]) {
  display: inline-block; flex: none; width: 1.25rem; height: 1.25rem; margin: 0 .5rem 0 0; padding: 0;
  accent-color: var(--accent); vertical-align: text-bottom;
}
label.check, label.row:has([type=checkbox]) { display: flex; flex-wrap: nowrap; gap: 0; align-items: flex-start; font-weight: 400 }
.button {
  display: inline-block; font-weight: 600; padding: .625rem 1.25rem; border-radius: .5rem; text-decoration: none;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
}
main ol { padding-inline: 1.5rem }
ol.steps { padding-inline-start: 1.25rem }
ol.steps li { margin-bottom: 1rem }
section + section, section.below { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line) }
section > h2 { margin-bottom: .75rem }
button {
  font: inherit; font-weight: 600; padding: .625rem 1.25rem; border-radius: .5rem; cursor: pointer;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
}
button.quiet { background: none; color: var(--text); border-color: var(--line) }
button.danger { background: none; color: var(--danger); border-color: var(--danger) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.below { margin-top: 1.25rem; padding-top: 1rem; border-top: 1px solid var(--line) }
.below button { padding: .25rem .75rem }
form.below + p { margin-top: 1.25rem }
main > :last-child, main > :last-child > p { margin-bottom: 0 }
.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center }
.soft { color: var(--soft) }
.hint { display: block; font-weight: 400; font-size: .875rem; color: var(--soft) }
.problem, .done { padding: .75rem 1rem; border-radius: .5rem; margin-bottom: 1rem }
.problem { background: var(--danger-back); color: var(--danger) }
.done { background: var(--good-back) }
.scopes, .apps { list-style: none; margin: 0 0 1.25rem; padding: 0; border-top: 1px solid var(--line) }
.scopes li, .apps > li { padding: .75rem 0; border-bottom: 1px solid var(--line) }
.scopes p, .apps p { margin: 0; font-size: .9375rem; color: var(--soft) }
.badge { font-size: .8125rem; padding: .125rem .5rem; border-radius: 1rem; border: 1px solid var(--line); color: var(--soft) }
.scopes li.dangerous { border-inline-start: 4px solid var(--danger); padding: .75rem; background: var(--danger-back) }
.dangerous h2, .dangerous .badge { color: var(--danger); border-color: var(--danger) }
.scopes .row, .apps .row { justify-content: space-between; gap: .25rem .75rem; margin-bottom: .25rem }
.qr svg { display: block; width: 100%; max-width: 16rem; margin: 0 auto 1rem; border-radius: .5rem }
code.secret {
  display: block; padding: .75rem; margin-bottom: 1rem; background: var(--back); border: 1px dashed var(--line);
  border-radius: .5rem; user-select: all;
}
`

export const layer = stylesheetFile(stylesheetPath, stylesheet)
