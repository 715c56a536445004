import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, settled } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

/** Returns the text of the button of an act. */
const buttonOf = (page: string, act: string): string | undefined =>
  new RegExp(`<button[^>]*name="act" value="${act}"[^>]*>(?:<svg.*?</svg>)?([^<]*)`).exec(page)?.[1]

layer(TestServer.layer(), { excludeTestServices: true })("buttons in other languages", (it) => {
  it.effect("F324: buttons have verbs where English has one word for the verb and the noun", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      yield* ask(ada, "POST", "/api/v1/statuses", { status: "@bob hello", visibility: "direct" })
      yield* settled
      const browser = yield* staffBrowser(ada)
      const words: Array<ReadonlyArray<string | undefined>> = []
      for (const language of ["de", "fr", "ar"]) {
        const text = (path: string) => Effect.map(browser.get(`${path}?lang=${language}`), (page) => page.text)
        words.push([
          buttonOf(yield* text("/publish"), "post"),
          buttonOf(yield* text(`/web/accounts/${bob.accountId}/report`), "report"),
          buttonOf(yield* text("/conversations"), "open"),
          buttonOf(yield* text("/@bob"), "follow")
        ])
      }
      assert.deepStrictEqual(words, [
        ["Veröffentlichen", "Meldung senden", "Unterhaltung anzeigen", "Folgen"],
        ["Publier", "Envoyer le signalement", "Afficher la conversation", "Suivre"],
        ["نشر", "إرسال البلاغ", "عرض المحادثة", "متابعة"]
      ])
    }))
})
