import { Context, Effect, Layer } from "effect"
import { traced } from "../../runtime/Traced.ts"
import { asForeign, asList, type Foreign, idOf } from "../documents/ForeignValues.ts"
import { ObjectFetcher } from "../ObjectFetcher.ts"

/** Reads collections of other servers: up to a maximum of items, and no page twice (row 34). */
export class RemoteCollections extends Context.Service<RemoteCollections, {
  /**
   * Returns the first items as they are listed: ids, or objects that prove nothing. `collection` is an id, or the
   * embedded part in a document of `origin`. Only that host is asked. `mayAsk` is called before each request.
   */
  readonly items: (
    collection: unknown,
    origin: string,
    itemsMax: number,
    mayAsk: () => boolean
  ) => Effect.Effect<ReadonlyArray<unknown>>
  /** Fetches the collection itself; undefined if that fails or it is not at `origin`. */
  readonly find: (url: string, origin: string) => Effect.Effect<Foreign | undefined>
}>()("murmuration/services/federation/fetching/RemoteCollections") {
  static readonly layerNoDeps = Layer.effect(
    RemoteCollections,
    Effect.gen(function*() {
      const fetcher = yield* ObjectFetcher

      /** Fetches a page; undefined if it is on another server or the fetch fails. */
      const at = (url: string, origin: string) =>
        URL.parse(url)?.origin === origin
          ? fetcher.fetch(url).pipe(
            Effect.map(({ document }): Foreign | undefined => document),
            Effect.orElseSucceed(() => undefined)
          )
          : Effect.succeed(undefined)

      const items = traced("RemoteCollections.items")(
        function*(collection: unknown, origin: string, itemsMax: number, mayAsk: () => boolean) {
          const found: Array<unknown> = []
          const visited = new Set<string>()
          for (let next = collection; next !== undefined && found.length < itemsMax;) {
            let page = asForeign(next)
            const url = page === undefined || !hasContent(page) ? idOf(next) : undefined
            if (url !== undefined) {
              if (visited.has(url) || !mayAsk()) break
              visited.add(url)
              page = yield* at(url, origin)
            }
            if (page === undefined) break
            found.push(...itemsOf(page))
            next = page["first"] !== undefined && itemsOf(page).length === 0 ? page["first"] : page["next"]
          }
          return found.slice(0, itemsMax)
        }
      )

      return RemoteCollections.of({ items, find: traced("RemoteCollections.find")(at) })
    })
  )
  static readonly layer = RemoteCollections.layerNoDeps.pipe(Layer.provide(ObjectFetcher.layer))
}

const itemsOf = (page: Foreign) => [...asList(page["orderedItems"]), ...asList(page["items"])]
const hasContent = (page: Foreign) => ["first", "next", "items", "orderedItems"].some((field) => field in page)
