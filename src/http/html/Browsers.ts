/** Returns true if an `Accept` header is that of a browser that opens a page: it names HTML first. */
export const acceptsPage = (accept: string | undefined): boolean =>
  /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(accept ?? "")
