import { manualStyle } from "../docs/ManualStyle.ts"
import { stylesheetFile } from "../html/StylesheetFile.ts"

export const publicStylePath = "/assets/public.css"

/** Styles of profiles, posts, the API reference and the guides, in addition to the common stylesheet. */
const stylesheet = `
main, body > header, body > footer { max-width: 42rem }
h2 { font-size: 1.125rem; margin: 1.5rem 0 .75rem }
h2:first-child { margin-top: 0 }
section + section { margin-top: 1.5rem }
ul.plain { list-style: none; margin: 0 0 1rem; padding: 0 }
.banner { display: block; width: calc(100% + 3rem); margin: 0 -1.5rem; height: 9rem; object-fit: cover }
.who { display: flex; gap: 1rem; align-items: end; margin: -2.5rem 0 1rem }
.who img { width: 5.5rem; height: 5.5rem; border-radius: 1rem; border: 4px solid var(--card); background: var(--card) }
.who p { margin: 0 }
dl.figures { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0 0 1rem }
dl.figures div { display: flex; flex-direction: row-reverse; gap: .375rem }
dl.figures dd { margin: 0; font-weight: 700 }
dl.figures dt { color: var(--soft) }
dl.fields { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: .5rem }
dl.fields div { display: flex; gap: 1rem; padding: .5rem .75rem }
dl.fields div + div { border-top: 1px solid var(--line) }
dl.fields dt { flex: 0 0 8rem; color: var(--soft); font-weight: 600 }
dl.fields dd { margin: 0; min-width: 0 }
.posts { list-style: none; margin: 0; padding: 0 }
.posts > li { padding: 1rem 0; border-top: 1px solid var(--line) }
.quoted { margin: .75rem 0; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem }
.quoted > footer { font-size: .875rem }
.post > header, .quoted > header { display: flex; gap: .75rem; align-items: center; margin-bottom: .5rem }
img { max-width: 100% }
.post > header > img, .quoted > header > img { width: 2.75rem; height: 2.75rem; border-radius: .5rem }
.post > header p, .quoted > header p { margin: 0; line-height: 1.3 }
.post > header a, .quoted > header a { color: inherit; text-decoration: none }
.post > header a:hover, .quoted > header a:hover { text-decoration: underline }
.post > footer { font-size: .875rem; color: var(--soft); display: flex; flex-wrap: wrap; gap: .25rem 1rem }
.post > footer a, .quoted > footer a { color: inherit }
.post .boost { margin: 0 0 .5rem; font-size: .875rem; color: var(--soft) }
.media { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: .5rem; margin-bottom: .75rem }
.media img, .media video { display: block; width: 100%; max-height: 24rem; object-fit: cover; border-radius: .5rem }
.media > :not(:only-child), .media > a:not(:only-child) img { aspect-ratio: 3 / 2; height: 100% }
.media audio { width: 100% }
.media .still { display: none }
@media (prefers-reduced-motion: reduce) { .media .moving { display: none } .media .still { display: block } }
.emoji { display: inline; width: auto; height: 1.25em; vertical-align: -.25em; object-fit: contain }
.content { overflow-wrap: anywhere; margin-bottom: .75rem }
.content p { margin: 0 0 .75rem }
.content .invisible { font-size: 0; line-height: 0 }
.content .ellipsis::after { content: "…" }
.focus { padding: 1rem; margin: .5rem 0; border: 2px solid var(--accent); border-radius: .75rem }
main details > summary { cursor: pointer; font-weight: 600; margin-bottom: .5rem }
.operation { border: 1px solid var(--line); border-radius: .5rem; margin-bottom: .5rem; padding: .5rem .75rem }
.operation > summary { margin: 0; font-weight: 400 }
.operation code.method { display: inline-block; min-width: 4.5rem; font-weight: 700; color: var(--accent) }
.operation table { width: 100%; border-collapse: collapse; font-size: .875rem; margin: .5rem 0 }
.operation th, .operation td { text-align: start; vertical-align: top; padding: .25rem .5rem .25rem 0;
  border-top: 1px solid var(--line) }
.operation pre { overflow-x: auto; padding: .75rem; margin: .5rem 0; background: var(--back); border-radius: .5rem;
  font-size: .8125rem }
${manualStyle}`

export const layer = stylesheetFile(publicStylePath, stylesheet)
