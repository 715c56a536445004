import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, StatusId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { OwnedLists } from "../../../src/services/social/OwnedLists.ts"
import { followers, person } from "../../support/People.ts"
import { connect, layerStreams, tokenOf } from "./Streams.ts"

const channels = ["public", "public:local", "public:remote", "hashtag:x", "hashtag:local:x"]
const at = new Date("2026-06-01T12:00:00Z")

/** Inserts only a status's row, without publishing it. */
const status = Effect.fnUntraced(function*(accountId: AccountId, more: {
  readonly visibility?: string
  readonly language?: string
  readonly mentions?: ReadonlyArray<AccountId>
  readonly reblogOf?: StatusId
}) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, visibility, language, html, conversation_id, reblog_of_id, created_at)
    SELECT n, ${accountId}, ${more.visibility ?? "public"}, ${more.language ?? null}, 'secret', n, ${
    more.reblogOf ?? null
  }, ${at} FROM next_id(${at.getTime()}) n RETURNING id`
  const id = StatusId.make(row!.id)
  for (const mentioned of more.mentions ?? []) {
    yield* sql`INSERT INTO mentions ${sql.insert({ statusId: id, accountId: mentioned })}`
  }
  return id
})

/** Listens to every stream on one socket. */
const everywhere = Effect.fnUntraced(function*(account: AccountId) {
  const { secret } = yield* tokenOf(account)
  const client = yield* connect({ query: "?stream=user", protocol: secret })
  const { id: list } = yield* (yield* OwnedLists).create(account, { title: "everybody" })
  const asked = [
    { stream: "list", list: String(list) },
    ...["user:notification", "direct", "public", "public:local", "public:remote"].map((stream) => ({ stream })),
    { stream: "hashtag", tag: "x" },
    { stream: "hashtag:local", tag: "x" },
    { stream: "nonsense" }
  ]
  for (const channel of asked) yield* client.send({ type: "subscribe", ...channel })
  assert.strictEqual((yield* client.next).error, "Unknown stream type")
  return { account, list, ...client }
})
type Everywhere = Effect.Success<ReturnType<typeof everywhere>>

/**
 * Claims on the bus that a status is for everybody on all streams. Returns the listeners that receive it, with their
 * streams.
 */
const shownTo = Effect.fnUntraced(function*(
  statusId: StatusId,
  listeners: Record<string, Everywhere>,
  event: "update" | "status.update" = "update"
) {
  const broadcast = yield* Broadcast
  yield* broadcast.publish({
    _tag: "StatusEvent",
    event,
    statusId,
    accountIds: Object.values(listeners).map(({ account }) => account),
    lists: Object.values(listeners).map(({ list }) => list),
    channels
  })
  const shown: Record<string, ReadonlyArray<string>> = {}
  for (const [name, { account, next }] of Object.entries(listeners)) {
    yield* broadcast.publish({ _tag: "FiltersChanged", accountId: account })
    const streams: Array<string> = []
    for (let frame = yield* next; frame.event !== "filters_changed"; frame = yield* next) {
      streams.push(frame.stream![0]!)
    }
    if (streams.length > 0) shown[name] = streams
  }
  return shown
})

const everything = ["user", "list", "public", "public:local", "public:remote", "hashtag", "hashtag:local"]

layer(layerStreams, { excludeTestServices: true })("Streams show", (it) => {
  it.effect("row 58: a status is sent only to accounts that may see it at that moment, even if the bus claims otherwise", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const people: Record<string, AccountId> = {}
      for (const name of ["author", "stranger", "follower", "mentioned", "silent", "blocked", "formerFollower"]) {
        people[name] = yield* person(`${name}1`)
      }
      const { author, blocked, follower, formerFollower, mentioned, silent } = people as Record<string, AccountId>
      const listeners: Record<string, Everywhere> = {}
      for (const [name, account] of Object.entries(people)) listeners[name] = yield* everywhere(account)
      yield* followers(author!, [follower!, blocked!, formerFollower!])
      yield* sql`DELETE FROM follows WHERE account_id = ${formerFollower!}`
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, ${author!}, ${blocked!})`
      const all = ["author", "stranger", "follower", "mentioned", "silent", "formerFollower"]
      const expected = {
        public: all,
        unlisted: all,
        private: ["author", "follower", "mentioned"],
        direct: ["author", "mentioned"]
      }
      for (const [visibility, names] of Object.entries(expected)) {
        for (const event of ["update", "status.update"] as const) {
          const id = yield* status(author!, { visibility, mentions: [mentioned!] })
          yield* sql`INSERT INTO mentions ${sql.insert({ statusId: id, accountId: silent, silent: true })}`
          const shown = yield* shownTo(id, listeners, event)
          assert.sameMembers(Object.keys(shown), names, `${visibility} ${event}`)
          yield* sql`UPDATE statuses SET deleted_at = created_at WHERE id = ${id}`
          assert.deepStrictEqual(yield* shownTo(id, listeners, event), {}, `${visibility} ${event}, deleted`)
        }
      }
      const reblog = yield* status(follower!, {
        reblogOf: yield* status(author!, { visibility: "private" })
      })
      assert.sameMembers(Object.keys(yield* shownTo(reblog, listeners)), ["author", "follower"])
      const last = yield* status(author!, {})
      yield* sql`UPDATE accounts SET suspended_at = updated_at WHERE id = ${author!}`
      assert.deepStrictEqual(yield* shownTo(last, listeners), {})
    }).pipe(Effect.scoped))

  it.effect("row 58: edits to mentioned accounts only if they may see them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author2")
      const [friend, foe] = [yield* person("friend2"), yield* person("foe2")]
      const id = yield* status(author, { visibility: "direct", mentions: [friend, foe] })
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (2, ${author}, ${foe})`
      const broadcast = yield* Broadcast
      const listeners = { friend: yield* everywhere(friend), foe: yield* everywhere(foe) }
      yield* broadcast.publish({
        _tag: "StatusEvent",
        event: "status.update",
        statusId: id,
        accountIds: [author],
        channels: []
      })
      assert.sameMembers([
        (yield* listeners.friend.next).stream![0],
        (yield* listeners.friend.next).stream![0]
      ], ["user", "user:notification"])
      assert.deepStrictEqual(yield* shownTo(yield* status(author, {}), { foe: listeners.foe }), {})
    }).pipe(Effect.scoped))

  it.effect("row 62: nothing by hidden accounts, and nothing about them on public channels", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [author, named] = [yield* person("author3"), yield* person("named3")]
      yield* sql`UPDATE accounts SET domain = 'far.test' WHERE id = ${author}`
      const id = yield* status(author, { mentions: [named] })
      const past = new Date("2026-01-01T00:00:00Z")
      const future = new Date("2126-01-01T00:00:00Z")
      let row = 100n
      const block = (reader: AccountId, target: AccountId) =>
        sql`INSERT INTO blocks ${sql.insert({ id: row++, accountId: reader, targetAccountId: target })}`
      const mute = (reader: AccountId, target: AccountId, expiresAt: Date | null, hideNotifications = true) =>
        sql`INSERT INTO mutes ${
          sql.insert({ id: row++, accountId: reader, targetAccountId: target, hideNotifications, expiresAt })
        }`
      const hides = {
        neutral: () => Effect.void,
        blocks: (reader: AccountId) => block(reader, author),
        mutes: (reader: AccountId) => mute(reader, author, null),
        mutesForAWhile: (reader: AccountId) => mute(reader, author, future, false),
        muted: (reader: AccountId) => mute(reader, author, past),
        blocksDomain: (reader: AccountId) =>
          sql`INSERT INTO domain_mutes ${sql.insert({ id: row++, accountId: reader, domain: "far.test" })}`,
        isBlocked: (reader: AccountId) => block(author, reader),
        blocksNamed: (reader: AccountId) => block(reader, named),
        mutesNamed: (reader: AccountId) => mute(reader, named, null),
        mutedNamed: (reader: AccountId) => mute(reader, named, past)
      }
      const listeners: Record<string, Everywhere> = {}
      for (const [name, hide] of Object.entries(hides)) {
        const reader = yield* person(`${name}3`)
        yield* hide(reader)
        listeners[name] = yield* everywhere(reader)
      }
      assert.deepStrictEqual(yield* shownTo(id, listeners), {
        neutral: everything,
        muted: everything,
        mutedNamed: everything,
        // Membership in home and lists was decided when the post was written.
        blocksNamed: ["user", "list"],
        mutesNamed: ["user", "list"]
      })
    }).pipe(Effect.scoped))

  it.effect("S-007: public statuses in the languages that their reader chose", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author4")
      const listeners: Record<string, Everywhere> = {}
      for (const [name, chosen] of Object.entries({ any: null, none: [], german: ["de", "nl"], english: ["en"] })) {
        const reader = yield* person(`${name}4`)
        yield* sql`UPDATE users SET chosen_languages = ${chosen} WHERE account_id = ${reader}`
        listeners[name] = yield* everywhere(reader)
      }
      const german = yield* shownTo(yield* status(author, { language: "de" }), listeners)
      assert.deepStrictEqual(german, {
        any: everything,
        none: everything,
        german: everything,
        english: ["user", "list"]
      })
      const unknown = yield* shownTo(yield* status(author, {}), listeners)
      assert.sameMembers(Object.keys(unknown), ["any", "none", "german", "english"])
    }).pipe(Effect.scoped))
})
