import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import * as FeedWriting from "../../../../src/actors/account/fanout/FeedWriting.ts"
import { AccountId, StatusId } from "../../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../../src/services/events/Broadcast.ts"
import { Feeds } from "../../../../src/services/feeds/Feeds.ts"
import { StatusReaders } from "../../../../src/services/feeds/StatusReaders.ts"
import { config, layerActors, settled } from "../../../support/Actors.ts"
import { followers, person } from "../../../support/People.ts"
import { edit, post } from "../../../support/Posts.ts"

layer(layerActors, { excludeTestServices: true })("Account publishes", (it) => {
  it.effect("a status once per key, into its followers' homes", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const feeds = yield* Feeds
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author1")
      const reader = yield* person("reader1")
      yield* followers(author, [reader])
      const events = yield* (yield* Broadcast).subscribe
      const responses = yield* Effect.all(
        [1, 2, 3].map(() => actors.tell(author, { _tag: "Publish", post: post("Hello #World @reader1") }, "k1")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(responses.map(({ id }) => id)).size, 1)
      const id = BigInt(responses[0]!.id)
      let update = yield* PubSub.take(events)
      while (update._tag !== "StatusEvent") update = yield* PubSub.take(events)
      assert.deepStrictEqual(update.accountIds, [author, reader])
      assert.deepStrictEqual(update.channels, ["public", "public:local", "hashtag:world", "hashtag:local:world"])
      yield* feeds.fill(reader, [])
      assert.deepStrictEqual((yield* feeds.read(reader))!.map((entry) => entry.id), [id])
      const told = yield* sql`SELECT account_id, type, from_account_id, status_id FROM notifications`
      assert.deepStrictEqual(told, [{ accountId: reader, type: "mention", fromAccountId: author, statusId: id }])
      const [stats] = yield* sql`SELECT statuses_count FROM account_stats WHERE account_id = ${author}`
      assert.deepStrictEqual(stats, { statusesCount: 1 })
    }).pipe(Effect.scoped))

  it.effect("statuses have the author's visibility, replies, warnings and mentions (S-001, S-068, S-276)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author2", { locked: true })
      const other = yield* person("other2")
      const publishText = (text: string, more = {}) =>
        Effect.map(
          actors.tell(author, { _tag: "Publish", post: post(text, more) }),
          ({ id }) => StatusId.make(BigInt(id))
        )
      const root = yield* publishText("only a warning", { text: " ", spoilerText: "careful" })
      const reply = yield* publishText("@other2 and more", {
        inReplyToId: root,
        visibility: "direct",
        spoilerText: "cw"
      })
      const rows =
        yield* sql`SELECT id, text, spoiler_text, sensitive, visibility, in_reply_to_id, in_reply_to_account_id,
        conversation_id FROM statuses WHERE account_id = ${author} ORDER BY id`
      assert.deepStrictEqual(rows, [
        {
          id: root,
          text: "careful",
          spoilerText: "",
          sensitive: true,
          visibility: "private",
          inReplyToId: null,
          inReplyToAccountId: null,
          conversationId: root
        },
        {
          id: reply,
          text: "@other2 and more",
          spoilerText: "cw",
          sensitive: true,
          visibility: "direct",
          inReplyToId: root,
          inReplyToAccountId: author,
          conversationId: root
        }
      ])
      const failures = yield* Effect.forEach([
        publishText(""),
        publishText("x".repeat(501)),
        publishText("hello", { inReplyToId: StatusId.make(1n) }),
        publishText("hi @other2", { allowedMentions: [] })
      ], Effect.flip)
      assert.deepStrictEqual(failures.map(({ message }) => message), [
        "Validation failed: Text can't be blank",
        "Validation failed: Text character limit of 500 exceeded",
        "The post you are trying to reply to does not appear to exist.",
        "Post would be sent to unexpected accounts"
      ])
      yield* publishText("hi @other2", { allowedMentions: [other] })
      const [stats] = yield* sql`SELECT replies_count FROM status_stats WHERE status_id = ${root}`
      assert.deepStrictEqual(stats, { repliesCount: 1 })
    }))

  it.effect("edits with every revision, and deletions once and for all (S-066, I10)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author3")
      const booster = yield* person("booster3")
      const id = StatusId.make(BigInt((yield* actors.tell(author, { _tag: "Publish", post: post("one #a") })).id))
      yield* actors.tell(booster, { _tag: "Reblog", statusId: id, visibility: null })
      for (const text of ["one #a", "two #b", "three #b"]) yield* actors.tell(author, edit(id, text))
      const edits = yield* sql`SELECT text FROM status_edits WHERE status_id = ${id} ORDER BY id`
      assert.deepStrictEqual(edits, [{ text: "one #a" }, { text: "two #b" }, { text: "three #b" }])
      const tags = yield* sql`SELECT t.name FROM statuses_tags JOIN tags t ON t.id = tag_id WHERE status_id = ${id}`
      assert.deepStrictEqual(tags, [{ name: "b" }])
      yield* settled
      const told = yield* sql`SELECT type FROM notifications WHERE account_id IN (${author}, ${booster}) ORDER BY type`
      assert.deepStrictEqual(told, [{ type: "reblog" }, { type: "update" }])
      yield* actors.tell(author, { _tag: "Delete", statusId: id })
      yield* settled
      const left =
        yield* sql`SELECT id FROM statuses WHERE account_id IN (${author}, ${booster}) AND deleted_at IS NULL`
      assert.deepStrictEqual(left, [])
      const stats = yield* sql`SELECT statuses_count FROM account_stats WHERE account_id IN (${author}, ${booster})`
      assert.deepStrictEqual(stats, [{ statusesCount: 0 }, { statusesCount: 0 }])
      const again = yield* Effect.flip(actors.tell(author, { _tag: "Delete", statusId: id }))
      assert.strictEqual(again._tag, "RecordNotFound")
    }))

  it.effect("300 statuses in three hours, counted from rows by the next owner of the account, too (S-296)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author4")
      const now = yield* Clock.currentTimeMillis
      yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
        SELECT ${author}, 'old' || n, '{}', 'statuses', 0, ${new Date(now)} FROM generate_series(1, 299) n`
      const last = yield* actors.tell(author, { _tag: "Publish", post: post("the last one") })
      assert.strictEqual(last.standing?.remaining, 0)
      const refused = yield* Effect.flip(actors.tell(author, { _tag: "Publish", post: post("one too many") }))
      assert.strictEqual(refused._tag, "TooManyRequests")
      // Another node takes the account over; the next command fails, and the count is then reloaded from rows.
      yield* sql`UPDATE actors SET epoch = epoch + 1 WHERE account_id = ${author}`
      const stale = yield* Effect.flip(
        actors.tell(author, { _tag: "Reblog", statusId: StatusId.make(BigInt(last.id)), visibility: null })
      )
      assert.strictEqual(stale._tag, "Unavailable")
      const still = yield* Effect.flip(actors.tell(author, { _tag: "Publish", post: post("one too many") }))
      assert.strictEqual(still._tag, "TooManyRequests")
      const rows = yield* sql`SELECT count(*)::int AS n FROM statuses WHERE account_id = ${author}`
      assert.deepStrictEqual(rows, [{ n: 1 }])
    }))

  it.effect("ids rise after a node whose clock was ahead, even if its last post is deleted (I19)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author6")
      const ahead = new Date((yield* Clock.currentTimeMillis) + 3_000)
      const last = BigInt(ahead.getTime()) << 16n
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at, deleted_at)
        VALUES (${last}, ${author}, 'public', ${last}, ${ahead}, ${ahead})`
      const response = JSON.stringify({ id: String(last), kind: "status" })
      yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
        VALUES (${author}, 'ahead', ${response}::jsonb, 'statuses', 0, ${ahead})`
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("after it") })
      assert.isTrue(BigInt(id) > last, `${id} after ${last}`)
    }))

  it.effect("I3: a late post of a frozen process is removed from accounts that unfollowed in the meantime", () =>
    Effect.gen(function*() {
      const { tell } = yield* AccountActors
      const [readers, feeds] = [yield* StatusReaders, yield* Feeds]
      const [author, stays, leaves] = [yield* person("late"), yield* person("stays"), yield* person("leaves")]
      yield* followers(author, [stays, leaves])
      const statusId = BigInt((yield* tell(author, { _tag: "Publish", post: post("at last") })).id)
      yield* settled
      const statusReaders = (yield* readers.readers(statusId, author, 0n, 10))!
      assert.deepStrictEqual(statusReaders.readers, [stays, leaves])
      yield* tell(leaves, { _tag: "Unfollow", target: author })
      yield* feeds.fill(leaves, [])
      const push = yield* FeedWriting.make
      const since = (yield* Clock.currentTimeMillis) - FeedWriting.readersMillisMax - 1
      const audienceOf = ({ readers }: { readonly readers: ReadonlyArray<AccountId> }) => ({
        accountIds: [author, ...readers],
        lists: []
      })
      const reread = Effect.map(readers.readers(statusId, author, 0n, 10), (now) => audienceOf(now!))
      const late = yield* push({ statusId, reblogOfId: null, since, reread }, audienceOf(statusReaders))
      assert.deepStrictEqual(late, { accountIds: [author, stays], lists: [] })
      // Rebuilt on the next read.
      assert.isUndefined(yield* feeds.read(leaves))
    }).pipe(Effect.provide(StatusReaders.layer.pipe(Layer.provide(config)))))

  it.effect("to 2,500 followers in slices, each home once, even if a slice is repeated (I3)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const feeds = yield* Feeds
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author5")
      const now = yield* Clock.currentTimeMillis
      const readers = yield* sql<{ id: bigint }>`
        WITH made AS (INSERT INTO accounts (id, username, created_at, updated_at)
          SELECT next_id(${now}), 'crowd' || n, ${new Date(now)}, ${new Date(
        now
      )} FROM generate_series(1, 2500) n RETURNING id),
        seen AS (INSERT INTO users (account_id, email, password_hash, last_seen_at, created_at)
          SELECT id, id || '@crowd.test', '', ${new Date(now)}, ${new Date(now)} FROM made)
        SELECT id FROM made`
      const ids = readers.map(({ id }) => AccountId.make(id))
      yield* sql`INSERT INTO account_stats (account_id) SELECT unnest(${ids}::bigint[])`
      yield* followers(author, ids)
      const { id } = yield* actors.tell(author, { _tag: "Publish", post: post("to everybody") })
      yield* settled
      yield* feeds.push(ids.slice(0, 100), { id: BigInt(id), reblogOf: undefined })
      for (const reader of ids) {
        yield* feeds.fill(reader, [])
        assert.deepStrictEqual((yield* feeds.read(reader))!.map((entry) => entry.id), [BigInt(id)])
      }
    }))
})
