/** Styles of a status, and of lists of statuses. */
export const statusStyle = `
.feed > article, .status { background: var(--card); border: 1px solid var(--line); border-block-start-width: 0;
  padding: var(--s3) var(--s4) }
.feed > article { content-visibility: auto; contain-intrinsic-size: auto 12rem }
.feed > article:first-child { border-block-start-width: 1px }
.status:target { border-inline-start: 3px solid var(--accent) }
.status.focused { border: 2px solid var(--accent); border-radius: var(--rounder) }
.status header { display: flex; gap: 0 var(--s3); align-items: start; margin-block-end: var(--s2) }
.status header p { margin: 0; line-height: 1.3 }
.status header img { display: block; width: 46px; height: 46px; border-radius: var(--round); object-fit: cover }
.status .by { color: inherit; text-decoration: none }
.status .by:hover { text-decoration: underline }
.status .by .soft { display: block }
.status .by strong { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden }
.status header p:nth-of-type(1) { flex: 1; min-width: 0 }
.status .when { font-size: var(--small); text-align: end; flex: none; max-width: 40% }
.status .when a { color: var(--soft); text-decoration: none; padding-block: .25rem; display: inline-block }
.status .when > .soft { display: inline-block }
.status .when > .soft::before { content: "· " }
.status .when a:hover { text-decoration: underline }
.status .when .icon { width: 1rem; height: 1rem; vertical-align: -.125rem }
.status .context { margin: 0 0 var(--s2); font-size: var(--small); color: var(--soft); max-height: 3em; overflow: hidden }
.status .context a { color: inherit; text-decoration: none }
.status .context .icon { width: 1rem; height: 1rem; margin-inline-end: var(--s2); vertical-align: -.125rem }
.content { margin-block-end: var(--s2); overflow: clip; overflow-clip-margin: 6px }
.content p { margin: 0 0 var(--s3) }
.content p:last-child { margin-block-end: 0 }
.content .invisible { font-size: 0; line-height: 0 }
.content .ellipsis::after { content: "…" }
.content pre { overflow-x: auto }
.emoji { display: inline; width: auto; height: 1.25em; vertical-align: -.25em; object-fit: contain }
.status summary { cursor: pointer; font-weight: 600; padding: var(--s2) 0; min-height: 24px }
.files { display: grid; grid-template-columns: 1fr 1fr; gap: var(--s1); margin-block: var(--s2);
  border-radius: var(--round); overflow: hidden }
.files-1 { grid-template-columns: 1fr }
.files .still { display: none }
@media (prefers-reduced-motion: reduce) { .files .moving { display: none } .files .still { display: block } }
.files img, .files video { display: block; width: 100%; max-height: 32rem; object-fit: cover; background: var(--back) }
.files:not(.files-1) img, .files:not(.files-1) video { aspect-ratio: 3 / 2; height: 100% }
.files-3 > :last-child { grid-column: 1 / -1 }
.files-3 > video:last-child, .files-3 > :last-child img { aspect-ratio: 3 / 1 }
.files audio { width: 100%; grid-column: 1 / -1 }
.card { display: flex; gap: var(--s3); margin-block: var(--s2); border: 1px solid var(--line); overflow: hidden;
  border-radius: var(--round); color: inherit; text-decoration: none; font-size: var(--small) }
.card img { width: 7rem; object-fit: cover; flex: none }
.card > span { padding: var(--s3); min-width: 0 }
.card strong, .card .soft { display: block }
.quoted { margin: var(--s3) 0; padding: var(--s3); border: 1px solid var(--line); border-radius: var(--round) }
.poll { list-style: none; margin: var(--s2) 0; padding: 0 }
.poll li { padding-block: var(--s1) }
.poll meter { width: 100%; display: block }
.vote label { font-weight: 400; padding-block: var(--s1) }
.vote button { margin-block: var(--s2) var(--s3) }
.acts { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); margin: var(--s2) 0 0; font-size: var(--small);
  color: var(--soft); align-items: center }
.acts > a { color: inherit; text-decoration: none }
.acts > a, .acts > span { display: inline-flex; gap: var(--s1); align-items: center }
.act { display: inline-flex; gap: var(--s1); align-items: center; min-width: 2.5rem; min-height: 2rem; padding: 0 var(--s1);
  border: 0; background: none; color: var(--soft); font-size: var(--small); font-weight: 400; border-radius: var(--round) }
.act:hover { color: var(--accent); background: var(--back) }
.act.on { color: var(--accent); font-weight: 600 }
`
