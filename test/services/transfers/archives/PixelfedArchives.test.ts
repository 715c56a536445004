import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { Transfers } from "../../../../src/services/transfers/Transfers.ts"
import { archiveServer, claimAlias, importArchive, photo, planOf, postsOf } from "../../../support/Archives.ts"
import { user } from "../../../support/SignedIn.ts"

const origin = "https://pixelfed.example"
const accountOf = (name: string) => ({
  id: "77",
  username: name,
  acct: name,
  display_name: name,
  note: "",
  note_text: null,
  url: `${origin}/${name}`,
  avatar: `${origin}/storage/avatars/default.jpg`,
  local: true
})

const fileOf = (n: number) => ({
  id: String(n),
  type: "image",
  url: `${origin}/storage/m/_v2/77/abc/${n}.png`,
  remote_url: null,
  preview_url: `${origin}/storage/m/_v2/77/abc/${n}_thumb.png`,
  text_url: null,
  meta: null,
  description: `Picture ${n}`,
  license: null,
  is_nsfw: 0,
  orientation: null,
  filter_name: null,
  filter_class: null,
  mime: "image/png"
})

/** A status in the form of Pixelfed's export. */
const statusOf = (name: string, n: number, more: object = {}) => ({
  _v: 1,
  id: `7000${n}`,
  shortcode: `abc${n}`,
  uri: `${origin}/p/${name}/7000${n}`,
  url: `${origin}/p/${name}/7000${n}`,
  in_reply_to_id: "",
  in_reply_to_account_id: "",
  reblog: null,
  content: `Number ${n} <a href="${origin}/discover/tags/lake" class="u-url hashtag">#lake</a>`,
  content_text: `Number ${n} #lake`,
  created_at: `2020-04-0${n}T10:00:00.000Z`,
  emojis: [],
  reblogs_count: 0,
  favourites_count: 3,
  sensitive: false,
  spoiler_text: "",
  visibility: "public",
  language: null,
  mentions: [],
  pf_type: "photo",
  place: null,
  local: true,
  media_attachments: [fileOf(n)],
  account: accountOf(name),
  tags: [{ name: "lake", slug: "lake", url: `${origin}/discover/tags/lake` }],
  poll: null,
  ...more
})

/** Writes statuses as Pixelfed does: chunks of arrays without their brackets, each on lines of its own. */
const exportOf = (...chunks: ReadonlyArray<ReadonlyArray<unknown>>) => {
  const bodies = chunks.map((statuses) => JSON.stringify(statuses, null, 4).replace(/^\[+|\]+$/g, ""))
  return new TextEncoder().encode(["[", bodies.join("\n,"), "]"].join("\n"))
}

