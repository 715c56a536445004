import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("scripts of the web client", (it) => {
  it.effect("the service worker is revalidated, and the manifest makes the client installable", () =>
    Effect.gen(function*() {
      const browser = yield* staffBrowser()
      const worker = yield* browser.get("/sw.js")
      assert.strictEqual(worker.status, 200)
      assert.strictEqual(worker.headers.get("cache-control"), "no-cache")
      assert.match(worker.headers.get("content-type") ?? "", /^text\/javascript/)
      const manifest = JSON.parse((yield* browser.request("/manifest", { headers: { "accept-language": "de" } })).text)
      assert.strictEqual(manifest.start_url, "/home")
      assert.strictEqual(manifest.display, "standalone")
      assert.strictEqual(manifest.share_target.action, "/share")
      assert.deepStrictEqual(manifest.shortcuts[0], { name: "Neuer Beitrag", url: "/publish" })
      assert.isAtLeast(
        manifest.icons.filter(({ sizes }: { readonly sizes: string }) => /192|512/.test(sizes)).length,
        2
      )
    }))

  it.effect("push belongs to the browser's session, and ends with it", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const bob = yield* createPerson("bob")
      const browser = yield* staffBrowser(bob)
      const page = yield* browser.get("/settings/push")
      const { publicKey } = yield* Effect.promise(() =>
        crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"])
      )
      const raw = yield* Effect.promise(() => crypto.subtle.exportKey("raw", publicKey))
      yield* browser.press(page, "on", {
        endpoint: "https://push.example/abc",
        p256dh: Buffer.from(raw).toString("base64url"),
        auth: Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url"),
        policy: "followed",
        "alerts[]": "mention"
      })
      const on = yield* browser.get("/settings/push")
      assert.include(on.text, `value="off"`)
      assert.match(on.text, /value="mention" checked/)
      assert.notMatch(on.text, /value="favourite" checked/)
      assert.match(on.text, /value="followed" selected/)
      // Another browser of the same person has its own subscription.
      const other = yield* staffBrowser(bob)
      assert.notInclude((yield* other.get("/settings/push")).text, `value="off"`)
      yield* browser.press(on, "off")
      assert.notInclude((yield* browser.get("/settings/push")).text, `value="off"`)
      assert.isAbove(formsOf(page).length, 0)
    }))
})
