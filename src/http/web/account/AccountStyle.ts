/** Styles of accounts in lists. */
export const accountStyle = `
.people { list-style: none; margin: 0; padding: 0; border-block-start: 1px solid var(--line) }
.person { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: start; padding: var(--s3) var(--s4);
  background: var(--card); border: 1px solid var(--line); border-block-start-width: 0 }
.person > a img { display: block; border-radius: var(--round); object-fit: cover }
.person > div:nth-last-of-type(2) { flex: 1 1 12rem; min-width: 0 }
.person p { margin: 0; line-height: 1.35 }
.person .by { color: inherit; text-decoration: none }
.person .by:hover { text-decoration: underline }
.person .by strong, .note > header .by strong, .faces strong { display: inline-block; max-width: 100%; max-height: 2.7em;
  overflow: hidden; vertical-align: bottom }
.note > header .by strong, .faces strong { max-height: 3em }
.person .bio { font-size: var(--small); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
  overflow: hidden }
.person > label { align-self: center; margin: 0; padding: var(--s2); min-width: 24px; min-height: 24px }
.person-acts { display: flex; flex-wrap: wrap; gap: var(--s2); align-self: center }
.person-acts form { margin: 0 }
.person-acts button, .small { padding: var(--s1) var(--s3); font-size: var(--small); min-height: 36px }
.mark { font-size: .75rem; padding: 0 var(--s2); border: 1px solid var(--line); border-radius: var(--round);
  color: var(--soft); white-space: nowrap }
.person:target { border-inline-start: 3px solid var(--accent) }
.entry { padding: var(--s3) var(--s4); background: var(--card); border: 1px solid var(--line);
  border-block-start-width: 0; display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: center }
.entry > :first-child { flex: 1 1 12rem; min-width: 0 }
.entry form { margin: 0 }
.entries { list-style: none; margin: 0; padding: 0; border-block-start: 1px solid var(--line) }
.people:empty { display: none }
.bar-form { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: end; padding: var(--s3) var(--s4) }
.bar-form label { flex: 1 1 12rem }
.bar-form label:has(select) { flex-basis: 15rem }
.bar-form details, .bar-form summary { flex: 0 0 auto }
main summary { cursor: pointer }
.stack { display: grid; gap: var(--s3); padding: var(--s3) var(--s4); justify-items: start }
.stack > label { width: 100% }
.stack > label.check, label.check { display: flex; gap: var(--s2); align-items: flex-start; font-weight: 400; width: auto;
  min-height: 24px }
main > details { margin: var(--s3) var(--s4) }
.tools { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: center; padding: var(--s2) var(--s4) }
.tools form { margin: 0 }
.entry .tools, .panel .tools { padding-inline: 0 }
@media (pointer: coarse) { .person-acts button, .small, .entry button, .tools button { min-height: 44px } }
`
