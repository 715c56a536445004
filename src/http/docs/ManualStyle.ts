/** Styles of a document's page, in addition to the common stylesheet. */
export const manualStyle = `
.manual table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; font-size: .9375rem }
.manual th, .manual td { text-align: start; vertical-align: top; padding: .375rem .75rem .375rem 0;
  border-top: 1px solid var(--line) }
.manual :is(th, td:not(:last-child)) { overflow-wrap: break-word }
.manual pre { overflow-x: auto; padding: .75rem; margin: 0 0 1rem; border: 1px solid var(--line); border-radius: .5rem;
  font-size: .8125rem }
main .manual > p { margin-bottom: 1rem }
.manual h2 { font-size: 1.125rem; margin: 1.5rem 0 .75rem }
.manual h3 { font-size: 1rem; margin: 1.25rem 0 .5rem }
.manual li > p { margin-bottom: .5rem }
@media (max-width: 36rem) {
  .manual thead { display: none }
  .manual table, .manual tbody, .manual tr, .manual td { display: block }
  .manual tr { padding: .5rem 0; border-top: 1px solid var(--line) }
  .manual td { padding: 0; border: 0 }
}
`
