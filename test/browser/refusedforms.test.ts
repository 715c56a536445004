import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { Browser } from "./Browser.ts"
import { leaveBy, phone, returning, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the way back to forms outside of the web client",
  (it) => {
    for (const javaScriptEnabled of [true, false]) {
      const mode = javaScriptEnabled ? "with" : "without"
      it.effect(`F410: leads to the reason and what was typed, and sends no form again, ${mode} scripts`, () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const member = yield* staffMember(`rule${mode}`, ["manageRules"])
          const context = yield* phone(javaScriptEnabled)
          const page = yield* Effect.promise(() => context.newPage())
          const returned = yield* returning(page)
          yield* Effect.promise(async () => {
            // A wrong password, then the right one on the page that came back.
            await page.goto(`${baseUrl}/admin/rules`)
            await signIn(page, { ...member, password: "wrong horse" })
            await returned(async () => {
              await page.locator("main .problem").first().waitFor()
              assert.strictEqual(await page.getByLabel(/e-?mail/i).inputValue(), `${member.username}@example.org`)
              assert.strictEqual(await page.getByLabel(/password/i).inputValue(), "")
            })
            await signIn(page, member)
            assert.strictEqual(new URL(page.url()).pathname, "/admin/rules")

            // A rule without a text.
            await page.getByLabel("Rule", { exact: true }).fill(" ")
            await page.getByLabel("Explanation").fill("Because of good reasons")
            await leaveBy(page, page.getByRole("button", { name: "Add rule" }))
            await returned(async () => {
              await page.locator("main .problem").first().waitFor()
              assert.strictEqual(await page.getByLabel("Explanation").inputValue(), "Because of good reasons")
            })
            await page.getByLabel("Rule", { exact: true }).fill(`Be kind, ${mode} scripts`)
            await leaveBy(page, page.getByRole("button", { name: "Add rule" }))
            await page.getByText(`Be kind, ${mode} scripts`).first().waitFor()

            // The question before an action, which was the response to a form, too.
            await leaveBy(page, page.getByRole("button", { name: "Remove" }).last())
            await returned(async () => {
              await page.getByText("Remove this rule?").first().waitFor()
            })

            // A visitor's request for an e-mail.
            await context.clearCookies()
            await page.goto(`${baseUrl}/auth/password/new`)
            await page.getByLabel(/e-?mail/i).fill("nobody@example.org")
            await leaveBy(page, page.getByRole("button", { name: "Send email" }))
            await returned(async () => {
              await page.getByText("If an account with this address exists").waitFor()
            })
          })
        }))
    }
  }
)
