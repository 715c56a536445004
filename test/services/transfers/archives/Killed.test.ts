import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, FileSystem, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { makeAccounts } from "../../../cluster/Nodes.ts"
import { Dice } from "../../../simulation/Seeded.ts"
import { eventually } from "../../../support/Eventually.ts"
import { picture } from "../../../support/MediaFiles.ts"
import { freePort } from "../../../support/ports.ts"
import * as Program from "../../../support/Program.ts"
import type { Reply } from "../../../support/Requests.ts"
import * as TestBrowser from "../../../support/TestBrowser.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const posts = 300
const pictures = 4
/** Seed of the numbers of posts at which the server is killed. */
const seed = 29

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** An archive of many posts: replies, content warnings, polls and pictures. */
const archiveOf = (actor: string, image: Uint8Array) => {
  const items = Array.from({ length: posts }, (_, at) => {
    const id = `${actor}/statuses/${at}`
    const published = new Date(Date.UTC(2019, 0, 1) + at * 3_600_000).toISOString()
    const to = ["https://www.w3.org/ns/activitystreams#Public"]
    const object = {
      id,
      type: at % 50 === 7 ? "Question" : "Note",
      attributedTo: actor,
      published,
      to,
      content: `<p>Post ${at}</p>`,
      ...(at % 5 === 1 && { summary: `About ${at}`, sensitive: true }),
      ...(at % 3 === 2 && { inReplyTo: `${actor}/statuses/${at - 1}` }),
      ...(at % 50 === 7 && {
        endTime: published,
        oneOf: ["Yes", "No"].map((name, n) => ({ type: "Note", name, replies: { type: "Collection", totalItems: n } }))
      }),
      ...(at < pictures && {
        attachment: [{ type: "Document", mediaType: "image/png", url: `/media/${at}.png`, name: `Picture ${at}` }]
      })
    }
    return { id: `${id}/activity`, type: "Create", actor, published, to, object }
  })
  const media = Object.fromEntries(Array.from({ length: pictures }, (_, at) => [`media/${at}.png`, image]))
  return zipSync({
    "actor.json": text({ id: actor, type: "Person" }),
    ...media,
    "outbox.json": text({ type: "OrderedCollection", orderedItems: items })
  })
}

