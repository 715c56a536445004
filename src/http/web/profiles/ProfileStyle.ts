/** Styles of profiles and threads. */
export const profileStyle = `
.profile { background: var(--card); border: 1px solid var(--line); padding: 0 var(--s4) var(--s3) }
.profile .banner { display: block; width: calc(100% + 2 * var(--s4)); margin-inline: calc(-1 * var(--s4)); height: 9rem;
  object-fit: cover; max-width: none }
.profile .who { display: flex; gap: var(--s4); align-items: start; justify-content: space-between; margin-block-end: var(--s3) }
.profile .who > .row { justify-content: end; margin-block-start: var(--s2) }
.profile .who > .button { margin-block-start: var(--s2) }
.profile .who > img { flex: none; margin-block-start: -2.5rem; width: 88px; height: 88px; border-radius: var(--rounder); border: 4px solid var(--card);
  background: var(--card); object-fit: cover }
.profile .name strong { font-size: var(--large); display: inline-block; max-width: 100%; max-height: 6em;
  overflow: hidden }
.profile .fields { margin: 0 0 var(--s3); border: 1px solid var(--line); border-radius: var(--round) }
.fields div { display: flex; gap: var(--s4); padding: var(--s2) var(--s3) }
.fields div + div { border-block-start: 1px solid var(--line) }
.fields dt { flex: 0 0 8rem; color: var(--soft); font-weight: 600 }
.fields dd { margin: 0; min-width: 0 }
.fields .verified { background: var(--good-back) }
.badge { font-size: var(--small); padding: 0 var(--s2); border-radius: 1rem; border: 1px solid var(--line); color: var(--soft) }
.thread-by { margin: var(--s2) var(--s4) }
.thread, .thread ol { list-style: none; margin: 0; padding: 0 }
.thread .branch { padding-inline-start: var(--s3); border-inline-start: 2px solid var(--line); margin-inline-start: var(--s3) }
.ancestors > article { border-inline-start: 2px solid var(--accent) }
.thread > li, .ancestors > article { content-visibility: auto; contain-intrinsic-size: auto 10rem }
.thread > li:first-child > article { border-block-start-width: 1px }
.fold > summary { padding: var(--s3) var(--s4); background: var(--card); border: 1px solid var(--line); cursor: pointer }
`
