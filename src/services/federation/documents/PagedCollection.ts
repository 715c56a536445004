import { activityStreams, type Document } from "./Vocabulary.ts"

/** Returns a collection with its total, and a link to its first page if readers may see it. */
export const collection = (
  type: "Collection" | "OrderedCollection",
  id: string,
  more: { readonly totalItems?: number; readonly first?: string; readonly last?: string }
): Document => ({ "@context": activityStreams, id, type, ...more })

/** Returns a page of a collection; `next` and `prev` are the queries of the neighbouring pages. */
export const collectionPage = (
  type: "CollectionPage" | "OrderedCollectionPage",
  partOf: string,
  page: {
    readonly query: string
    readonly items: ReadonlyArray<unknown>
    readonly next?: string | undefined
    readonly prev?: string | undefined
  }
): Document => ({
  id: `${partOf}?${page.query}`,
  type,
  partOf,
  ...(page.next === undefined ? {} : { next: `${partOf}?${page.next}` }),
  ...(page.prev === undefined ? {} : { prev: `${partOf}?${page.prev}` }),
  [type === "CollectionPage" ? "items" : "orderedItems"]: page.items
})
