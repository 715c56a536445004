import { assert } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Handler from "../../src/actors/transfers/LiveImports.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { ImportLines } from "../../src/services/transfers/ImportLines.ts"
import { LiveImports } from "../../src/services/transfers/live/LiveImports.ts"
import { LiveSources, SourceFailed } from "../../src/services/transfers/live/LiveSources.ts"
import { Transfers } from "../../src/services/transfers/Transfers.ts"
import { archiveServer, noteOf, photo, runTransfer } from "./Archives.ts"

export const origin = "https://old.example"
export const actor = `${origin}/users/ann`
export const source = {
  actor,
  authorizationEndpoint: `${origin}/oauth/authorize`,
  tokenEndpoint: `${origin}/oauth/token`,
  clientId: "client"
}

/** Makes a server with these documents by URL; `failing` is asked before each request. */
export const sourceOf = (
  documents: Readonly<Record<string, object>>,
  failing: () => SourceFailed | undefined = () => undefined,
  at = source
) => {
  const asked: Array<string> = []
  const attempt = <A, E, R>(url: string, response: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | SourceFailed, R> => {
      asked.push(url)
      const failure = failing()
      return failure === undefined ? response : Effect.fail(failure)
    })
  const service = LiveSources.of({
    discover: (address) => attempt(address, Effect.succeed({ source: at, clientSecret: "shh" })),
    exchange: (_, { code }) => attempt("token", Effect.succeed(`token for ${code}`)),
    read: (_, token, url) =>
      attempt(
        url,
        token === "token for code" && documents[url] !== undefined
          ? Effect.succeed({ ...documents[url] })
          : Effect.fail(new SourceFailed({ problem: "no_consent", retrySeconds: undefined }))
      ),
    file: (_source, _token, url, _bytesMax, use) =>
      attempt(url, Effect.flatMap(photo, (bytes) => use(Stream.make(new Uint8Array(bytes))))),
    revoke: () => Effect.sync(() => void asked.push("revoked"))
  })
  return { asked, service }
}

/** Makes the documents of an account with a number of posts, on pages of ten; even-numbered posts have a picture. */
export const account = (posts: number, more: ReadonlyArray<unknown> = []) => {
  const notes = Array.from(
    { length: posts },
    (_, n) =>
      noteOf(
        actor,
        n,
        n % 2 === 0 ? { attachment: [{ type: "Image", mediaType: "image/png", url: `${origin}/m/${n}.png` }] } : {}
      )
        .object
  )
  const all = [...notes, ...more]
  const pages = Math.ceil(all.length / 10)
  const list = (name: string) => ({
    [`${actor}/${name}`]: { type: "OrderedCollection", first: { id: `${actor}/${name}?page` } },
    [`${actor}/${name}?page`]: {
      type: "OrderedCollectionPage",
      orderedItems: ["https://a.example/u", { id: "https://b.example/u" }, "no url", 5]
    }
  })
  return {
    [actor]: {
      id: actor,
      followers: `${actor}/followers`,
      migration: { outbox: `${actor}/migration` },
      following: `${actor}/following`,
      blocked: `${actor}/blocked`,
      liked: `${actor}/liked`
    },
    [`${actor}/migration`]: { type: "OrderedCollection", first: `${actor}/migration?0` },
    ...Object.fromEntries(Array.from({ length: pages }, (_, at) => [`${actor}/migration?${at}`, {
      type: "OrderedCollectionPage",
      orderedItems: all.slice(10 * at, 10 * at + 10),
      // The last page links to itself.
      next: `${actor}/migration?${Math.min(at + 1, pages - 1)}`
    }])),
    ...list("following"),
    ...list("blocked"),
    ...list("liked")
  }
}

/** Provides the imports with this server as the other server. */
export const askingOnly = (service: LiveSources["Service"]) =>
  Layer.fresh(LiveImports.layerNoDeps).pipe(Layer.provideMerge(Layer.succeed(LiveSources, service)))

/** Runs an import until it waits for its owner or ends; skips pauses. */
export const run = Effect.fnUntraced(function*(
  { service }: ReturnType<typeof sourceOf>,
  owner: AccountId,
  id: bigint,
  dies?: Parameters<typeof runTransfer>[1]
) {
  const sql = yield* SqlClient.SqlClient
  const handler = yield* Effect.provide(Handler.make, askingOnly(service))
  const transfers = yield* Transfers
  for (;;) {
    const { _tag } = yield* runTransfer(handler, dies)
    if (_tag !== "Later") return yield* transfers.find(owner, id)
    yield* sql`UPDATE transfers SET due_at = now() - interval '1 second' WHERE id = ${id}`
  }
})

/** Starts an import and gives consent. */
export const consented = Effect.fnUntraced(function*(
  from: ReturnType<typeof sourceOf>,
  owner: AccountId,
  dies?: Parameters<typeof runTransfer>[1]
) {
  const imports = yield* LiveImports
  const { id } = yield* imports.begin(owner, "ann@old.example")
  const waiting = yield* run(from, owner, id, dies)
  const url = new URL((yield* imports.authorization(waiting))!)
  const query = new URLSearchParams({ code: "code", state: url.searchParams.get("state")!, activitypub_actor: actor })
  assert.strictEqual((yield* imports.authorized(owner, query)).state, "scheduled")
  return { id, url, planned: yield* run(from, owner, id, dies) }
})

/** Services of imports from other servers. */
export const liveServices = LiveImports.layerNoDeps.pipe(
  Layer.provide(Layer.mock(LiveSources)({})),
  Layer.provideMerge(ImportLines.layer),
  Layer.provideMerge(archiveServer)
)
