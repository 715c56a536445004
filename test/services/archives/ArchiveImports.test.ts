import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import * as ArchiveImports from "../../../src/actors/transfers/ArchiveImports.ts"
import * as ArchiveUndos from "../../../src/actors/transfers/ArchiveUndos.ts"
import { ArchiveImport } from "../../../src/services/archives/ArchiveImport.ts"
import { ArchiveRequests } from "../../../src/services/archives/ArchiveRequests.ts"
import { type AccountId, millisOf, StatusId } from "../../../src/services/database/Ids.ts"
import { Objects } from "../../../src/services/federation/Objects.ts"
import { HomeTimelines } from "../../../src/services/feeds/HomeTimelines.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import * as Urls from "../../../src/services/instance/Urls.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { archiveServer, beginImport, runTransfer } from "../../support/Archives.ts"
import { picture } from "../../support/MediaFiles.ts"
import { followers } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { user } from "../../support/SignedIn.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** Archive of an account of another server, as Mastodon writes it. */
const mastodonArchive = (
  actor: string,
  items: ReadonlyArray<unknown>,
  files: Readonly<Record<string, Uint8Array>> = {}
): Uint8Array => {
  const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  return zipSync({
    ...files,
    "outbox.json": text({
      "@context": "https://www.w3.org/ns/activitystreams",
      id: "outbox.json",
      type: "OrderedCollection",
      totalItems: items.length,
      orderedItems: items
    }),
    "likes.json": text({ id: "likes.json", orderedItems: [] }),
    "actor.json": text({ id: actor, type: "Person", followers: `${actor}/followers`, outbox: "outbox.json" })
  }, { level: 1 })
}

const noteOf = (actor: string, id: number, more: object = {}) => {
  const note = {
    id: `${actor}/statuses/${id}`,
    type: "Note",
    published: new Date(Date.UTC(2019, 0, 1, 0, id)).toISOString(),
    attributedTo: actor,
    to: [everybody],
    cc: [`${actor}/followers`],
    content: `<p>post ${id}</p>`,
    ...more
  }
  const { cc, published, to } = note
  return { id: `${note.id}/activity`, type: "Create", actor, published, to, cc, object: note }
}