layer(archiveServer, { excludeTestServices: true })("statuses that Pixelfed exported", (it) => {
  it.effect("become dated posts with their texts, audiences and tags; their pictures are counted as missing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* user("pix")
      yield* claimAlias(owner, `${origin}/users/pix`)
      const archive = exportOf(
        [
          statusOf("pix", 1),
          statusOf("pix", 2, { visibility: "unlisted", spoiler_text: "Water", sensitive: true }),
          statusOf("pix", 3, {
            visibility: "private",
            pf_type: "reply",
            in_reply_to_id: "70001",
            in_reply_to_account_id: "77",
            media_attachments: []
          })
        ],
        [
          statusOf("pix", 4, {
            pf_type: "reply",
            in_reply_to_id: "123",
            in_reply_to_account_id: "9",
            media_attachments: []
          }),
          // A share does not name its post; nobody may see an archived post.
          statusOf("pix", 5, { pf_type: "share", content: null, content_text: null, media_attachments: [] }),
          statusOf("pix", 6, { visibility: "archived" }),
          statusOf("pix", 7, { account: accountOf("other"), uri: `${origin}/p/other/70007` }),
          statusOf("pix", 8, { created_at: "yesterday" })
        ]
      )
      const first = yield* planOf(owner, archive)
      assert.strictEqual(first.problem, null)
      assert.deepInclude(first.plan, {
        posts: 4,
        boosts: 0,
        files: 0,
        missingFiles: 2,
        foreign: 1,
        unreadable: 1,
        unsupported: 2,
        firstMillis: Date.UTC(2020, 3, 1, 10),
        lastMillis: Date.UTC(2020, 3, 4, 10)
      })
      yield* Transfers.use((transfers) => transfers.cancel(owner, first.id))
      assert.deepInclude(yield* importArchive(owner, archive), { state: "finished", added: 4, failed: 0 })
      const [one, two, three, four] = yield* postsOf(owner)
      assert.deepInclude(one, { text: "Number 1 #lake", visibility: "public", sensitive: false, mediaIds: [] })
      assert.include(one!.html, "Number 1")
      assert.strictEqual(one!.createdAt.getTime(), Date.UTC(2020, 3, 1, 10))
      assert.deepInclude(two, { visibility: "unlisted", spoilerText: "Water", sensitive: true })
      assert.deepInclude(three, { visibility: "private", inReplyToId: one!.id })
      assert.deepInclude(four, { visibility: "public", inReplyToId: null })
      const tagged = yield* sql`SELECT FROM statuses_tags st JOIN tags t ON t.id = st.tag_id
        WHERE t.name = 'lake' AND st.status_id = ${one!.id}`
      assert.lengthOf(tagged, 1)
      const [origins] = yield* sql`SELECT uri, url FROM imported_statuses WHERE status_id = ${one!.id}`
      assert.deepStrictEqual(origins, { uri: `${origin}/p/pix/70001`, url: `${origin}/p/pix/70001` })
      const again = yield* importArchive(owner, archive)
      assert.deepStrictEqual([again.processed, again.added], [4, 0])
    }))

  it.effect("have their pictures if a zip has them beside the file, at the paths of their URLs", () =>
    Effect.gen(function*() {
      const owner = yield* user("pixzip")
      yield* claimAlias(owner, `${origin}/users/pixzip`)
      const zip = zipSync({
        "pixelfed-statuses.json": exportOf([statusOf("pixzip", 1), statusOf("pixzip", 2)]),
        "storage/m/_v2/77/abc/1.png": new Uint8Array(yield* photo)
      })
      const { id, plan } = yield* planOf(owner, zip)
      assert.deepInclude(plan, { posts: 2, files: 1, missingFiles: 1 })
      yield* Transfers.use((transfers) => transfers.cancel(owner, id))
      yield* importArchive(owner, zip)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(
        (yield* sql`SELECT description FROM media_attachments WHERE account_id = ${owner}`).map((row) =>
          row["description"]
        ),
        ["Picture 1"]
      )
    }))

  it.effect("F394, F401: fail without text, as their plan says, if their pictures are missing, as nothing would be shown", () =>
    Effect.gen(function*() {
      const owner = yield* user("pixempty")
      yield* claimAlias(owner, `${origin}/users/pixempty`)
      const textless = { content: "", content_text: "", tags: [] }
      const zip = zipSync({
        "pixelfed-statuses.json": exportOf([
          statusOf("pixempty", 1, textless),
          statusOf("pixempty", 2, textless),
          statusOf("pixempty", 3, { ...textless, spoiler_text: "Lake" })
        ]),
        "storage/m/_v2/77/abc/1.png": new Uint8Array(yield* photo)
      })
      const { id, plan } = yield* planOf(owner, zip)
      assert.deepInclude(plan, { posts: 2, files: 1, missingFiles: 2, empty: 1 })
      yield* Transfers.use((transfers) => transfers.cancel(owner, id))
      assert.deepInclude(yield* importArchive(owner, zip), { state: "finished", added: 2, failed: 1 })
      assert.deepStrictEqual(
        (yield* postsOf(owner)).map(({ mediaIds, spoilerText }) => [mediaIds.length, spoilerText]),
        [[1, ""], [0, "Lake"]]
      )
    }))

  it.effect("are refused for another account, and as a damaged file", () =>
    Effect.gen(function*() {
      const owner = yield* user("pixno")
      const whole = exportOf([statusOf("pixno", 1)])
      assert.strictEqual((yield* planOf(owner, whole)).problem, "foreign_actor")
      yield* claimAlias(owner, `${origin}/users/pixno`)
      for (
        const [text, problem] of [
          [Buffer.from(whole).toString().slice(0, -3), "unreadable"],
          ["[]", "empty"],
          ["[\n\n]", "empty"],
          ["[1]", "empty"],
          [`${"[".repeat(1_000)}1${"]".repeat(1_000)}`, "unreadable"],
          ["[{}]]", "unreadable"]
        ] as const
      ) {
        assert.strictEqual((yield* planOf(owner, new TextEncoder().encode(text))).problem, problem, text.slice(0, 20))
      }
    }))
})
