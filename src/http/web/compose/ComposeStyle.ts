/** Styles of the composer, drafts and scheduled posts. */
export const composeStyle = `
.compose { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s3) }
.compose > * { margin: 0 }
.compose textarea { resize: vertical; min-height: 3.5rem; field-sizing: content; max-height: 60vh }
.compose textarea[name=text] { min-height: 8rem }
.compose.short textarea[name=text] { min-height: 3.5rem }
.compose .left, .compose .saved { margin: var(--s1) 0 0; font-size: var(--small); text-align: end; min-height: 1lh }
.compose .saved { min-height: 0 }
.compose .left.over { color: var(--danger); font-weight: 600 }
.compose .tools { justify-content: space-between }
.compose button.plain, .compose .tools a { padding: var(--s2) var(--s3); min-height: 2.5rem; font-size: var(--small);
  display: inline-flex; align-items: center; gap: var(--s2) }
.compose .tools a { text-decoration: none; color: var(--text); border: 1px solid var(--line); border-radius: var(--round) }
.compose .part { border: 1px solid var(--line); border-radius: var(--round); padding: 0 var(--s3) }
.compose .part[open] { padding-block-end: var(--s3) }
.compose .part > label, .compose .part > button { margin-block-start: var(--s3) }
.compose summary { cursor: pointer; padding: var(--s3) 0; font-weight: 600; min-height: 44px }
.compose .check { margin: var(--s2) 0 0 }
.compose .check label { display: flex; gap: var(--s2); align-items: center; font-weight: 400; min-height: 24px }
.compose .check input { width: 1.25rem; height: 1.25rem; flex: none }
.compose .send { justify-content: space-between; align-items: end }
.compose .buttons { display: flex; flex-wrap: wrap; gap: var(--s2) }
.compose .audience { font-size: var(--small); min-width: 0; max-width: 100% }
.compose .audience select { width: auto; max-width: 100% }
.compose.short .audience span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.compose.short .send { align-items: center; flex-wrap: nowrap }
.compose.short .audience { min-width: 0; flex: 0 1 12rem }
.compose.short .audience select { width: 100%; margin: 0 }
.compose.short .buttons { flex-wrap: nowrap; flex: none }
.composed-files legend { font-weight: 600; padding: 0 }
.composed-files ul { list-style: none; margin: 0; padding: 0; display: grid; gap: var(--s3) }
.composed-file { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: var(--s3); padding-block: var(--s3) }
.composed-file .thumb { position: relative; place-self: start; cursor: crosshair }
.composed-file .thumb img { display: block; max-width: 100%; max-height: 10rem; border-radius: var(--round) }
.composed-file .texts { display: grid; gap: var(--s2); justify-items: start; font-size: var(--small) }
.composed-file label { width: 100% }
.composed-file .point { position: absolute; width: 1.25rem; height: 1.25rem; border-radius: 50%; cursor: move;
  border: 3px solid var(--card); outline: 2px solid var(--text); transform: translate(-50%, -50%) }
.composed-files .add { align-items: end }
.composed-files .add label { flex: 1 1 14rem; font-size: var(--small) }
.compose .composed-files [hidden] { display: none }
.composed-files progress { width: 100% }
.compose.dropping { outline: 3px dashed var(--accent) }
.concerns p { margin: 0 0 var(--s2) }
.recovery, .kinds { margin: var(--s3) var(--s4) }
.preview h2 { margin: 0 0 var(--s2) }
.emoji-list { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4) }
.emoji-picker { border: 1px solid var(--line); border-radius: var(--round); background: var(--card); padding: var(--s2);
  max-height: 16rem; overflow-y: auto }
.emoji-picker button { background: none; border: 0; color: inherit; padding: 0; width: 2.75rem; height: 2.75rem;
  font-size: 1.5rem; line-height: 1 }
.emoji-picker h2 { font-size: var(--small); margin: var(--s2) }
.emoji-picker section { margin: 0; padding: 0; border: 0 }
.completions { list-style: none; margin: 0; padding: var(--s1); border: 1px solid var(--line); border-radius: var(--round);
  background: var(--card) }
.completions li { padding: var(--s2); border-radius: var(--round); cursor: pointer; min-height: 2.5rem; display: flex;
  align-items: center; gap: var(--s2) }
.completions li[aria-selected=true] { background: var(--back); outline: 2px solid var(--accent) }
.completions img { width: 1.5rem; height: 1.5rem; border-radius: var(--s1); object-fit: cover }
.versions h2 { margin: 0 0 var(--s2) }
.waiting button, .waiting .button { display: inline-flex; align-items: center; gap: var(--s2); min-height: 2.75rem }
.waiting .row { align-items: end; margin-block-start: var(--s3) }
.small-thumb { max-height: 5rem; max-width: 8rem; border-radius: var(--round) }
@media (max-width: 700px) { .composed-file { grid-template-columns: 5rem minmax(0, 1fr) } }
`