layer(Layer.merge(TestDatabase.layer, NodeServices.layer), { excludeTestServices: true })(
  "an archive import of a server that is killed",
  (it) => {
    it.effect("kill -9 while it reads and at drawn numbers of posts leaves the rows of an import that was not killed", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const port = yield* freePort
        const baseUrl = `http://127.0.0.1:${port}`
        const variables = {
          HOST: "127.0.0.1",
          PORT: String(port),
          PUBLIC_URL: baseUrl,
          DATABASE_URL: url,
          DATA_DIR: yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "murmuration-killed-" }),
          RATE_LIMITS: "off",
          LOG_LEVEL: "error"
        }
        const outer = yield* Effect.scope
        const start = Effect.gen(function*() {
          const life = yield* Scope.fork(outer)
          const program = yield* Scope.provide(Program.start("main", [], variables), life)
          yield* Program.printed(program, "Murmuration is at")
          return { ...program, life }
        })
        let server = yield* start
        /** Kills the server, starts it again, and lets the lease of the dead one end, which takes two minutes. */
        const kill = Effect.gen(function*() {
          server.child.kill("SIGKILL")
          yield* server.ended
          yield* Scope.close(server.life, Exit.void)
          yield* sql`UPDATE transfers SET due_at = created_at WHERE state = 'in_progress'`
          server = yield* start
        })

        const send = (path: string, init: RequestInit = {}): Effect.Effect<Reply> =>
          Effect.promise(async () => {
            const response = await fetch(baseUrl + path, { redirect: "manual", ...init })
            return { status: response.status, headers: response.headers, text: await response.text(), body: undefined }
          })
        const image = new Uint8Array(yield* Effect.promise(() => picture().png().toBuffer()))
        const [calm, killed] = yield* makeAccounts(variables, ["calm", "killed"])
        const begin = Effect.fnUntraced(function*({ id, username }: NonNullable<typeof calm>) {
          const actor = `https://old.example/users/${username}`
          yield* sql`UPDATE accounts SET also_known_as = ARRAY[${actor}] WHERE id = ${id}`
          const browser = TestBrowser.makeWith(send, { origin: baseUrl }, "example.org")
          yield* browser.signIn(username, undefined, "correct horse battery staple")
          const page = yield* browser.get("/settings/archives")
          const { action, fields } = TestBrowser.formsOf(page).find(({ acts }) => acts.includes("import"))!
          const body = new FormData()
          for (const [key, value] of Object.entries({ ...fields, act: "import" })) body.set(key, value)
          body.set("file", new Blob([new Uint8Array(archiveOf(actor, image))]), "archive.zip")
          const sent = yield* browser.request(action, { method: "POST", body, headers: { origin: baseUrl } })
          assert.strictEqual(sent.status, 303, sent.text)
          const at = (sent.headers.get("location") ?? "").split("#")[0]!
          const confirm = Effect.gen(function*() {
            const plan = yield* eventually(browser.get(at), ({ text }) => text.includes("Start import"))
            assert.include(plan.text, `${posts} posts are added.`)
            yield* browser.press(plan, "confirm")
          })
          const finished = eventually(browser.get(at), ({ text }) => text.includes("role=\"status\">Finished"))
          return { confirm, finished }
        })

        const first = yield* begin(calm!)
        yield* first.confirm
        yield* first.finished

        const second = yield* begin(killed!)
        // It is about to be read, or is being read.
        yield* kill
        yield* second.confirm
        const dice = new Dice(seed, "kills")
        const written = sql<{ count: number }>`SELECT count(*)::int AS count FROM statuses WHERE account_id = ${
          killed!.id
        }`
        let at = 0
        for (let n = 0; n < 3; n++) {
          at = dice.between(at + 1, 90 * (n + 1))
          yield* eventually(written, ([row]) => (row?.count ?? 0) >= at)
          yield* kill
        }
        const [cut] = yield* written
        assert.isBelow(cut?.count ?? posts, posts, "it was killed before its end")
        yield* second.finished

        const rowsOf = (account: bigint) =>
          sql`SELECT s.text, s.html, s.created_at, s.spoiler_text, s.sensitive, s.visibility, s.local, s.edited_at,
              replace(i.uri, '/calm/', '/killed/') AS uri, r.html AS parent, p.options, p.counts, p.voters_count,
              (SELECT array_agg(m.description ORDER BY m.id) FROM media_attachments m WHERE m.status_id = s.id) AS media
            FROM statuses s LEFT JOIN imported_statuses i ON i.status_id = s.id
              LEFT JOIN statuses r ON r.id = s.in_reply_to_id LEFT JOIN polls p ON p.status_id = s.id
            WHERE s.account_id = ${account} AND s.deleted_at IS NULL ORDER BY s.created_at, s.id`
        const rows = yield* rowsOf(killed!.id)
        assert.lengthOf(rows, posts)
        assert.deepStrictEqual(rows, yield* rowsOf(calm!.id))
        const figures = (account: bigint) =>
          sql`SELECT statuses_count, last_status_at FROM account_stats WHERE account_id = ${account}`
        assert.deepStrictEqual(yield* figures(killed!.id), yield* figures(calm!.id))
        const left = yield* sql`SELECT (SELECT count(*)::int FROM archive_items) AS items,
          (SELECT count(*)::int FROM media_attachments WHERE status_id IS NULL) AS media,
          (SELECT count(*)::int FROM archive_files) AS files`
        assert.deepStrictEqual(left, [{ items: 0, media: 0, files: 0 }])
      }))
  }
)
