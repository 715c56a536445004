import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { person } from "../../support/People.ts"
import { get, post } from "../../support/Requests.ts"
import { linkIn, nextEmailTo, path, takeEmails, withEmailSubscriptions } from "../../support/Subscribers.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

layer(server({ emailSubscriptions: true }), { excludeTestServices: true })("the form for posts by e-mail", (it) => {
  it.effect("row 72: the profile links to it; it asks for an address like the API, and accepts no other page's form", () =>
    Effect.gen(function*() {
      const { id } = yield* withEmailSubscriptions("anna")
      yield* person("ben")
      const where = "/email_subscriptions/new/anna"
      assert.include((yield* get("/@anna")).text, `href="${where}"`)
      assert.notInclude((yield* get("/@ben")).text, "email_subscriptions")
      const browser = TestBrowser.make()
      const page = yield* browser.get(where)
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "@anna@local.example")
      // No e-mail is sent for another page's form, nor to an invalid address.
      assert.strictEqual((yield* post(where, { email: "x@mail.example" })).status, 403)
      for (const email of ["", "nobody", "a@b@c", `${"x".repeat(300)}@mail.example`]) {
        const response = yield* browser.submit(page, { email })
        assert.strictEqual(response.status, 422, `${email.slice(0, 20)} ${response.text.slice(0, 900)}`)
        assert.lengthOf(formsOf(response), 1)
      }
      assert.deepStrictEqual(yield* takeEmails, [])
      const sent = yield* browser.submit(page, { email: "reader@mail.example" })
      assert.strictEqual(sent.status, 200)
      const letter = yield* nextEmailTo("reader@mail.example")
      assert.strictEqual((yield* get(linkIn(letter, "/email_subscriptions/"))).status, 200)
      // An existing subscriber gets the same response, and no e-mail.
      const again = yield* browser.submit(yield* browser.get(where), { email: "reader@mail.example" })
      assert.deepStrictEqual([again.status, again.text], [200, sent.text])
      assert.deepStrictEqual(yield* takeEmails, [])
      const german = yield* get(`${where}?lang=de`)
      assert.include(german.text, "Beiträge per E-Mail")
      for (const name of ["ben", "nobody", "%00", "x".repeat(300)]) {
        assert.strictEqual((yield* get(`/email_subscriptions/new/${name}`)).status, 404, name)
      }
      assert.strictEqual((yield* post(path(id), { email: "other@mail.example" })).status, 200)
    }))
})

layer(server({ emailSubscriptions: false }), { excludeTestServices: true })(
  "a server that sends no posts by e-mail",
  (it) => {
    it.effect("has no such form", () =>
      Effect.gen(function*() {
        yield* person("anna")
        assert.notInclude((yield* get("/@anna")).text, "email_subscriptions")
        assert.strictEqual((yield* get("/email_subscriptions/new/anna")).status, 404)
      }))
  }
)
