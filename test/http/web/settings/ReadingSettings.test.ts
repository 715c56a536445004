import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../../../support/Api.ts"
import { picture, uploaded } from "../../../support/MediaFiles.ts"
import { TestServer } from "../../../support/Server.ts"
import { formsOf } from "../../../support/TestBrowser.ts"
import { opened } from "./Opened.ts"

layer(TestServer.layer(), { excludeTestServices: true })("reading settings", (it) => {
  it.effect("the time zone applies to scheduled posts; an unknown one is refused", () =>
    Effect.gen(function*() {
      const { browser, send } = yield* opened("traveller")
      const choose = (zone: string) => send("/settings/reading", "save", (fields) => fields.set("time_zone", zone))
      assert.strictEqual((yield* choose("Asia/Tokyo")).status, 303)
      assert.include((yield* browser.get("/settings/reading")).text, `<option value="Asia/Tokyo" selected>`)
      assert.include((yield* browser.get("/publish")).text, `name="zone" value="Asia/Tokyo"`)
      for (const wrong of ["Mars/Olympus", "Europe/Berlin; DROP", "x".repeat(5_000), "../../etc/passwd"]) {
        assert.isAtLeast((yield* choose(wrong)).status, 400, wrong.slice(0, 30))
      }
      assert.include((yield* browser.get("/publish")).text, `name="zone" value="Asia/Tokyo"`)
      assert.strictEqual((yield* choose("")).status, 303)
      assert.include((yield* browser.get("/publish")).text, `name="zone" value="UTC"`)
    }))

  it.effect("the composer asks about files without a description, unless the member turns that off", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const { browser, person, send } = yield* opened("photographer")
      const bytes = yield* Effect.promise(() => picture().png().toBuffer())
      const sendPost = Effect.gen(function*() {
        const { id } = yield* uploaded(person, bytes)
        const page = yield* browser.get("/publish")
        const form = formsOf(page).find(({ action }) => action === "/web/compose")
        const body = new URLSearchParams({ ...form?.fields, text: "look", visibility: "public", act: "post" })
        body.append("files[]", id)
        return yield* browser.request("/web/compose", { method: "POST", body, headers: { origin: baseUrl } })
      })
      const question = "A file has no description."
      assert.include((yield* sendPost).text, question)
      yield* send("/settings/posting", "save", (fields) => fields.delete("asks_for_descriptions"))
      const done = yield* sendPost
      assert.strictEqual(done.status, 303, done.text)
      yield* send("/settings/posting", "save", (fields) => fields.set("asks_for_descriptions", "1"))
      assert.include((yield* sendPost).text, question)
    }))

  it.effect("decide which files and posts with warnings are open, and whether animations play", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { browser, person, send } = yield* opened("reader")
      const file = yield* Effect.promise(() => picture().png().toBuffer())
      const files = yield* Effect.forEach([0, 1, 2, 3], () => uploaded(person, file))
      // Before any post has the file: this statement does not invalidate cached posts.
      yield* sql`UPDATE media_attachments SET type = 'gifv' WHERE id = ${files[3].id}`
      const [plain, sensitive, warned, moving] = yield* Effect.forEach(
        [{}, { sensitive: true }, { sensitive: true, spoiler_text: "Careful" }, {}],
        (more, at) => publishedId(person, "a post", { media_ids: [files[at].id], ...more })
      )
      const shown = Effect.gen(function*() {
        const { text } = yield* browser.get("/home")
        const article = (id: string | undefined) =>
          new RegExp(`<article id="status-${id}".*?</article>`, "s").exec(text)?.[0] ?? ""
        return {
          hidden: [plain, sensitive, warned].map((id) => article(id).includes(`<details class="hidden-files">`)),
          open: article(warned).includes(`<details class="warning" open>`),
          plays: article(moving).includes(" autoplay ")
        }
      })
      const choose = (media: string, flags: ReadonlyArray<string>) =>
        send("/settings/reading", "save", (fields) => {
          fields.set("media", media)
          for (const flag of flags) fields.set(flag, "1")
        })
      assert.deepStrictEqual(yield* shown, { hidden: [false, true, false], open: false, plays: false })
      yield* choose("hide_all", [])
      assert.deepStrictEqual((yield* shown).hidden, [true, true, true])
      yield* choose("show_all", ["autoplay"])
      assert.deepStrictEqual(yield* shown, { hidden: [false, false, false], open: false, plays: true })
      // A post that opens its warning still hides sensitive media.
      yield* choose("default", ["spoilers"])
      assert.deepStrictEqual((yield* shown).hidden, [false, true, true])
      assert.isTrue((yield* shown).open)
    }))
})
