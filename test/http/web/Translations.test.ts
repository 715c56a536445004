import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { newPerson, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { translationDouble } from "../../support/TranslationDouble.ts"

describe("translations in the web client", () => {
  it.live("are a page with text, warning and poll, offered where the server can translate", () =>
    Effect.scoped(Effect.gen(function*() {
      const double = yield* translationDouble
      const server = TestServer.layer({ TRANSLATION_URL: double.url, TRANSLATION_KEY: "key1" })
      yield* Effect.provide(
        Effect.gen(function*() {
          const [anna, ben] = [yield* newPerson("anna"), yield* newPerson("ben")]
          const id = yield* publishedId(anna, "Hallo <b>Welt</b>", {
            language: "de",
            spoiler_text: "Vorsicht",
            poll: { options: ["ja", "nein"], expires_in: 3_600 }
          })
          const browser = yield* staffBrowser(ben)
          const path = `/web/statuses/${id}/translation`
          assert.include((yield* browser.get(`/@anna/${id}`)).text, `href="${path}`)
          const page = yield* browser.get(path)
          assert.strictEqual(page.status, 200, page.text)
          for (const text of ["HALLO", "VORSICHT", "JA", "NEIN", "LibreTranslate"]) assert.include(page.text, text)
          assert.notInclude(page.text, "<b>WELT")
          const visitor = yield* staffBrowser()
          assert.strictEqual((yield* visitor.get(path)).status, 302)
        }),
        Layer.fresh(server)
      )
    })))
})
