/** Styles of notifications and excerpts of posts. */
export const notificationStyle = `
.note { background: var(--card); border: 1px solid var(--line); border-block-start-width: 0;
  padding: var(--s3) var(--s4) }
.note.unread { border-inline-start: 3px solid var(--accent) }
.note > header { display: flex; gap: var(--s3); align-items: start }
.note > header p { margin: 0 }
.note > header p:first-of-type { flex: 1; min-width: 0 }
.note > header > .icon { color: var(--soft); margin-block-start: .125rem }
.note > header .when { font-size: var(--small); flex: none }
.note .by { color: inherit }
.note form.dismiss { margin: 0 }
.note form.dismiss button { min-width: 2rem; justify-content: center }
.note .status, .note .person { border: 0; padding: var(--s3) 0 0; background: none }
.note blockquote, .quiet { margin: var(--s2) 0 0; padding-inline-start: var(--s3);
  border-inline-start: 3px solid var(--line); color: var(--soft) }
.faces { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2); margin: var(--s2) 0 0 }
.faces img { display: block; border-radius: var(--round) }
.excerpt { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden }
.excerpt-link { color: inherit; text-decoration: none }
.excerpt-link:hover { text-decoration: underline }
.unread-count { display: inline-block; min-width: 1.25rem; padding: 0 .35rem; border-radius: 1rem; font-size: .75rem;
  line-height: 1.25rem; text-align: center; font-weight: 600; background: var(--accent); color: var(--on-accent) }
nav.side a, nav.bar a { position: relative }
nav.bar > ul a, nav.bar summary { padding-inline: 0; font-size: .6875rem }
nav.bar > ul a[aria-current] { font-weight: 400; box-shadow: inset 0 2px var(--accent); border-radius: 0 }
@media (max-width: 1099px) {
  nav.side a, nav.side button { padding-inline: 0; font-size: .6875rem }
  nav .unread-count { position: absolute; inset-block-start: 2px; inset-inline-start: 52% }
}
`
