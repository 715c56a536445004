import { activityStreams, type Document } from "./Vocabulary.ts"

/** A collection that says how many there are, and where its first page is where it may be seen. */
export const collection = (
  type: "Collection" | "OrderedCollection",
  id: string,
  more: { readonly totalItems?: number; readonly first?: string; readonly last?: string }
): Document => ({ "@context": activityStreams, id, type, ...more })

/** One page of it; `next` and `prev` are the queries of the neighbours. */
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
