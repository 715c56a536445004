/** Returns whether a request's `Accept` header is a browser's that opens a page: it names HTML first. */
export const acceptsPage = (accept: string | undefined): boolean =>
  /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(accept ?? "")
