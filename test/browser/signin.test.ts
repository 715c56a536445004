import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { type Person, TestServer } from "../support/Server.ts"
import { app, register } from "./App.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { signedUp, withProof, withService } from "./Captchas.ts"

const scopes = "read write follow push"
const outOfBand = "urn:ietf:wg:oauth:2.0:oob"

const signIn = async (page: Page, { password, username }: Person) => {
  await page.getByLabel(/e-?mail/i).fill(`${username}@example.org`)
  await page.getByLabel(/password/i).fill(password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
  await page.waitForLoadState()
}

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })("in a browser", (it) => {
  it.effect("S-242, S-243: signs in after a typing error, allows an app, and is sent there with a working code", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [person, { opened, url: back }] = [yield* createPerson("ada"), yield* app]
      const { exchange, url } = yield* register(back, scopes)
      const { page, problems } = yield* visit()
      const landed = yield* Effect.promise(async () => {
        await page.goto(url)
        await picture(page, "sign-in")
        await signIn(page, { ...person, password: "wrong horse" })
        assert.include(await page.locator("main").textContent(), "Wrong")
        await picture(page, "sign-in-wrong")
        // The browser logs the refusal, a 422.
        problems.length = 0
        await signIn(page, person)
        assert.match(await page.title(), /Tusker/)
        assert.include(await page.locator(".scopes").textContent(), "Everything in your account")
        assert.strictEqual(await page.locator(".dangerous").count(), 0)
        await picture(page, "consent")
        await page.getByRole("button", { name: "Allow" }).click()
        return opened
      })
      assert.strictEqual(landed.searchParams.get("state"), "7")
      assert.strictEqual((yield* exchange(landed.searchParams.get("code"))).status, 200)
      yield* Effect.promise(async () => {
        await page.goto(new URL("/oauth/authorized_applications", url).href)
        assert.include(await page.locator("main").textContent(), "Tusker")
        await picture(page, "authorized-applications")
        await page.getByRole("button", { name: /withdraw|revoke|remove/i }).click()
        await page.waitForLoadState()
        assert.notInclude(await page.locator("main").textContent(), "Tusker")
      })
      assert.deepStrictEqual(problems, [], "the pages break none of their own rules")
    }))

  it.effect("S-242: denies an app on a phone, and the app is notified", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [person, { opened, url: back }] = [yield* createPerson("bob"), yield* app]
      const { url } = yield* register(back, scopes)
      const { page, problems } = yield* visit("phone")
      const landed = yield* Effect.promise(async () => {
        await page.goto(url)
        await picture(page, "phone-sign-in")
        await signIn(page, person)
        await picture(page, "phone-consent")
        await page.getByRole("button", { name: "Deny" }).click()
        return opened
      })
      assert.strictEqual(landed.searchParams.get("error"), "access_denied")
      assert.isNull(landed.searchParams.get("code"))
      assert.deepStrictEqual(problems, [])
    }))

  it.effect("S-254: shows the code of an app that has no address", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const person = yield* createPerson("carol")
      const { exchange, url } = yield* register(outOfBand, "read")
      const { page, problems } = yield* visit("phone")
      const code = yield* Effect.promise(async () => {
        await page.goto(url)
        await signIn(page, person)
        await page.getByRole("button", { name: "Allow" }).click()
        await page.waitForURL(/authorize\/native/)
        await picture(page, "phone-code")
        return page.locator("code").textContent()
      })
      assert.strictEqual((yield* exchange(code)).status, 200)
      assert.deepStrictEqual(problems, [])
    }))

  it.effect("S-242: a redirect address that the app has not registered is refused", () =>
    Effect.gen(function*() {
      const { url } = yield* register("https://app.example/back", scopes)
      const { page } = yield* visit()
      yield* Effect.promise(async () => {
        const evil = new URL(url)
        evil.searchParams.set("redirect_uri", "https://evil.example/")
        const response = await page.goto(evil.href)
        assert.strictEqual(response?.status(), 400)
        assert.strictEqual(new URL(page.url()).host, new URL(url).host)
        await picture(page, "refused")
      })
    }))
})

layer(Layer.merge(withProof, Browser.layer), { excludeTestServices: true })("proof of work, in a browser", (it) => {
  it.effect("S-017: the browser solves it by itself, on a phone, and the address is confirmed", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const { link, token } = yield* signedUp("anna")
      const own = Effect.map(fetch("/api/v1/accounts/verify_credentials", { token }), ({ status }) => status)
      const { page, problems } = yield* visit("phone")
      assert.strictEqual(yield* own, 403)
      yield* Effect.promise(async () => {
        await page.goto(link)
        assert.include(await page.locator("h1").textContent(), "One more step")
        // The button waits for the work; the user only presses it.
        await page.locator("#confirm:enabled").click()
        await page.waitForLoadState()
        await picture(page, "phone-captcha-done")
      })
      assert.deepStrictEqual(problems, [], "the script runs by the page's own policy")
      assert.strictEqual(yield* own, 200)
    }))
})

layer(Layer.merge(withService, Browser.layer), { excludeTestServices: true })(
  "captcha by a service, in a browser",
  (it) => {
    it.effect("S-017: the policy allows its script, and its result confirms the address", () =>
      Effect.gen(function*() {
        const { fetch } = yield* TestServer
        const { link, token } = yield* signedUp("berta")
        const own = Effect.map(fetch("/api/v1/accounts/verify_credentials", { token }), ({ status }) => status)
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.goto(link)
          // Before the service has verified the user.
          await page.getByLabel("I am a person").waitFor()
          await page.locator("#confirm").click()
          await page.waitForLoadState()
          assert.include(await page.getByRole("alert").textContent(), "That did not work")
          // The browser logs the refusal, a 422.
          problems.length = 0
          await page.getByLabel("I am a person").check()
          await picture(page, "captcha-service")
          await page.locator("#confirm").click()
          await page.waitForLoadState()
        })
        assert.deepStrictEqual(problems, [])
        assert.strictEqual(yield* own, 200)
      }))
  }
)
