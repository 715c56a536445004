/* Inserts articles into a feed so that nothing moves that one reads. */

/** Returns the articles of one of this server's pages. */
export const articlesOf = (page: Document): ReadonlyArray<HTMLElement> => [
  ...page.querySelectorAll<HTMLElement>("main .feed > article")
]

/** Fetches one of this server's pages; undefined if the page is missing or redirects. */
export const fetchPage = async (href: string): Promise<Document | undefined> => {
  const response = await fetch(href, { headers: { accept: "text/html" } })
  return response.ok && !response.redirected
    ? new DOMParser().parseFromString(await response.text(), "text/html")
    : undefined
}

/** First article that is at least partly on the screen. */
export const topArticle = (): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>("main .feed > article")].find((one) =>
    one.getBoundingClientRect().bottom > 0
  )

/**
 * Inserts articles above all others, except those that are there already. The visible content does not move, also in
 * browsers that do not anchor the scroll position themselves.
 */
export const insertAbove = (feed: Element, articles: ReadonlyArray<HTMLElement>): ReadonlyArray<HTMLElement> => {
  const fresh = articles.filter(({ id }) => document.getElementById(id) === null).map((one) =>
    document.importNode(one, true)
  )
  // Scrolling needs the true heights, not the estimates that `content-visibility` uses off the screen.
  for (const one of fresh) one.classList.add("measured")
  const anchor = CSS.supports("overflow-anchor", "auto") && scrollY > 0 ? undefined : topArticle()
  const before = anchor?.getBoundingClientRect().top ?? 0
  feed.prepend(...fresh)
  const moved = (anchor?.getBoundingClientRect().top ?? 0) - before
  if (moved !== 0) scrollBy({ top: moved, behavior: "instant" })
  return fresh
}
