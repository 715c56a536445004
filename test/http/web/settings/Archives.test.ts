import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { unzipSync, zipSync } from "fflate"
import { filesPath } from "../../../../src/services/instance/Urls.ts"
import { json, newPerson, publish } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { picture, uploaded } from "../../../support/MediaFiles.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { formsOf } from "../../../support/TestBrowser.ts"

const path = "/settings/archives"

/** Opens a signed-in browser that uploads archives. */
const opened = Effect.fnUntraced(function*(name: string) {
  const { baseUrl } = yield* TestServer
  const person = yield* newPerson(name)
  const browser = yield* staffBrowser(person)
  const upload = Effect.fnUntraced(function*(archive: Uint8Array) {
    const { action, fields } = formsOf(yield* browser.get(path)).find(({ acts }) => acts.includes("import"))!
    const body = new FormData()
    for (const [key, value] of Object.entries({ ...fields, act: "import" })) body.set(key, value)
    body.set("file", new Blob([new Uint8Array(archive)]), "archive.zip")
    const sent = yield* browser.request(action, { method: "POST", body, headers: { origin: baseUrl } })
    assert.strictEqual(sent.status, 303, sent.text)
    const at = (sent.headers.get("location") ?? "").split("#")[0]!
    return yield* eventually(browser.get(at), ({ text }) => /Start import|role="status">Failed/.test(text))
  })
  return { person, browser, upload }
})

layer(TestServer.layer(), { excludeTestServices: true })("archives in the web client", (it) => {
  it.effect("row 53: an archive is requested once a week, and downloaded in ranges by its owner only", () =>
    Effect.gen(function*() {
      const { browser, person } = yield* opened("zoe")
      const media = yield* uploaded(person, yield* Effect.promise(() => picture().png().toBuffer()))
      yield* publish(person, "with a picture", { media_ids: [media.id] })
      const page = yield* browser.get(path)
      assert.strictEqual((yield* browser.press(page, "request")).status, 303)
      const done = yield* eventually(browser.get(path), ({ text }) => text.includes("Download archive"))
      const again = yield* browser.press(done, "request")
      assert.include(again.text, "You can request an archive once a week.")
      const [, at = ""] = /href="([^"]+\/download)"/.exec(done.text) ?? []
      const { fetch } = yield* TestServer
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
      const whole = yield* fetch(at, { headers: { cookie } })
      assert.strictEqual(whole.headers.get("content-type"), "application/zip")
      assert.match(
        whole.headers.get("content-disposition") ?? "",
        /^attachment; filename="archive-zoe-\d{4}-\d\d-\d\d.zip"$/
      )
      assert.strictEqual(whole.headers.get("cache-control"), "private, no-store")
      const size = Number(whole.headers.get("content-length"))
      const full = new Uint8Array(yield* Effect.promise(() => whole.arrayBuffer()))
      const headers = { cookie, range: "bytes=0-3", "if-range": whole.headers.get("etag") ?? "" }
      const part = yield* fetch(at, { headers })
      assert.deepStrictEqual([part.status, part.headers.get("content-range")], [206, `bytes 0-3/${size}`])
      assert.deepStrictEqual(new Uint8Array(yield* Effect.promise(() => part.arrayBuffer())), full.subarray(0, 4))
      const files = unzipSync(full)
      assert.strictEqual(full.length, size)
      assert.lengthOf(Object.keys(files).filter((name) => name.startsWith("media_attachments/files/")), 1)
      const other = yield* opened("eve")
      assert.strictEqual((yield* other.browser.get(at)).status, 404)
      assert.notStrictEqual((yield* fetch(at, { redirect: "manual" })).status, 200)
      const sql = yield* SqlClient.SqlClient
      const parts = yield* sql<{ readonly fileName: string }>`SELECT file_name FROM archive_parts
        WHERE file_name IS NOT NULL`
      assert.isAtLeast(parts.length, 1)
      for (const { fileName } of parts) {
        assert.strictEqual((yield* fetch(`${filesPath}/${fileName}`)).status, 404)
      }
    }))

  it.effect("a member imports old posts after a preview, and deletes them again", () =>
    Effect.gen(function*() {
      const { baseUrl, fetch } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const { browser, person, upload } = yield* opened("mia")
      const actor = "https://old.example/users/mia"
      const image = yield* Effect.promise(() => picture().png().toBuffer())
      const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
      const note = {
        id: `${actor}/statuses/1`,
        type: "Note",
        attributedTo: actor,
        published: "2018-05-06T07:08:09.000Z",
        to: ["https://www.w3.org/ns/activitystreams#Public"],
        content: "<p>from long ago</p>",
        attachment: [{ type: "Document", mediaType: "image/png", url: "/media_attachments/a.png", name: "Old" }]
      }
      const create = { ...note, id: `${note.id}/activity`, type: "Create", actor, object: note }
      const archive = zipSync({
        "media_attachments/a.png": new Uint8Array(image),
        "outbox.json": text({ type: "OrderedCollection", orderedItems: [create] }),
        "actor.json": text({ id: actor, type: "Person" })
      })
      const refused = yield* upload(archive)
      assert.include(refused.text, "The archive is of another account.")
      yield* sql`UPDATE accounts SET also_known_as = ARRAY[${actor}] WHERE id = ${person.accountId}`
      const plan = yield* upload(archive)
      assert.include(plan.text, "1 post is added.")
      assert.include(plan.text, "1 file is added.")
      const at = formsOf(plan).find(({ acts }) => acts.includes("confirm"))!.action.replace("/web", "")
      assert.deepStrictEqual(yield* json(person, `/api/v1/accounts/${person.accountId}/statuses`), [])
      yield* browser.press(plan, "confirm")
      const done = yield* eventually(browser.get(at), ({ text }) => text.includes("role=\"status\">Finished"))
      const read = json(person, `/api/v1/accounts/${person.accountId}/statuses`)
      const [status] = yield* eventually(read, ([one]) => one?.media_attachments[0]?.url !== null)
      assert.deepInclude(status, { content: "<p>from long ago</p>", created_at: note.published, visibility: "public" })
      assert.deepInclude(status.media_attachments[0], { type: "image", description: "Old" })
      assert.strictEqual((yield* fetch(status.media_attachments[0].url.replace(baseUrl, ""))).status, 200)
      assert.deepStrictEqual(yield* json(person, "/api/v1/timelines/home"), [])
      const shown = yield* fetch(`/@mia/${status.id}`)
      assert.include(yield* Effect.promise(() => shown.text()), `href="${note.id}">Original page</a>`)
      const document = yield* fetch(status.uri.replace(baseUrl, ""), {
        headers: { accept: "application/activity+json" }
      })
      assert.deepInclude(yield* Effect.promise(() => document.json()), { type: "Note", published: note.published })
      const account = yield* json(person, `/api/v1/accounts/${person.accountId}`)
      assert.deepStrictEqual([account.statuses_count, account.last_status_at], [1, "2018-05-06"])
      const undone = yield* browser.follow(yield* browser.press(done, "undo"))
      assert.include(undone.text, "The imported posts are being deleted.")
      yield* eventually(read, (statuses) => statuses.length === 0)
    }))
})
