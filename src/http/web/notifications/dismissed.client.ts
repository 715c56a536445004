/* Removes entries of the page of notifications whose notifications no longer exist. */

import { remove } from "../acts/acts.client.ts"
import { articlesOf, fetchPage } from "../live/insertions.client.ts"

/** Returns the id of an entry's newest notification. */
export const noteIdOf = ({ id }: Element): string => id.slice("note-".length)

const groupOf = (entry: Element): string | undefined =>
  entry.querySelector<HTMLInputElement>("form.dismiss [name=group]")?.value

/**
 * Removes the entries that the same page, fetched again, no longer has; entries older than that page stay. Returns the ids of
 * its entries, newest first; undefined without a connection.
 */
export const removeDismissed = async (): Promise<ReadonlyArray<string> | undefined> => {
  const page = await fetchPage(location.href)
  if (page === undefined) return undefined
  const articles = articlesOf(page)
  const oldest = articles.at(-1)
  if (oldest === undefined) {
    location.reload()
    return undefined
  }
  const groups = new Set(articles.map(groupOf))
  const isWhole = page.querySelector("main a[rel=next]") === null
  for (const entry of articlesOf(document)) {
    const isListed = isWhole || BigInt(noteIdOf(entry)) >= BigInt(noteIdOf(oldest))
    if (isListed && !groups.has(groupOf(entry))) remove(entry)
  }
  return articles.map(noteIdOf)
}
