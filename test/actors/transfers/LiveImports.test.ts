import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Handler from "../../../src/actors/transfers/LiveImports.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { ObjectFetcher } from "../../../src/services/federation/ObjectFetcher.ts"
import { WebFingers } from "../../../src/services/federation/WebFingers.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { ErrorResponse } from "../../../src/services/outbound/OutboundError.ts"
import { ImportLines } from "../../../src/services/transfers/ImportLines.ts"
import { LiveImports } from "../../../src/services/transfers/live/LiveImports.ts"
import { LiveSources, SourceFailed } from "../../../src/services/transfers/live/LiveSources.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { abandon, archiveServer, noteOf, photo, postsOf, runTransfer } from "../../support/Archives.ts"
import { user } from "../../support/SignedIn.ts"

const origin = "https://old.example"
const actor = `${origin}/users/ann`
const source = {
  actor,
  authorizationEndpoint: `${origin}/oauth/authorize`,
  tokenEndpoint: `${origin}/oauth/token`,
  clientId: "client"
}

/** A server whose documents are these, by URL; `failing` fails requests first. */
const sourceOf = (
  documents: Readonly<Record<string, object>>,
  failing: () => SourceFailed | undefined = () => undefined,
  at = source
) => {
  const asked: Array<string> = []
  const attempt = <A, E, R>(url: string, answer: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | SourceFailed, R> => {
      asked.push(url)
      const failure = failing()
      return failure === undefined ? answer : Effect.fail(failure)
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

/** Documents of an account with so many posts, on pages of ten; posts with an even number have a picture. */
const account = (posts: number, more: ReadonlyArray<unknown> = []) => {
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
      blocked: `${actor}/blocked`
    },
    [`${actor}/migration`]: { type: "OrderedCollection", first: `${actor}/migration?0` },
    ...Object.fromEntries(Array.from({ length: pages }, (_, at) => [`${actor}/migration?${at}`, {
      type: "OrderedCollectionPage",
      orderedItems: all.slice(10 * at, 10 * at + 10),
      // The last page names itself.
      next: `${actor}/migration?${Math.min(at + 1, pages - 1)}`
    }])),
    ...list("following"),
    ...list("blocked")
  }
}

/** Runs an import until it waits for its owner or ends; pauses pass at once. */
const run = Effect.fnUntraced(function*(
  { service }: ReturnType<typeof sourceOf>,
  owner: AccountId,
  id: bigint,
  dies?: Parameters<typeof runTransfer>[1]
) {
  const sql = yield* SqlClient.SqlClient
  const handler = yield* Effect.provideService(Handler.make, LiveSources, service)
  const transfers = yield* Transfers
  for (;;) {
    const { _tag } = yield* runTransfer(handler, dies)
    if (_tag !== "Later") return yield* transfers.find(owner, id)
    yield* sql`UPDATE transfers SET due_at = now() - interval '1 second' WHERE id = ${id}`
  }
})

/** Begins an import, and gives consent. */
const consented = Effect.fnUntraced(function*(
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

const services = LiveImports.layer.pipe(Layer.provideMerge(ImportLines.layer), Layer.provideMerge(archiveServer))

layer(services, { excludeTestServices: true })("imports of accounts from their servers", (it) => {
  for (const when of ["before", "after"] as const) {
    it.effect(`a node that dies ${when} every step imports each post, file, follow and block once`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* user(`mia_${when}`)
        const from = sourceOf(account(45))
        // Dies at every second step, so that the other ones make progress.
        const dies = (step: number, at: "before" | "after") => step % 2 === 1 && at === when
        const { id, planned } = yield* consented(from, owner, dies)
        assert.deepInclude(planned, { state: "unconfirmed", total: 45, problem: null })
        const imports = yield* LiveImports
        assert.deepInclude((yield* imports.open(planned)).options, { following: 2, blocked: 2 })
        yield* imports.confirm(owner, id, { withFollows: true, withBlocks: false })
        const done = yield* run(from, owner, id, dies)
        assert.deepInclude(done, { state: "finished", added: 45, failed: 0 })
        assert.lengthOf(yield* postsOf(owner), 45)
        const files = yield* sql`SELECT FROM media_attachments WHERE account_id = ${owner}`
        assert.lengthOf(files, 23)
        const lists = yield* sql`SELECT t.kind, array_agg(l.name ORDER BY l.place) AS names FROM transfers t
          JOIN transfer_lines l ON l.transfer_id = t.id WHERE t.account_id = ${owner} GROUP BY t.kind`
        assert.deepStrictEqual(lists, [{ kind: "follows", names: ["https://a.example/u", "https://b.example/u"] }])
        assert.include(from.asked, "revoked")
        assert.notInclude(JSON.stringify(done.options), "secrets")
        yield* sql`UPDATE transfers SET state = 'cancelled' WHERE account_id = ${owner}`
      }))
  }

  it.effect("a server that is busy is asked later, and given up after many tries; no secret is left", () =>
    Effect.gen(function*() {
      const owner = yield* user("ben")
      let failures = 0
      const busy = () => failures-- > 0 ? new SourceFailed({ problem: "silent", retrySeconds: 5 }) : undefined
      const from = sourceOf(account(5), busy)
      failures = 3
      const { id, planned } = yield* consented(from, owner)
      assert.deepInclude(planned, { state: "unconfirmed", total: 5 })
      const transfers = yield* Transfers
      assert.notInclude(JSON.stringify((yield* transfers.cancel(owner, id)).options), "secrets")
      failures = 1_000
      const imports = yield* LiveImports
      const again = yield* imports.begin(owner, actor)
      const failed = yield* run(from, owner, again.id)
      assert.deepInclude(failed, { state: "failed", problem: "silent" })
      assert.isBelow(1_000 - failures, 30)
    }))

  it.effect("posts of others and of other servers are left out, and a consent that ended fails the import", () =>
    Effect.gen(function*() {
      const owner = yield* user("cat")
      const foreign = [
        { ...noteOf(actor, 100).object, id: "https://evil.example/1" },
        { ...noteOf(actor, 101).object, attributedTo: `${origin}/users/bob` },
        noteOf(`${origin}/users/bob`, 102),
        { type: "Note", id: `${actor}/statuses/undated`, attributedTo: actor, to: [], content: "x" },
        "https://old.example/only-an-id",
        null
      ]
      const from = sourceOf(account(3, foreign))
      const { id, planned } = yield* consented(from, owner)
      const imports = yield* LiveImports
      const { options } = yield* imports.open(planned)
      assert.deepInclude(options.plan, { posts: 3, foreign: 3, unreadable: 1 })
      yield* (yield* Transfers).cancel(owner, id)
      const refusing = sourceOf({})
      assert.deepInclude((yield* consented(refusing, owner)).planned, { state: "failed", problem: "no_consent" })
    }))

  it.effect("a confirmation before the consent, and a response with another state, change nothing", () =>
    Effect.gen(function*() {
      const [owner, other] = [yield* user("dan"), yield* user("dora")]
      const imports = yield* LiveImports
      const from = sourceOf(account(1))
      const { id } = yield* imports.begin(owner, actor)
      const waiting = yield* run(from, owner, id)
      assert.strictEqual(
        (yield* Effect.flip(imports.confirm(owner, id, { withFollows: true, withBlocks: true })))._tag,
        "RecordNotFound"
      )
      const state = new URL((yield* imports.authorization(waiting))!).searchParams.get("state")!
      const answer = (given: string) => new URLSearchParams({ code: "x", state: given })
      for (const [by, given] of [[other, state], [owner, `${id}-x`], [owner, ""], [owner, "999"]] as const) {
        assert.strictEqual((yield* Effect.flip(imports.authorized(by, answer(given))))._tag, "RecordNotFound")
      }
      assert.strictEqual(
        (yield* Effect.flip(imports.authorized(owner, new URLSearchParams({ state, error: "access_denied" }))))._tag,
        "Unprocessable"
      )
      assert.strictEqual((yield* (yield* Transfers).find(owner, id)).state, "unconfirmed")
      // A second one waits for the first.
      assert.strictEqual((yield* Effect.flip(imports.begin(owner, actor)))._tag, "Unprocessable")
      assert.strictEqual((yield* Effect.flip(imports.begin(other, " ")))._tag, "Unprocessable")
      yield* abandon(id)
    }))

  it.effect("F288: consent counts for the account that the asked OAuth server names, at the server of that account", () =>
    Effect.gen(function*() {
      const owner = yield* user("eli")
      const imports = yield* LiveImports
      const transfers = yield* Transfers
      const elsewhere = { ...source, authorizationEndpoint: "https://auth.example/authorize" }
      const attempt = Effect.fnUntraced(function*(at: typeof source, more: Readonly<Record<string, string>>) {
        const from = sourceOf(account(1), () => undefined, at)
        const { id } = yield* imports.begin(owner, actor)
        const state = new URL((yield* imports.authorization(yield* run(from, owner, id)))!).searchParams.get("state")!
        const answer = yield* Effect.result(
          imports.authorized(owner, new URLSearchParams({ code: "code", state, ...more }))
        )
        yield* transfers.cancel(owner, id)
        return answer._tag === "Success" ? answer.success.state : answer.failure._tag
      })
      const named = { activitypub_actor: actor }
      const cases = [
        [source, {}, "scheduled"],
        [source, { iss: `${origin}/`, activitypub_actor: `${origin}/users/other` }, "scheduled"],
        [elsewhere, named, "scheduled"],
        // The OAuth server says nothing of this account's server, which would get the token.
        [elsewhere, {}, "Unprocessable"],
        [source, { activitypub_actor: "https://evil.example/users/ann" }, "Unprocessable"],
        [source, { activitypub_actor: "no url" }, "Unprocessable"],
        // A response of another OAuth server, to which the first one sent the user (RFC 9207).
        [source, { ...named, iss: "https://evil.example" }, "Unprocessable"],
        [elsewhere, { ...named, iss: origin }, "Unprocessable"],
        [source, { activitypub_actor: `${origin}/users/\0` }, "scheduled"]
      ] as const
      for (const [at, more, expected] of cases) assert.strictEqual(yield* attempt(at, more), expected)
      assert.strictEqual((yield* Effect.flip(imports.begin(owner, "ann\0@old.example")))._tag, "Unprocessable")
    }))

  it.effect("the token is sent to the origin of the actor only, and pages of other origins are not read", () =>
    Effect.gen(function*() {
      const sent: Array<readonly [string, object]> = []
      const outbound = Layer.mock(Outbound)({
        json: ({ sign, url }) =>
          Effect.gen(function*() {
            for (const asked of [url, "https://cdn.example/elsewhere"]) {
              sent.push([new URL(asked).origin, yield* sign!(new URL(asked))])
            }
            return yield* new ErrorResponse({ url, status: 429, retryAfterSeconds: 77 })
          })
      })
      const sources = yield* Effect.provide(
        LiveSources,
        Layer.fresh(LiveSources.layer).pipe(
          Layer.provide([outbound, Layer.mock(ObjectFetcher)({}), Layer.mock(WebFingers)({})])
        )
      )
      const failed = yield* Effect.flip(sources.read(source, "secret", actor))
      assert.deepInclude(failed, { problem: "silent", retrySeconds: 77 })
      assert.deepStrictEqual(sent, [[origin, { authorization: "Bearer secret" }], ["https://cdn.example", {}]])
      const elsewhere = yield* Effect.flip(sources.read(source, "secret", "https://cdn.example/page"))
      assert.deepInclude(elsewhere, { problem: "unreadable_source", retrySeconds: undefined })
      assert.lengthOf(sent, 2)
    }))
})
