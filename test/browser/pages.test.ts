import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestServer } from "../support/Server.ts"
import { register } from "./App.ts"
import { Browser, picture, visit } from "./Browser.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "pages for everybody, in a browser",
  (it) => {
    it.effect(
      "a profile, a thread, a tag, the front page and the API's documentation look well, in light and dark",
      () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson, fetch } = yield* TestServer
          const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
          const publishAs = Effect.fnUntraced(function*(token: string, json: Record<string, unknown>) {
            const response = yield* fetch("/api/v1/statuses", { method: "POST", token, json })
            return ((yield* Effect.promise(() => response.json())) as { readonly id: string }).id
          })
          yield* fetch("/api/v1/accounts/update_credentials", {
            method: "PATCH",
            token: ada.token,
            json: {
              display_name: "Ada Lovelace 🦆",
              note: "I write #programs.\n\nSee https://example.org/a/long/path/to/some/page",
              fields_attributes: [{ name: "Web", value: "https://example.org" }, { name: "Pronouns", value: "she/her" }]
            }
          })
          const root = yield* publishAs(ada.token, {
            status: "Good morning, @bob! Have you seen #programs?\n\nhttps://example.org"
          })
          yield* publishAs(bob.token, { status: "@ada Not yet.", in_reply_to_id: root })
          yield* publishAs(ada.token, {
            status: "Spoilers ahead",
            spoiler_text: "The end of the film",
            sensitive: true
          })
          yield* publishAs(ada.token, { status: "For friends", visibility: "private" })
          const quoted = yield* publishAs(bob.token, { status: "Ducks are punctual", spoiler_text: "About ducks" })
          const quoting = yield* publishAs(ada.token, { status: "So it is", quoted_status_id: quoted })

          const { page, problems } = yield* visit()
          const { page: phone } = yield* visit("phone")
          yield* Effect.promise(async () => {
            await phone.emulateMedia({ colorScheme: "dark" })
            const pages = [
              ["front", "/", "localhost"],
              ["profile", "/@ada", "Ada Lovelace"],
              ["thread", `/@ada/${root}`, "Not yet."],
              ["quote", `/@ada/${quoting}`, "Ducks are punctual"],
              ["tag", "/tags/programs", "Good morning"],
              ["api", "/api/docs", "/api/v1/statuses"],
              ["password", "/auth/password/new", "password"],
              ["unknown", "/no/such/page", "Page not found"]
            ] as const
            for (const [name, path, text] of pages) {
              const response = await page.goto(baseUrl + path)
              assert.strictEqual(response?.status(), name === "unknown" ? 404 : 200, path)
              const shown = await page.locator("body").textContent() ?? ""
              assert.include(shown, text, path)
              assert.notInclude(shown, "For friends")
              await page.locator("details").evaluateAll((all) =>
                all.slice(0, 3).forEach((one) => one.setAttribute("open", ""))
              )
              await picture(page, name)
              if (name === "unknown") problems.length = 0
              await phone.goto(baseUrl + path)
              await picture(phone, `phone-dark-${name}`)
              const wide = await phone.evaluate("document.documentElement.scrollWidth > innerWidth")
              assert.isFalse(wide, `${path} fits a telephone`)
            }
          })
          assert.deepStrictEqual(problems, [])

          // F35: long words and other scripts, in desktop and phone size.
          const { url } = yield* register("urn:ietf:wg:oauth:2.0:oob", "read write follow push admin:read")
          yield* Effect.promise(async () => {
            await phone.goto(`${baseUrl}/auth/sign_in`)
            await phone.getByLabel(/e-?mail/i).fill("ada@example.org")
            await phone.getByLabel(/password/i).fill(ada.password)
            await phone.getByRole("button", { name: "Sign in", exact: true }).click()
            await phone.waitForLoadState()
            for (
              const [shown, lang, path] of [
                [phone, "de", "/auth/sign_in?force_login=true"],
                [phone, "de", "/oauth/authorized_applications"],
                [phone, "de", url.slice(baseUrl.length)],
                [phone, "de", `/@ada/${root}`],
                [page, "de", "/auth/password/new"],
                [phone, "ja", url.slice(baseUrl.length)],
                [page, "zh-CN", "/@ada"]
              ] as const
            ) {
              await shown.goto(`${baseUrl}${path}${path.includes("?") ? "&" : "?"}lang=${lang}`)
              assert.strictEqual(await shown.locator("html").getAttribute("lang"), lang, path)
              const overflows = await shown.evaluate(
                `document.documentElement.scrollWidth > innerWidth
                || [...document.querySelectorAll("button, input")].some((one) => one.scrollWidth > one.clientWidth + 1)`
              )
              assert.isFalse(overflows, `${path} in ${lang} fits`)
              await picture(shown, `${lang}-${path.split(/[/?]/)[2] ?? "profile"}`)
            }
          })
        })
    )
  }
)
