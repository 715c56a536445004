import { Context, Effect, Layer } from "effect"
import { traced } from "../../Traced.ts"
import { asForeign, asList, type Foreign, idOf } from "../documents/Reading.ts"
import { ObjectFetcher } from "../ObjectFetcher.ts"

/** Collections of other servers: as many of their items as somebody wants, and no page twice (row 34). */
export class RemoteCollections extends Context.Service<RemoteCollections, {
  /**
   * The first items, as they stand there: ids, or objects that prove nothing. `collection` is its id, or as much of it
   * as a document of `origin` has. That host alone is asked. `mayAsk` is asked before each page.
   */
  readonly items: (
    collection: unknown,
    origin: string,
    itemsMax: number,
    mayAsk: () => boolean
  ) => Effect.Effect<ReadonlyArray<unknown>>
  /** The collection itself; undefined where it cannot be fetched, or is not of `origin`. */
  readonly find: (url: string, origin: string) => Effect.Effect<Foreign | undefined>
}>()("murmuration/services/federation/fetching/RemoteCollections") {
  static readonly layerNoDeps = Layer.effect(
    RemoteCollections,
    Effect.gen(function*() {
      const fetcher = yield* ObjectFetcher

      /** A page that has to be fetched; undefined where it is another server's or cannot be fetched. */
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
