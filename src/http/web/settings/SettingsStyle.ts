/** Styles of settings pages, and of members' pages that were made for the narrow frame. */
export const settingsStyle = `
.settings { padding: 0 var(--s4) }
.settings > .problem, .settings > .done { margin-inline: 0 }
.settings h2 { margin: var(--s5) 0 var(--s2) }
.settings .panel h2 { margin-block-start: 0 }
.settings form { margin: 0 0 var(--s4) }
.settings label { margin-block-end: var(--s3) }
.settings fieldset { margin-block-end: var(--s4) }
.settings form > details { margin-block-end: var(--s4) }
.settings legend { font-weight: 600; padding: 0; margin-block-end: var(--s2) }
.check { display: flex; gap: var(--s2); align-items: flex-start; font-weight: 400 }
.check input { flex: none; width: 1.125rem; height: 1.125rem; margin-block: .2rem; accent-color: var(--accent) }
.check span { min-width: 0 }
progress { width: 100%; accent-color: var(--accent) }
main > .back { margin: 0 var(--s4) var(--s3); padding: 0 }
.settings-list h2 { font-size: var(--small); color: var(--soft); margin: var(--s4) var(--s3) var(--s1) }
.settings-list ul { list-style: none; margin: 0; padding: 0 }
.settings-list a { display: block; padding: var(--s2) var(--s3); border-radius: var(--round); color: var(--text);
  text-decoration: none; border-inline-start: 3px solid transparent }
.settings-list a:hover { background: var(--card) }
.settings-list a[aria-current] { border-inline-start-color: var(--accent); color: var(--accent); font-weight: 600 }
main > .settings-list a { border-block-end: 1px solid var(--line); border-radius: 0; padding-block: var(--s3) }
.people, .apps { list-style: none; margin: 0; padding: 0 }
.people > li, .apps > li { padding: var(--s3) 0; border-block-end: 1px solid var(--line) }
.apps p { margin: 0; font-size: var(--small); color: var(--soft) }
.apps .row { justify-content: space-between }
.apps h2 { font-size: var(--body); margin: 0 }
.person { display: flex; gap: var(--s3); align-items: center; min-width: 0 }
.person img { width: 2.5rem; height: 2.5rem; border-radius: var(--round); flex: none; background: var(--card) }
.person > span { min-width: 0; flex: 1 }
.person .name { display: block; font-weight: 600; color: inherit; text-decoration: none }
.person form { margin: 0 }
.pictures { display: grid; gap: var(--s4); grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)) }
.pictures img { display: block; max-width: 100%; max-height: 10rem; border-radius: var(--round) }
.crop { position: relative; display: inline-block; max-width: 100%; touch-action: none; cursor: move }
.crop img { max-height: 16rem }
.crop .kept { position: absolute; border: 3px solid var(--accent); box-shadow: 0 0 0 2px var(--card) }
.two { display: grid; gap: 0 var(--s3); grid-template-columns: repeat(auto-fit, minmax(min(12rem, 100%), 1fr)) }
.settings table { border-collapse: collapse; width: 100%; margin-block-end: var(--s4); background: var(--card) }
.settings :is(th, td) { text-align: start; padding: var(--s2) var(--s3); border: 1px solid var(--line) }
.settings th { overflow-wrap: break-word }
.badge { font-size: var(--small); padding: 0 var(--s2); border-radius: 1rem; border: 1px solid var(--line) }
.below { margin-block-start: var(--s5); padding-block-start: var(--s4); border-block-start: 1px solid var(--line) }
.below:empty { display: none }
button.quiet { background: none; color: var(--text); border-color: var(--line) }
button.small { padding: var(--s1) var(--s3); font-size: var(--small) }
.qr svg { display: block; width: 100%; max-width: 16rem; margin: 0 auto var(--s4); border-radius: var(--round) }
code.secret { display: block; padding: var(--s3); margin-block-end: var(--s4); background: var(--card);
  border: 1px dashed var(--line); border-radius: var(--round); user-select: all }
@media (max-width: 480px) {
  .settings :is(th, td) { padding-inline: var(--s1) }
  .settings th { font-size: var(--small) }
  .settings td { overflow-wrap: anywhere }
}
@media (min-width: 1100px) { main > .back { display: none } }
@media (max-width: 1099px) { aside:has(.settings-list) { display: none } }
`
