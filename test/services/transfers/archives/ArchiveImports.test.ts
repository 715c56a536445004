import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as ArchiveImports from "../../../../src/actors/transfers/ArchiveImports.ts"
import { millisOf } from "../../../../src/services/database/Ids.ts"
import { Objects } from "../../../../src/services/federation/Objects.ts"
import { HomeTimelines } from "../../../../src/services/feeds/HomeTimelines.ts"
import { Timelines } from "../../../../src/services/feeds/Timelines.ts"
import { ArchiveRequests } from "../../../../src/services/transfers/archives/ArchiveRequests.ts"
import { Transfers } from "../../../../src/services/transfers/Transfers.ts"
import {
  archiveServer,
  claimAlias,
  contentOf,
  everybody,
  importArchive,
  mastodonArchive,
  mover,
  noteOf,
  photo,
  picturedPosts,
  planOf,
  postsOf,
  runTransfer
} from "../../../support/Archives.ts"
import { followers } from "../../../support/People.ts"
import { status } from "../../../support/Posts.ts"
import { user } from "../../../support/SignedIn.ts"

layer(archiveServer, { excludeTestServices: true })("imports of archives", (it) => {
  it.effect("F255: add posts with their dates, texts, audiences, threads, files and polls, and notify nobody", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [zoe, actor] = yield* mover("zoe")
      const bob = yield* user("bob")
      yield* followers(zoe, [bob])
      const objects = yield* Objects
      const theirs = yield* status(bob, "boosted by zoe")
      const bobsPost = (yield* objects.uris([theirs])).get(theirs)
      const bobsActor = bobsPost?.replace(/\/statuses\/.*/, "")
      const image = yield* photo
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
      assert.lengthOf(yield* postsOf(zoe), 0)
      const transfers = yield* Transfers
      yield* ArchiveRequests.use((archives) => archives.confirm(zoe, id))
      yield* runTransfer(yield* ArchiveImports.make)
      const { added, failed, processed } = yield* transfers.find(zoe, id)
      assert.deepStrictEqual([added, failed, processed], [6, 1, 7])

      const [first, reply, direct, poll, response, boost] = yield* postsOf(zoe)
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
      assert.strictEqual(response!.inReplyToId, theirs)
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
      const timelines = yield* Timelines
      const everywhere = { local: false, remote: false, onlyMedia: false }
      assert.notInclude(yield* timelines.publicTimeline(zoe, everywhere, page), first!.id)
      const tag = { ...everywhere, name: "old", any: [], all: [], none: [] }
      assert.deepStrictEqual(yield* timelines.tagged(zoe, tag, page), [first!.id])
      // Other servers can fetch the public ones.
      const document = (yield* objects.load([first!.id])).get(first!.id)
      assert.deepInclude(document?.note, { published: "2019-01-01T00:01:00.000Z", content: "<p>post 1</p>" })
    }))

  it.effect("add each post once: run twice, from two archives, or wherever a node dies", () =>
    Effect.gen(function*() {
      const [ada, actor] = yield* mover("ada")
      const eve = yield* user("eve")
      yield* claimAlias(eve, actor)
      const { files, items } = yield* picturedPosts(
        actor,
        130,
        5,
        (n) => n % 3 === 1 ? { inReplyTo: `${actor}/statuses/${n - 1}` } : {}
      )
      const archive = mastodonArchive(actor, items, files)
      const whole = yield* importArchive(ada, archive)
      assert.deepStrictEqual([whole.added, whole.failed], [130, 0])
      const again = yield* importArchive(ada, archive)
      assert.deepStrictEqual([again.processed, again.added, again.failed], [130, 0, 0])
      const more = yield* planOf(ada, mastodonArchive(actor, [...items, noteOf(actor, 999)]))
      assert.deepInclude(more.plan, { posts: 1, known: 130, files: 0, missingFiles: 0 })
      const transfers = yield* Transfers
      yield* transfers.cancel(ada, more.id)

      let [died, asked] = [0, 0]
      const drawn = yield* importArchive(eve, archive, (_, when) => {
        asked++
        const dies = (asked * 5 + (when === "before" ? 1 : 0)) % 3 === 0 && died < 12
        if (dies) died++
        return dies
      })
      assert.isAtLeast(died, 8)
      assert.deepStrictEqual([drawn.processed, drawn.added], [130, 130])
      assert.deepStrictEqual(yield* contentOf(eve), yield* contentOf(ada))
    }))

  it.effect("F255: boost no post to a wider audience than its own, and survive invalid file paths", () =>
    Effect.gen(function*() {
      const pat = yield* user("pat")
      const sql = yield* SqlClient.SqlClient
      const [olga, actor] = yield* mover("olga")
      const objects = yield* Objects
      const blocked = yield* status(pat, "by an account that olga blocks")
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, ${olga}, ${pat})`
      const boostOf = (n: number, object: string | undefined, to = [everybody]) => ({
        id: `${actor}/statuses/${n}/activity`,
        type: "Announce",
        actor,
        published: "2019-02-01T00:00:00Z",
        to,
        object
      })
      const attachment = [{ type: "Document", mediaType: "image/png", url: "/media%00.png" }]
      const done = yield* importArchive(
        olga,
        mastodonArchive(actor, [
          noteOf(actor, 1, { to: ["https://old.example/users/friend"], cc: [] }),
          noteOf(actor, 2, { to: [`${actor}/followers`], cc: [] }),
          noteOf(actor, 3, { attachment }),
          boostOf(4, `${actor}/statuses/1`),
          boostOf(5, `${actor}/statuses/2`),
          boostOf(6, `${actor}/statuses/3`, []),
          boostOf(7, (yield* objects.uris([blocked])).get(blocked))
        ])
      )
      assert.deepStrictEqual([done.added, done.failed], [5, 2])
      const rows = (yield* postsOf(olga)).map(({ reblogOfId, visibility }) => [reblogOfId !== null, visibility])
      assert.sameDeepMembers(rows, [
        [false, "direct"],
        [false, "private"],
        [false, "public"],
        [true, "private"],
        [true, "private"]
      ])
    }))

  it.effect("F257: add the other posts if the database refuses one, and find another id for one of the same time", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [rita, actor] = yield* mover("rita")
      const [first, ...rest] = Array.from(
        { length: 45 },
        (_, n) => noteOf(actor, n, { published: "2019-05-01T00:00:00Z" })
      )
      const before = yield* sql<{ readonly last: bigint }>`SELECT last_value AS last FROM id_sequence`
      yield* importArchive(rita, mastodonArchive(actor, [first!]))
      // Ids of one millisecond repeat after 65,536 others.
      yield* sql`SELECT setval('id_sequence', ${before[0]!.last})`
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN IF NEW.text = ''post 30'' THEN RAISE invalid_text_representation; END IF; RETURN NEW; END'`
      yield* sql`CREATE TRIGGER refuse BEFORE INSERT ON statuses FOR EACH ROW EXECUTE FUNCTION refuse()`
      const done = yield* importArchive(rita, mastodonArchive(actor, rest))
      yield* sql`DROP FUNCTION refuse CASCADE`
      assert.deepInclude(done, { state: "finished", processed: 44, added: 43, failed: 1 })
      assert.lengthOf(yield* postsOf(rita), 44)
    }))
})