const claim = Effect.fnUntraced(function*(owner: AccountId, actor: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE accounts SET also_known_as = ARRAY[${actor}] WHERE id = ${owner}`
})

/** Reads an archive up to its plan; returns the plan, or the problem. */
const planOf = Effect.fnUntraced(
  function*(owner: AccountId, archive: Uint8Array, dies?: Parameters<typeof runTransfer>[1]) {
    const { id } = yield* beginImport(owner, archive)
    const end = yield* runTransfer(yield* ArchiveImports.make, dies)
    const transfers = yield* Transfers
    const found = yield* transfers.find(owner, id)
    const { plan } = yield* Schema.decodeUnknownEffect(ArchiveImport)(found.options)
    return { id, end, plan, problem: found.problem, state: found.state, total: found.total }
  }
)
const imported = Effect.fnUntraced(
  function*(owner: AccountId, archive: Uint8Array, dies?: Parameters<typeof runTransfer>[1]) {
    const transfers = yield* Transfers
    const { id, state } = yield* planOf(owner, archive, dies)
    assert.strictEqual(state, "unconfirmed")
    yield* ArchiveRequests.use((archives) => archives.confirm(owner, id))
    assert.strictEqual((yield* runTransfer(yield* ArchiveImports.make, dies))._tag, "Finished")
    return yield* transfers.find(owner, id)
  }
)

interface Row {
  readonly id: bigint
  readonly html: string
  readonly text: string
  readonly visibility: string
  readonly inReplyToId: bigint | null
  readonly reblogOfId: bigint | null
  readonly spoilerText: string
  readonly sensitive: boolean
  readonly language: string | null
  readonly createdAt: Date
  readonly mediaIds: ReadonlyArray<bigint>
  readonly conversationId: bigint
}
const rowsOf = Effect.fnUntraced(function*(owner: AccountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Row>`SELECT * FROM statuses WHERE account_id = ${owner} AND deleted_at IS NULL ORDER BY id`
})
/** Everything about an account's posts but their ids. */
const contentOf = Effect.fnUntraced(function*(owner: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const posts = yield* sql`SELECT s.text, s.visibility, s.created_at, p.text AS parent, o.text AS boosted,
      cardinality(s.media_ids) AS files FROM statuses s LEFT JOIN statuses p ON p.id = s.in_reply_to_id
    LEFT JOIN statuses o ON o.id = s.reblog_of_id
    WHERE s.account_id = ${owner} AND s.deleted_at IS NULL ORDER BY s.created_at, s.text`
  const [stats] = yield* sql`SELECT statuses_count, last_status_at FROM account_stats WHERE account_id = ${owner}`
  return { posts, stats }
})

layer(archiveServer, { excludeTestServices: true })("imports of archives", (it) => {
  it.effect("bring posts with their dates, texts, audiences, threads, files and polls, and tell nobody", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [zoe, bob] = [yield* user("zoe"), yield* user("bob")]
      yield* followers(zoe, [bob])
      const actor = "https://old.example/users/zoe"
      yield* claim(zoe, actor)
      const objects = yield* Objects
      const theirs = yield* status(bob, "boosted by zoe")
      const bobsPost = (yield* objects.uris([theirs])).get(theirs)
      const bobsActor = bobsPost?.replace(/\/statuses\/.*/, "")
      const image = yield* Effect.promise(() => picture().png().toBuffer())
      const path = "media_attachments/files/000/000/001/original/a b.png"
      const items = [
        noteOf(actor, 1, {
          summary: "careful",
          sensitive: true,
          contentMap: { de: "<p>post 1</p>" },
          tag: [{ type: "Hashtag", name: "#Old", href: "https://old.example/tags/old" }],
          attachment: [
            { type: "Document", mediaType: "image/png", url: `/${path}`, name: "A drawing", focalPoint: [0.5, -0.5] },
            { type: "Document", mediaType: "image/png", url: "/media_attachments/lost.png", name: "Lost" }
          ]
        }),
        noteOf(actor, 2, { inReplyTo: `${actor}/statuses/1`, to: [`${actor}/followers`], cc: [] }),
        noteOf(actor, 3, {
          to: [bobsActor],
          cc: [],
          content: "<p>for <b>bob</b><script>alert(1)</script></p>",
          tag: [{ type: "Mention", href: bobsActor, name: "@bob" }]
        }),
        {
          ...noteOf(actor, 4, {
            type: "Question",
            oneOf: ["yes", "no"].map((name, n) => ({
              type: "Note",
              name,
              replies: { type: "Collection", totalItems: n + 3 }
            })),
            endTime: "2999-01-01T00:00:00Z",
            votersCount: 7
          })
        },
        noteOf(actor, 5, { inReplyTo: bobsPost }),
        {
          id: `${actor}/statuses/6/activity`,
          type: "Announce",
          actor,
          published: "2019-02-01T00:00:00Z",
          to: [everybody],
          object: bobsPost
        },
        {
          id: `${actor}/statuses/7/activity`,
          type: "Announce",
          actor,
          published: "2019-02-01T00:00:00Z",
          to: [everybody],
          object: "https://gone.example/1"
        },
        noteOf("https://old.example/users/eve", 8),
        { ...noteOf(actor, 9), object: { ...noteOf(actor, 9).object, attributedTo: "https://old.example/users/eve" } },
        { id: "x", type: "Like", actor, object: bobsPost },
        noteOf(actor, 10, { published: "once upon a time" }),
        "nonsense"
      ]
      const archive = mastodonArchive(actor, items, { [path]: image, "avatar.png": image })
      const { id, plan, state, total } = yield* planOf(zoe, archive)
      assert.deepStrictEqual([state, total], ["unconfirmed", 7])
      assert.deepStrictEqual(plan, {
        posts: 5,
        boosts: 2,
        known: 0,
        files: 1,
        missingFiles: 1,
        foreign: 2,
        unreadable: 2,
        unsupported: 1,
        firstMillis: Date.UTC(2019, 0, 1, 0, 1),
        lastMillis: Date.UTC(2019, 1, 1)
      })
      assert.lengthOf(yield* rowsOf(zoe), 0)
      const transfers = yield* Transfers
      yield* ArchiveRequests.use((archives) => archives.confirm(zoe, id))
      yield* runTransfer(yield* ArchiveImports.make)
      const { added, failed, processed } = yield* transfers.find(zoe, id)
      assert.deepStrictEqual([added, failed, processed], [6, 1, 7])

      const [first, reply, direct, poll, answer, boost] = yield* rowsOf(zoe)
      assert.deepInclude(first, {
        html: "<p>post 1</p>",
        text: "post 1",
        spoilerText: "careful",
        sensitive: true,
        language: "de"
      })
      assert.strictEqual(first!.createdAt.getTime(), Date.UTC(2019, 0, 1, 0, 1))
      assert.strictEqual(millisOf(first!.id), first!.createdAt.getTime())
      assert.deepInclude(reply, {
        visibility: "private",
        inReplyToId: first!.id,
        conversationId: first!.conversationId
      })
      assert.deepInclude(direct, { visibility: "direct", html: "<p>for <b>bob</b></p>" })
      assert.lengthOf(
        yield* sql`SELECT FROM mentions WHERE status_id = ${direct!.id} AND account_id = ${bob} AND NOT silent`,
        1
      )
      assert.deepStrictEqual(
        (yield* sql`SELECT options, counts, voters_count, expires_at <= now() AS closed FROM polls WHERE status_id = ${
          poll!.id
        }`)[0],
        { options: ["yes", "no"], counts: [3, 4], votersCount: 7, closed: true }
      )
      assert.strictEqual(answer!.inReplyToId, theirs)
      assert.strictEqual(boost!.reblogOfId, theirs)
      const [media] =
        yield* sql`SELECT id, description, focus_x, focus_y, status_id FROM media_attachments WHERE account_id = ${zoe}`
      assert.deepStrictEqual(media, {
        id: first!.mediaIds[0],
        description: "A drawing",
        focusX: 0.5,
        focusY: -0.5,
        statusId: first!.id
      })
      assert.deepStrictEqual((yield* contentOf(zoe)).stats, {
        statusesCount: 6,
        lastStatusAt: new Date(Date.UTC(2019, 1, 1))
      })
      const [figures] = yield* sql`SELECT replies_count, reblogs_count FROM status_stats WHERE status_id = ${theirs}`
      assert.deepStrictEqual(figures, { repliesCount: 1, reblogsCount: 1 })

      for (const table of ["notifications", "fanouts", "deliveries", "tag_days", "archive_items", "archive_files"]) {
        assert.lengthOf(yield* sql`SELECT FROM ${sql(table)}`, 0, table)
      }
      const homes = yield* HomeTimelines
      const page = { limit: 40, maxId: undefined, minId: undefined, sinceId: undefined }
      for (const reader of [zoe, bob]) {
        const shown = yield* homes.page(reader, page)
        assert.notIncludeMembers([...shown.ids], [first!.id, boost!.id])
      }
      // Other servers can fetch the public ones.
      const document = (yield* objects.load([first!.id])).get(first!.id)
      assert.deepInclude(document?.note, { published: "2019-01-01T00:01:00.000Z", content: "<p>post 1</p>" })
    }))

  it.effect("add each post once: run twice, by two archives, or wherever a node dies", () =>
    Effect.gen(function*() {
      const [ada, eve] = [yield* user("ada"), yield* user("eve")]
      const actor = "https://old.example/users/ada"
      yield* Effect.forEach([ada, eve], (owner) => claim(owner, actor))
      const image = yield* Effect.promise(() => picture().png().toBuffer())
      const paths = Array.from({ length: 5 }, (_, n) => `media_attachments/${n}.png`)
      const items = Array.from({ length: 130 }, (_, n) =>
        noteOf(actor, n, {
          ...(n % 3 === 1 ? { inReplyTo: `${actor}/statuses/${n - 1}` } : {}),
          ...(n < 5 ? { attachment: [{ type: "Document", mediaType: "image/png", url: paths[n] }] } : {})
        }))
      const archive = mastodonArchive(actor, items, Object.fromEntries(paths.map((path) => [path, image])))
      const whole = yield* imported(ada, archive)
      assert.deepStrictEqual([whole.added, whole.failed], [130, 0])
      const again = yield* imported(ada, archive)
      assert.deepStrictEqual([again.processed, again.added, again.failed], [130, 0, 0])
      const more = yield* planOf(ada, mastodonArchive(actor, [...items, noteOf(actor, 999)]))
      assert.deepInclude(more.plan, { posts: 131, known: 130 })
      const transfers = yield* Transfers
      yield* transfers.cancel(ada, more.id)

      let [died, asked] = [0, 0]
      const drawn = yield* imported(eve, archive, (_, when) => {
        asked++
        const dies = (asked * 5 + (when === "before" ? 1 : 0)) % 3 === 0 && died < 12
        if (dies) died++
        return dies
      })
      assert.isAtLeast(died, 8)
      assert.deepStrictEqual([drawn.processed, drawn.added], [130, 130])
      assert.deepStrictEqual(yield* contentOf(eve), yield* contentOf(ada))
    }))

  it.effect("refuse the archive of another account, unless either names the other as its own", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [mia, config] = [yield* user("mia"), yield* ServerConfig]
      const actor = "https://old.example/users/victim"
      const archive = mastodonArchive(actor, [noteOf(actor, 1)])
      assert.deepInclude(yield* planOf(mia, archive), { state: "failed", problem: "foreign_actor" })
      const alone = new TextEncoder().encode(JSON.stringify({ orderedItems: [noteOf(actor, 1)] }))
      assert.deepInclude(yield* planOf(mia, alone), { state: "failed", problem: "foreign_actor" })
      yield* sql`INSERT INTO accounts (id, username, domain, uri, also_known_as, created_at, updated_at)
        VALUES (5, 'victim', 'old.example', ${actor}, ARRAY[${Urls.actor(config, "mia")}], now(), now())`
      assert.deepInclude(yield* planOf(mia, alone), { state: "unconfirmed", total: 1 })
      yield* sql`UPDATE transfers SET state = 'cancelled' WHERE account_id = ${mia}`
    }))

  it.effect("refuse hostile files with a reason, and keep nothing of them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const joe = yield* user("joe")
      const actor = "https://old.example/users/joe"
      yield* claim(joe, actor)
      const text = (value: string) => new TextEncoder().encode(value)
      const image = yield* Effect.promise(() => picture().png().toBuffer())
      const huge = noteOf(actor, 1, { content: "x".repeat(1_100_000) })
      const hostile: ReadonlyArray<readonly [Uint8Array, string]> = [
        [text("no archive"), "unreadable"],
        [mastodonArchive(actor, [noteOf(actor, 1)]).subarray(0, 300), "unreadable"],
        [zipSync({ "../outbox.json": text("{}") }), "unsafe_path"],
        [zipSync({ "actor.json": text("{}") }), "empty"],
        [zipSync({ "outbox.json": text("{\"orderedItems\":[{\"a\":") }), "unreadable"],
        [mastodonArchive(actor, [huge]), "oversized_post"],
        [zipSync({ "a/../../b.png": image, "outbox.json": text("{}") }), "unsafe_path"],
        [zipSync({ "a.png": image, "./a.png": image, "outbox.json": text("{}") }), "duplicate_path"]
      ]
      for (const [archive, problem] of hostile) {
        const { problem: found, state } = yield* planOf(joe, archive)
        assert.deepStrictEqual([state, found], ["failed", problem])
      }
      assert.lengthOf(yield* sql`SELECT FROM archive_files`, 0)
      assert.lengthOf(yield* sql`SELECT FROM stored_files WHERE transfer_id IS NOT NULL`, 0)
      assert.lengthOf(yield* rowsOf(joe), 0)
    }))

  it.effect("can be undone as a whole: posts that nobody noticed are deleted without telling other servers", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [kim, lea] = [yield* user("kim"), yield* user("lea")]
      const actor = "https://old.example/users/kim"
      yield* claim(kim, actor)
      const image = yield* Effect.promise(() => picture().png().toBuffer())
      const own = yield* status(kim, "written here")
      yield* sql`UPDATE account_stats SET statuses_count = 1 WHERE account_id = ${kim}`
      const items = Array.from({ length: 45 }, (_, n) =>
        noteOf(actor, n, {
          ...(n > 0 ? { inReplyTo: `${actor}/statuses/${n - 1}` } : {}),
          ...(n === 3 ? { attachment: [{ type: "Document", mediaType: "image/png", url: "a.png" }] } : {})
        }))
      const archive = mastodonArchive(actor, items, { "a.png": image })
      const { id } = yield* imported(kim, archive)
      const posts = yield* rowsOf(kim)
      assert.lengthOf(posts, 46)
      const noticed = posts[10]!.id
      const actors = yield* AccountActors
      yield* actors.tell(lea, { _tag: "Favourite", statusId: StatusId.make(noticed) })
      const undone = yield* ArchiveRequests.use((archives) => archives.undo(kim, id))
      assert.strictEqual(
        (yield* runTransfer(yield* ArchiveUndos.make, (step, when) => step === 1 && when === "after"))._tag,
        "Finished"
      )
      const transfers = yield* Transfers
      assert.strictEqual((yield* transfers.find(kim, undone.id)).removed, 45)
      assert.deepStrictEqual((yield* rowsOf(kim)).map((row) => row.id), [own])
      assert.deepStrictEqual(
        (yield* sql`SELECT status_id FROM fanouts WHERE account_id = ${kim} AND kind = 'delete'`).map((row) =>
          row["statusId"]
        ),
        []
      )
      assert.lengthOf(yield* sql`SELECT FROM media_attachments WHERE account_id = ${kim}`, 0)
      assert.lengthOf(yield* sql`SELECT FROM imported_statuses WHERE account_id = ${kim}`, 0)
      assert.strictEqual((yield* contentOf(kim)).stats?.["statusesCount"], 1)
      assert.strictEqual((yield* imported(kim, archive)).added, 45)
    }))
})
