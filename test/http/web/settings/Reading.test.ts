import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../../../support/Api.ts"
import { picture, uploaded } from "../../../support/MediaFiles.ts"
import { TestServer } from "../../../support/Server.ts"
import { opened } from "./Opened.ts"

layer(TestServer.layer(), { excludeTestServices: true, timeout: "2 minutes" })("reading settings", (it) => {
  it.effect("decide which files and warned posts are open, and whether animations play", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { browser, person, send } = yield* opened("reader")
      const file = yield* Effect.promise(() => picture().png().toBuffer())
      const files = yield* Effect.forEach([0, 1, 2, 3], () => uploaded(person, file))
      // Before any post has it: cached posts are not told of this statement.
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
      // A post that is open behind its warning still hides what is sensitive.
      yield* choose("default", ["spoilers"])
      assert.deepStrictEqual((yield* shown).hidden, [false, true, true])
      assert.isTrue((yield* shown).open)
    }))
})
