import { stylesheetFile } from "../../html/StylesheetFile.ts"

export const staffStylePath = "/assets/staff.css"

/**
 * Styles of the staff area on top of the common stylesheet: side navigation, wide content, and cards instead of tables
 * on phones.
 */
const stylesheet = `
body { padding: 0; display: grid; grid-template-columns: 14rem minmax(0, 84rem); grid-template-rows: auto 1fr; justify-content: center; gap: 0 1.5rem; min-height: 100vh }
main { max-width: none; width: 100%; margin: 0; background: none; border: 0; border-radius: 0; padding: .75rem 1rem 4rem }
body > header.staff {
  grid-column: 1 / -1; max-width: none; width: 100%; margin: 0; padding: .75rem 1rem; font-weight: 400; display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: center;
}
header.staff p { margin: 0; font-weight: 600 }
header.staff p .soft { font-weight: 400 }
header.staff .home { margin-inline-end: auto }
header.staff form { display: flex; gap: .75rem; align-items: center; flex-wrap: wrap }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
nav.side { padding: 0 0 2rem; font-size: .9375rem }
nav .section { margin: 1rem .75rem .25rem; font-size: .75rem; font-weight: 600; color: var(--soft); letter-spacing: .04em; text-transform: uppercase }
nav.side ul, .menu ul { list-style: none; margin: 0; padding: 0 }
nav.side li a, .menu li a {
  display: flex; justify-content: space-between; align-items: center; gap: .5rem; padding: .4375rem .75rem; border-radius: .5rem;
  color: inherit; text-decoration: none;
}
nav.side li a:hover, .menu li a:hover { background: var(--card) }
nav [aria-current=page] { color: var(--accent); font-weight: 600 }
.count { font-size: .75rem; font-weight: 600; padding: 0 .5rem; border-radius: 1rem; background: var(--accent); color: var(--on-accent) }
.menu { display: none; grid-column: 1 / -1; background: var(--card); border-bottom: 1px solid var(--line) }
.menu summary { cursor: pointer; padding: .75rem 1rem; font-weight: 600 }
.menu nav { padding: 0 .5rem 1rem }
main h1 { font-size: 1.625rem; margin-bottom: 1.25rem }
main h2 { font-size: 1.0625rem; margin: 0 0 .75rem }
main h3 { font-size: .9375rem; margin: 1rem 0 .5rem }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin-bottom: 1.25rem }
main > .card > p { margin-bottom: 1rem }
.card > :last-child, .card > form:last-child > :last-child { margin-bottom: 0 }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 0 1.25rem; align-items: start }
.columns > .card { margin-top: 0; padding-top: 1.25rem }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(9rem, 100%), 1fr)); gap: .75rem; list-style: none; margin: 0 0 1.25rem; padding: 0 }
.tiles a, .tiles > li > div {
  display: block; height: 100%; padding: 1rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  text-decoration: none; color: inherit;
}
.tiles a:hover { border-color: var(--accent) }
.tiles strong { display: block; font-size: 1.5rem; line-height: 1.2 }
.tiles a.wait { border-inline-start: 4px solid var(--accent) }
label { margin-bottom: .875rem }
label > input, textarea, select { margin-top: .25rem }
textarea, select {
  display: block; width: 100%; padding: .5rem .75rem; font: inherit; font-weight: 400; color: inherit; background: var(--back);
  border: 1px solid var(--line); border-radius: .5rem;
}
input { padding: .5rem .75rem }
input, select { min-height: 2.625rem; line-height: 1.5 }
select { padding-inline-start: .5rem }
input[type=color] { width: 4rem; padding: .25rem }
input[type=checkbox], input[type=radio] { display: inline-block; width: 1.125rem; height: 1.125rem; min-height: 0; margin: 0; accent-color: var(--accent); vertical-align: middle }
label.check { display: flex; gap: .625rem; align-items: baseline; font-weight: 400 }
label.check input { flex: none; position: relative; top: .125rem }
button { padding: .5rem 1rem }
::file-selector-button { font: inherit; font-size: .875rem; padding: .125rem .75rem; margin-inline-end: .75rem; border: 1px solid var(--line); border-radius: .375rem; background: var(--card); color: inherit; cursor: pointer }
button.small { padding: .1875rem .75rem; font-size: .875rem }
fieldset { border: 0; margin: 0 0 .875rem; padding: 0; min-width: 0 }
legend { font-weight: 600; padding: 0; margin-bottom: .375rem }
.filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 100%), 1fr)); gap: 0 .875rem; align-items: end; margin-bottom: 1rem }
.filters label, .filters p { margin-bottom: .75rem; font-size: .875rem }
.filtering { margin-bottom: 1rem }
.filtering > summary { display: inline-block; padding: .25rem .75rem; border: 1px solid var(--line); border-radius: .5rem; font-size: .875rem; font-weight: 600; margin-bottom: .5rem }
.filtering > summary::after { content: " ▾" }
.filtering[open] > summary::after { content: " ▴" }
.tabs { display: flex; flex-wrap: wrap; gap: .25rem; margin: 0 0 1rem; border-bottom: 1px solid var(--line) }
.tabs a { padding: .5rem .875rem; color: var(--text); text-decoration: none; border-bottom: 3px solid transparent }
.tabs [aria-current] { border-color: var(--accent); font-weight: 600 }
.bulk { padding: .625rem 0; gap: .5rem }
.bulk button { padding: .25rem .75rem; font-size: .875rem }
table { width: 100%; border-collapse: collapse; font-size: .9375rem }
main > table, main > form > table { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; border-collapse: separate; border-spacing: 0 }
th, td { text-align: start; vertical-align: top; padding: .625rem .875rem }
thead th { font-size: .8125rem; color: var(--soft); font-weight: 600 }
thead th, td time { overflow-wrap: normal }
td time { white-space: nowrap }
td { min-width: 5.5rem }
main > table, main > form > table { margin-bottom: 1rem }
.card form + table { margin-top: .75rem }
td .account { min-width: 8rem }
tbody td, tbody th { border-top: 1px solid var(--line) }
tbody th { font-weight: 400 }
.card table :is(td, th):first-child { padding-inline-start: 0 }
.card table :is(td, th):last-child { padding-inline-end: 0 }
td form { display: inline }
td .row { gap: .375rem .5rem }
td button { padding: .1875rem .625rem; font-size: .875rem }
.total { margin: 0 0 .5rem; font-size: .875rem; color: var(--soft) }
.pager { display: flex; gap: 1.5rem; padding: 1rem .25rem }
.empty { padding: 2.5rem 1rem; text-align: center; color: var(--soft); background: var(--card); border: 1px dashed var(--line); border-radius: .75rem }
.card .empty { padding: .75rem 1rem }
.notes button { padding: .125rem .625rem; font-size: .8125rem }
.notes .row + .written { margin-top: .5rem }
.badge { background: var(--back); white-space: nowrap; display: inline-block; font-size: .75rem; color: var(--text) }
.badge.good { background: var(--good-back); border-color: transparent }
.badge.warn { background: var(--warn-back, #fdf3d8); border-color: transparent; color: var(--warn, #5c4300) }
.badge.bad { background: var(--danger-back); border-color: transparent; color: var(--danger) }
@media (prefers-color-scheme: dark) { .badge.warn { background: #3d3214; color: #f5d68a } }
.about { margin: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: 0 1.5rem }
.about div { padding: .5rem 0; border-top: 1px solid var(--line) }
.about dt { font-size: .8125rem; color: var(--soft) }
.about dd { margin: 0 }
.written { white-space: pre-line; background: var(--back); padding: .75rem 1rem; border-radius: .5rem; margin: 0 0 .75rem }
.account { display: inline-flex; gap: .625rem; align-items: center; color: inherit; text-decoration: none }
.account:hover .handle { text-decoration: underline }
.account img { width: 2.25rem; height: 2.25rem; border-radius: .5rem; background: var(--back); flex: none }
.account .name { display: block; font-weight: 600; line-height: 1.25; text-align: left; max-height: 2.5em;
  overflow: hidden }
[dir=rtl] .account .name { text-align: right }
.account .handle { color: var(--soft); font-size: .875rem }
.account .name + .handle { display: block; line-height: 1.25 }
.done { background: var(--good-back); justify-content: space-between }
.done p { margin: 0 }
.ask { max-width: 40rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.5rem }
.ask form { margin-top: 1.25rem }
.ask form > :last-child { margin-bottom: 0 }
.plot { margin: 0 }
.plot figcaption { font-weight: 600; margin-bottom: .5rem }
.plot figcaption .soft { font-weight: 400; font-size: .875rem; margin-inline-start: .375rem }
.plot svg { display: block; width: 100%; height: auto }
.plot .bar { fill: var(--accent) }
.plot .axis { stroke: var(--line) }
.plot p.axis { display: flex; justify-content: space-between; gap: 1rem; margin: .25rem 0; font-size: .8125rem; color: var(--soft) }
.plot details { margin-top: .5rem; font-size: .875rem }
summary { cursor: pointer }
.scroll { max-height: 16rem; overflow: auto }
.preview { max-width: 100%; height: auto; border-radius: .5rem; border: 1px solid var(--line); background: var(--back) }
.swatch { margin: 0 0 1rem; font-size: .875rem; color: var(--soft) }
.swatch svg { display: block; margin-bottom: .25rem }
.card form + form { margin-top: .75rem }
.share { display: block; width: 100%; height: .375rem; margin-top: .25rem }
.share .all { fill: var(--line) }
.share .used { fill: var(--accent) }
.share .full { fill: var(--danger) }
.post { padding: .875rem 0; border-top: 1px solid var(--line) }
.post:first-of-type { border-top: 0 }
.post p { margin: 0 0 .5rem }
.said { white-space: pre-line }
.grow { flex: 1; min-width: 0 }
.files { margin: 0 0 .5rem; padding-inline-start: 1.25rem }
.notes { list-style: none; margin: 0 0 1rem; padding: 0 }
.notes > li { padding: .75rem 0; border-top: 1px solid var(--line) }
.notes > li:first-child { border-top: 0 }
.right { text-align: end }
.row.top { gap: .75rem 1.25rem; margin-bottom: 1.25rem }
.row.badges { gap: .25rem }
.content p { margin: 0 0 .5rem }
@media (max-width: 60rem) {
  body { display: block }
  nav.side { display: none }
  .menu { display: block }
  body > header.staff { padding: .625rem 1rem }
  main { padding: 1.25rem 1rem 3rem }
  td time { white-space: normal }
  td { min-width: 4rem }
}
@media (max-width: 40rem) {
  main > table, main > form > table { border: 0; background: none }
  table.stacked thead { display: none }
  table.stacked tr { display: block; padding: .5rem 0; border-top: 1px solid var(--line) }
  main > table.stacked tr, main > form > table.stacked tr { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin-bottom: .75rem; padding: .5rem .25rem }
  td[data-head] { min-width: 0; display: flex; flex-wrap: wrap; gap: 0 .5rem; border: 0; padding: .375rem .75rem }
  td[data-head]::before { flex: 0 1 7.5rem }
  td[data-head] > div { flex: 1 1 8rem; min-width: 0 }
  .badge { white-space: normal }
  .card td[data-head] { padding: .25rem 0 }
  td[data-head]::before { content: attr(data-head); font-size: .8125rem; color: var(--soft) }
  td:has(> div:empty) { display: none !important }
  td.right { text-align: start }
  .filters { grid-template-columns: 1fr 1fr }
  .filters p { grid-column: 1 / -1 }
  :is(th, td):not([data-head]) { padding: .5rem }
  .card { padding: 1rem }
}
`

export const layer = stylesheetFile(staffStylePath, stylesheet)
