import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestServer } from "../support/Server.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { leaveBy } from "./Visits.ts"

const widths = [1280, 768, 390] as const

layer(Layer.merge(TestServer.layer({ REGISTRATIONS: "open" }), Browser.layer), { excludeTestServices: true })(
  "members' own pages, in a browser",
  (it) => {
    it.effect("a passkey is added, and signs in without a user name; no page violates its own policy", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const person = yield* createPerson("ada")
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          const cdp = await page.context().newCDPSession(page)
          await cdp.send("WebAuthn.enable")
          await cdp.send("WebAuthn.addVirtualAuthenticator", {
            options: {
              protocol: "ctap2",
              transport: "internal",
              hasResidentKey: true,
              hasUserVerification: true,
              isUserVerified: true,
              automaticPresenceSimulation: true
            }
          })
          await page.goto(`${baseUrl}/settings/passkeys`)
          await page.getByLabel(/e-?mail/i).fill("ada@example.org")
          await page.getByLabel(/password/i).fill(person.password)
          await page.getByRole("button", { name: "Sign in", exact: true }).click()
          await page.waitForURL(/settings\/passkeys/)
          const create = page.getByRole("button", { name: "Create passkey" })
          // A busy server may ask to try again.
          for (let tries = 0; tries < 5 && !(await create.isVisible()); tries++) {
            await page.goto(`${baseUrl}/settings/passkeys`)
            await page.getByLabel("Name of the passkey").fill("Laptop")
            await page.getByLabel("Your password").fill(person.password)
            await leaveBy(page, page.getByRole("button", { name: "Next" }))
          }
          assert.isTrue(await create.isVisible(), await page.locator("main").innerText())
          await create.click()
          await page.getByRole("heading", { name: "Laptop" }).waitFor()

          for (const name of ["passkeys", "account", "sessions", "aliases", "migration", "delete"]) {
            await page.goto(`${baseUrl}/settings/${name}`)
            for (const scheme of ["light", "dark"] as const) {
              await page.emulateMedia({ colorScheme: scheme })
              for (const width of widths) {
                await page.setViewportSize({ width, height: 900 })
                assert.isFalse(
                  await page.evaluate("document.documentElement.scrollWidth > innerWidth"),
                  `${name} at ${width}`
                )
                await picture(page, `first-${name}-${width}-${scheme}`)
              }
              assert.deepStrictEqual(await axeFinds(page), [], `${name}, ${scheme}`)
            }
          }
          await page.goto(`${baseUrl}/settings/account`)
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.waitForURL(/sign_in/)
          await picture(page, "first-sign-in")
          await page.getByRole("button", { name: "Sign in with a passkey" }).click()
          await page.waitForURL(`${baseUrl}/home`)
          await page.goto(`${baseUrl}/settings/account`)
          assert.include(await page.locator("main").textContent(), "@ada")
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("without JavaScript a newcomer signs up and reads what happens next", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const running = yield* Browser
        const context = yield* Effect.acquireRelease(
          Effect.promise(() => running.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })),
          (one) => Effect.promise(() => one.close())
        )
        yield* Effect.promise(async () => {
          const page = await context.newPage()
          await page.goto(baseUrl)
          await page.getByRole("link", { name: "Sign up" }).click()
          await page.getByLabel("Username").fill("newcomer")
          await page.getByLabel("Email address").fill("newcomer@example.org")
          await page.getByLabel("Password").fill("correct horse battery")
          await page.getByRole("checkbox").check()
          await page.getByRole("button", { name: "Sign up" }).click()
          await page.waitForLoadState()
          assert.match(await page.locator("main").textContent() ?? "", /We sent you an email|You can now sign in/)
          // The form for passkeys needs a script.
          await page.goto(`${baseUrl}/auth/sign_in`)
          assert.strictEqual(await page.getByRole("button", { name: /passkey/ }).count(), 0)
        })
      }))
  }
)
