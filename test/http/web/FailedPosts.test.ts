import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pathOf, sendFile, statusesOf } from "../../support/Composer.ts"
import { picture } from "../../support/MediaFiles.ts"
import { freePort } from "../../support/ports.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestServer.layer(), { excludeTestServices: true })(
  "a post that the server cannot store",
  (it) => {
    it.effect("keeps the text, and is posted once when it is sent again", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const ada = yield* createPerson("ada")
        const browser = yield* staffBrowser(ada)
        const page = yield* browser.get("/publish")
        const typed = { text: "kept through a failure", visibility: "unlisted" }
        const mended = Effect.orDie(sql`DROP FUNCTION IF EXISTS refuse_statuses CASCADE`)
        yield* Effect.addFinalizer(() => mended)
        yield* sql`CREATE FUNCTION refuse_statuses() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION ''the disk is full''; END'`
        yield* sql`CREATE TRIGGER refuse_statuses BEFORE INSERT ON statuses EXECUTE FUNCTION refuse_statuses()`
        const failed = yield* browser.press(page, "post", typed)
        assert.isAtLeast(failed.status, 500)
        assert.match(failed.text, />kept through a failure<\/textarea>/)
        assert.match(failed.text, /<option value="unlisted" selected>/)
        yield* mended
        assert.strictEqual((yield* browser.press(failed, "post", typed)).status, 303)
        assert.strictEqual((yield* browser.press(page, "post", typed)).status, 303)
        assert.strictEqual((yield* statusesOf(ada)).length, 1)
      }))
  }
)

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })(
  "a post over a limit",
  (it) => {
    it.effect("keeps the text", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const bob = yield* createPerson("bob")
        const browser = yield* staffBrowser(bob)
        const bytes = yield* Effect.promise(() => picture(20, 20).png().toBuffer())
        const page = yield* browser.get("/publish")
        const upload = () => sendFile(browser, page, "add_file", { text: "the thirty-first" }, bytes)
        for (let count = 0; count < 30; count++) assert.strictEqual((yield* upload()).status, 200)
        const over = yield* upload()
        assert.strictEqual(over.status, 429)
        assert.match(over.text, />the thirty-first<\/textarea>/)
      }))
  }
)

layer(Layer.merge(TestDatabase.layer, NodeServices.layer), { excludeTestServices: true })(
  "a restart of the server",
  (it) => {
    it.effect("keeps drafts, and the form of an open page", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const server = Layer.fresh(TestServer.layerOnly({ PORT: String(yield* freePort), DATA_DIR: folder }))
        const before = yield* Effect.provide(
          Effect.gen(function*() {
            const cleo = yield* (yield* TestServer).createPerson("cleo")
            const browser = yield* staffBrowser(cleo)
            const open = yield* browser.get("/publish")
            const saved = yield* browser.press(yield* browser.get("/publish"), "save", {
              text: "a draft",
              visibility: "public"
            })
            return { cleo, cookies: browser.cookies, open, draft: pathOf(saved) }
          }),
          server
        )
        yield* Effect.provide(
          Effect.gen(function*() {
            const browser = yield* staffBrowser()
            for (const [name, value] of before.cookies) browser.cookies.set(name, value)
            assert.match((yield* browser.get(before.draft)).text, />a draft<\/textarea>/)
            const done = yield* browser.press(before.open, "post", { text: "after all", visibility: "public" })
            assert.strictEqual(done.status, 303)
            assert.strictEqual((yield* statusesOf(before.cleo)).length, 1)
          }),
          server
        )
      }))
  }
)
