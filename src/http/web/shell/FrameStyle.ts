/** Styles of the frame: page, navigation, forms. Distances are logical, for right-to-left languages. */
export const frameStyle = `
*, ::before, ::after { box-sizing: border-box }
html { scroll-padding-block: var(--s4) }
body {
  margin: 0; background: var(--back); color: var(--text); font: var(--body)/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; display: grid; gap: 0 var(--s5); justify-content: center;
  grid-template: "top top" auto "side main" auto ". aside" 1fr / 6.5rem minmax(0, var(--measure));
}
header.top { grid-area: top; padding: var(--s3) var(--s4); font-weight: 600 }
header.top a { color: inherit; text-decoration: none }
main { grid-area: main; min-width: 0; padding-block-end: var(--s6) }
main:focus { outline: none }
aside { grid-area: aside; min-width: 0 }
h1 { font-size: var(--large); line-height: 1.25; margin: var(--s3) var(--s4); unicode-bidi: plaintext; text-align: left }
[dir=rtl] h1 { text-align: right }
h2 { font-size: 1.125rem; margin: var(--s5) var(--s4) var(--s2) }
p { margin: 0 0 var(--s3) }
a { color: var(--accent) }
strong[dir=auto], dt[dir=auto] { text-align: left }
[dir=rtl] strong[dir=auto], [dir=rtl] dt[dir=auto] { text-align: right }
.soft { color: var(--soft) }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; inset-block-start: -4rem; inset-inline-start: var(--s2); padding: var(--s2) var(--s4);
  background: var(--card); border-radius: var(--round); z-index: 3 }
.skip:focus { inset-block-start: var(--s2) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
nav.side { grid-area: side; position: sticky; inset-block-start: 0; align-self: start; max-height: 100vh;
  overflow-y: auto; padding-block: var(--s2) }
nav.side ul, nav.bar ul { list-style: none; margin: 0; padding: 0 }
nav.side a, nav.side button, nav.bar a, nav.bar summary {
  display: flex; flex-direction: column; align-items: center; gap: var(--s1); padding: var(--s2) var(--s1);
  min-height: 44px; font-size: .75rem; line-height: 1.2; text-align: center; color: var(--text); text-decoration: none;
  border-radius: var(--round); overflow-wrap: normal; hyphens: auto;
}
nav.side li span, nav.bar li span, nav.bar summary span, nav.side button span { max-width: 100%; overflow-wrap: break-word }
nav.side button { width: 100%; border: 0; background: none; font-weight: 400 }
nav a[aria-current] { color: var(--accent); font-weight: 600 }
nav.side a:hover, nav.side button:hover, nav.bar a:hover { background: var(--card) }
nav.bar { display: none }
nav.tabs, .paging { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); padding: 0 var(--s4); margin-block: var(--s2) }
nav.tabs { border-block-end: 1px solid var(--line); margin-block-end: 0 }
nav.tabs a { padding: var(--s2) var(--s1); color: var(--text); text-decoration: none; border-block-end: 3px solid transparent }
nav.tabs a[aria-current] { border-block-end-color: var(--accent) }
.paging { justify-content: space-between; padding-block: var(--s4) }
.paging a { padding: var(--s2) var(--s4); border: 1px solid var(--line); border-radius: var(--round);
  background: var(--card); text-decoration: none }
.empty, main > p, main > .content { margin: var(--s5) var(--s4) }
button, .button {
  font: inherit; font-weight: 600; padding: var(--s2) var(--s4); border-radius: var(--round); cursor: pointer;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); text-decoration: none;
}
button.plain, button.switch { background: none; color: var(--text); border-color: var(--line) }
button.switch[aria-pressed=true] { border-color: var(--accent); color: var(--accent) }
button.danger { background: none; color: var(--danger); border-color: var(--danger) }
label { display: block; font-weight: 600 }
input:not([type=checkbox], [type=radio]), textarea, select {
  display: block; width: 100%; margin-block-start: var(--s1); padding: var(--s2) var(--s3); font: inherit;
  font-weight: 400; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: var(--round);
}
fieldset { border: 0; margin: 0; padding: 0; min-width: 0 }
.hint { display: block; font-weight: 400; font-size: var(--small); color: var(--soft) }
.row { display: flex; flex-wrap: wrap; gap: var(--s3); align-items: center }
.switches { display: flex; gap: var(--s2); padding: var(--s3) var(--s4) }
.switches button { padding: var(--s1) var(--s3); font-size: var(--small); min-height: 32px }
.problem, .done { padding: var(--s3) var(--s4); border-radius: var(--round); margin: var(--s3) var(--s4) }
.problem { background: var(--danger-back); color: var(--danger) }
.done { background: var(--good-back) }
.done p { margin: 0 }
.prose { padding: 0 var(--s4) var(--s5) }
.prose :is(ol, ul:not(.plain)) { padding-inline: var(--s5) }
.prose h2 { margin-inline: 0 }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: var(--rounder); padding: var(--s4);
  margin: var(--s4) 0 }
@media (min-width: 1100px) {
  body { grid-template: "top top top" auto "side main aside" 1fr / 15rem minmax(0, var(--measure)) 18rem }
  nav.side a, nav.side button { flex-direction: row; gap: var(--s3); padding: var(--s2) var(--s3);
    font-size: var(--body); text-align: start }
}
@media (max-width: 700px) {
  body { grid-template: "top" auto "main" auto "aside" auto "side" auto / minmax(0, 1fr); gap: 0 }
  body[data-me] { padding-block-end: 4rem }
  body[data-me] nav.side { display: none }
  nav.side { position: static }
  body:not([data-me]) { grid-template-areas: "top" "side" "main" "aside"; grid-template-rows: repeat(4, auto) }
  nav.side ul { display: flex; justify-content: space-around; border-block: 1px solid var(--line) }
  nav.bar { display: flex; position: fixed; inset-block-end: 0; inset-inline: 0; z-index: 2; background: var(--card);
    border-block-start: 1px solid var(--line); padding-block-end: env(safe-area-inset-bottom) }
  nav.bar > ul { display: flex; flex: 4 }
  nav.bar > ul li { flex: 1; min-width: 0 }
  nav.bar details { flex: 1; min-width: 0 }
  nav.bar summary { list-style: none; cursor: pointer }
  nav.bar summary::-webkit-details-marker { display: none }
  nav.bar details ul { position: absolute; inset-block-end: 100%; inset-inline: 0; max-height: 70vh; overflow-y: auto;
    background: var(--card); border-block-start: 1px solid var(--line); padding: var(--s2) }
  nav.bar details a { flex-direction: row; gap: var(--s3); font-size: var(--body); padding-inline: var(--s4) }
}
@media (pointer: coarse) { .act, .switches button, .paging a, nav.tabs a { min-height: 44px; min-width: 44px } }
@media (prefers-reduced-motion: reduce) { * { animation: none; transition: none; scroll-behavior: auto } }
`
