/** Styles of menus, reactions, dialogs, the viewer of media, and of what scripts announce. */
export const actsStyle = `
.acts .reactions { display: flex; flex-wrap: wrap; gap: var(--s1); flex-basis: 100% }
.reaction { display: inline-flex; gap: var(--s1); align-items: center; min-height: 28px; padding: 0 var(--s2);
  border: 1px solid var(--line); border-radius: 1rem; background: none; color: var(--text); font-size: var(--small);
  font-weight: 400 }
.reaction.on { border-color: var(--accent); color: var(--accent); font-weight: 600 }
details.more { position: relative; margin-inline-start: auto }
.status details.more > summary, details.more > summary { list-style: none; cursor: pointer; display: inline-flex;
  align-items: center; justify-content: center; min-width: 2.5rem; min-height: 2rem; padding: 0 }
details.more > summary::-webkit-details-marker { display: none }
details.more > ul { list-style: none; margin: 0; padding: var(--s2); position: absolute; inset-inline-end: 0;
  inset-block-start: 100%; z-index: 3; width: max-content; min-width: 14rem; max-width: min(20rem, 80vw);
  background: var(--card); border: 1px solid var(--line); border-radius: var(--rounder); color: var(--text);
  box-shadow: 0 4px 16px rgb(0 0 0 / .25) }
.feed > article:has(details.more[open]) { content-visibility: visible; position: relative; z-index: 2 }
.item { display: flex; gap: var(--s3); align-items: center; width: 100%; min-height: 36px; padding: var(--s1) var(--s3);
  border: 0; background: none; color: var(--text); font-weight: 400; font-size: var(--small); text-align: start;
  text-decoration: none; border-radius: var(--round) }
.item:hover, .quick button:hover { background: var(--back) }
.quick { display: flex; flex-wrap: wrap; gap: var(--s1) }
.quick button { min-width: 36px; min-height: 36px; padding: 0; border: 0; background: none; color: var(--text);
  font-size: 1.25rem }
.measured { content-visibility: visible }
.continue { margin: var(--s2) var(--s4) }
main article:focus { outline: 3px solid var(--accent); outline-offset: -3px }
#live { position: sticky; margin: 0 }
#live:empty { display: none }
#live button { position: fixed; inset-block-start: var(--s4); inset-inline: 0; margin-inline: auto; width: fit-content;
  z-index: 4; border-radius: 2rem; box-shadow: 0 2px 12px rgb(0 0 0 / .3) }
@media (max-width: 700px) {
  #live button { inset-block: auto calc(4.75rem + env(safe-area-inset-bottom)) }
}
dialog { color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: var(--rounder);
  max-width: min(var(--measure), 100vw - 2rem); max-height: 85vh; overflow: auto }
dialog::backdrop { background: rgb(0 0 0 / .5) }
#page-dialog { width: 100%; padding: var(--s4) }
#page-dialog .close { float: inline-end; padding: var(--s1) var(--s2) }
#page-dialog h1 { margin-inline: 0 }
#page-dialog .panel { border: 0; padding: 0; margin: 0 }
.act-form label:has(input[type=checkbox], input[type=radio]) { font-weight: 400 }
.panel > .act-form { display: inline-block; margin-inline-end: var(--s3) }
legend { font-weight: 600; padding: 0; margin-block-end: var(--s2) }
.act-form fieldset { margin-block-end: var(--s4) }
.back { padding-inline: var(--s4) }
.keys { border-collapse: collapse; margin: var(--s4); background: var(--card) }
.keys caption { text-align: start; font-weight: 600; padding-block: var(--s2) }
.keys th, .keys td { text-align: start; padding: var(--s1) var(--s3); border: 1px solid var(--line) }
kbd { font: var(--small) ui-monospace, monospace; padding: 0 var(--s2); border: 1px solid var(--line);
  border-radius: var(--s1); background: var(--back); white-space: nowrap }
@media (max-width: 480px) { kbd { white-space: normal; overflow-wrap: normal } }
#viewer { width: 100vw; height: 100vh; max-width: none; max-height: none; border: 0; border-radius: 0; padding: 0;
  background: rgb(0 0 0 / .92); color: #fff; overflow: auto }
#viewer figure { margin: 0; min-height: 100%; display: flex; flex-direction: column; align-items: center;
  justify-content: center; gap: var(--s3); padding: var(--s4) }
#viewer img { max-width: 100%; max-height: 80vh; object-fit: contain; cursor: zoom-in }
#viewer.zoomed img { max-width: none; max-height: none; cursor: zoom-out }
#viewer figcaption { max-width: var(--measure) }
#viewer .tools { position: fixed; inset-block-start: var(--s3); inset-inline-end: var(--s3); display: flex; gap: var(--s2) }
#viewer .tools button { min-width: 44px; min-height: 44px; padding: 0; background: rgb(0 0 0 / .6); color: #fff;
  border-color: rgb(255 255 255 / .4) }
#viewer .tools button:disabled { visibility: hidden }
.offline form, .offline details.more { display: none }
#offline { display: none }
.offline #offline { display: block }
.when-refused, .push:not(.impossible) .when-impossible { display: none }
.push.refused .when-refused { display: block }
@media (pointer: coarse) { .item, .reaction, .quick button { min-height: 44px } .quick button { min-width: 44px } }
`
