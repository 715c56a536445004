import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pages } from "../http/admin/pages.ts"
import { write } from "../http/v1/admin/SpamCalls.ts"
import { newPerson } from "../support/Api.ts"
import { authenticator, nextStep } from "../support/Authenticator.ts"
import { chief } from "../support/Chief.ts"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { press, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true, timeout: "5 minutes" })(
  "pages of settings, in a browser",
  (it) => {
    it.effect(
      "S-017 S-235: an administrator signs in with a second factor, sets the rules and makes an invite; a newcomer signs up by it",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const sql = yield* SqlClient.SqlClient
          const admin = yield* staffMember("regina", ["administrator"], 1_000)
          yield* sql`UPDATE roles SET require_2fa = true WHERE id = ${admin.roleId}`
          const { page, problems } = yield* visit()
          const app = yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/admin/rules`)
            await signIn(page, admin)
            assert.include(page.url(), "/settings/two_factor_authentication")
            assert.deepStrictEqual(await axeFinds(page), [])
            await page.getByLabel("Your password").fill(admin.password)
            await press(page, "Set it up")
            await picture(page, "two-factor-setup")
            assert.deepStrictEqual(await axeFinds(page), [])
            const app = authenticator(await page.locator("code.secret").textContent() ?? "")
            await page.locator("input[name=code]").fill(app.code())
            await press(page, "Switch it on")
            await picture(page, "two-factor-codes")
            await page.getByRole("link", { name: "Go on" }).click()
            assert.match(page.url(), /\/admin\/rules$/)
            await press(page, "Sign out")
            return app
          })
          yield* nextStep("regina")
          const { page: newcomer } = yield* visit("phone")
          yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/admin/rules`)
            await signIn(page, admin)
            assert.include(page.url(), "/auth/two_factor")
            await picture(page, "two-factor-code")
            assert.deepStrictEqual(await axeFinds(page), [])
            await page.locator("input[name=otp_attempt]").fill(app.code())
            await press(page, "Sign in")
            assert.match(page.url(), /\/admin\/rules$/)
            await page.locator("textarea[name=text]").fill("Ducks before geese")
            await press(page, "Add the rule")
            assert.include(await page.getByRole("status").textContent(), "The rule was added.")
            await page.goto(`${baseUrl}/admin/settings`)
            await page.getByLabel("Who may sign up").selectOption("closed")
            await page.locator("form:has(select[name=registrations])").getByRole("button", { name: "Save" }).click()
            assert.include(await page.getByRole("status").textContent(), "The settings were saved.")
            await page.goto(`${baseUrl}/admin/invites`)
            await page.getByLabel("How often it works").selectOption("1")
            await press(page, "Make the invite")
            const address = /https?:\S+\/invite\/\w{8}/.exec(await page.getByRole("status").textContent() ?? "")?.[0] ??
              ""
            await newcomer.goto(baseUrl + new URL(address).pathname)
            await newcomer.getByLabel(/user ?name/i).fill("gosling")
            await newcomer.getByLabel(/e-mail/i).fill("gosling@example.org")
            await newcomer.getByLabel(/password/i).first().fill("a long password")
            await newcomer.locator("input[type=checkbox]").first().check()
            await picture(newcomer, "phone-invite")
            await newcomer.locator("form button").first().click()
            await newcomer.waitForLoadState()
            assert.include(await newcomer.locator("main").textContent(), "A letter is on its way to you")
            await page.goto(`${baseUrl}/admin/invites`)
            assert.include(await page.locator("main").textContent(), "1 of 1")
          })
          assert.deepStrictEqual(problems, [])
        }),
      120_000
    )

    it.effect(
      "Axe finds nothing and nothing is wider than the window, on desk and telephone, by day and by night",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const sql = yield* SqlClient.SqlClient
          const owner = yield* chief("livia")
          const [role] = yield* sql<
            { id: bigint }
          >`SELECT id FROM roles WHERE position < 500 ORDER BY position DESC LIMIT 1`
          yield* sql`INSERT INTO hosts (host) VALUES ('slow.example'), ('a-very-long-name-of-a-server.somewhere.example')
            ON CONFLICT DO NOTHING`
          yield* sql`INSERT INTO preview_card_providers (id, site) VALUES (81, 'news.example')`
          yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (82, 'ducks', 'Ducks', now())`
          yield* sql`INSERT INTO relays (id, kind, inbox_url, inbox_id, state, created_at)
            SELECT 83, 'mastodon', 'https://relay.example/inbox', id, 'pending', now() FROM inboxes LIMIT 1`
          const made = [
            ["/admin/rules", "add", { text: "Be kind", hint: "To everybody who is here" }],
            ["/admin/announcements", "draft", { text: "The server moves on Sunday" }],
            ["/admin/domain_blocks/new", "create", {
              domain: "bad.example",
              severity: "silence",
              public_comment: "Spam"
            }],
            ["/admin/domain_allows", "create", { domain: "good.example" }],
            ["/admin/email_domain_blocks?domain=trash.example", "create", { domain: "trash.example" }],
            ["/admin/canonical_email_blocks", "create", { email: "a@mail.example" }],
            ["/admin/ip_blocks", "create", { ip: "192.0.2.0/24", severity: "sign_up_block", comment: "Bots" }],
            ["/admin/username_blocks", "create", { username: "rascal", exact: "yes" }],
            ["/admin/invites", "create", { max_uses: "5" }],
            ["/admin/moderation_lists", "create", {
              name: "Ours",
              url: "https://lists.example/a.csv",
              type: "csv",
              list_action: "reject"
            }],
            ["/admin/spam_rules/new", "create", {
              name: "Lotteries",
              state: "on",
              action: "hold",
              text_words: "lottery"
            }],
            ["/admin/spam_rules/new", "create", { name: "Pills", action: "drop", text_contains: "pills" }],
            ["/admin/webhooks", "create", {
              url: "https://hooks.example/a/long/way/to/it",
              "events[]": "report.created"
            }]
          ] as const
          for (const [path, name, fields] of made) yield* owner.act(path, name, fields)
          const { body: post } = yield* write(yield* newPerson("gambler"), "A lottery of ducks")
          assert.isString(post.id)
          const { text: webhooks } = yield* owner.browser.get("/admin/webhooks")
          const { text: spamRules } = yield* owner.act("/admin/spam_rules", "try", { days: "1" }).pipe(
            Effect.andThen(owner.browser.get("/admin/spam_rules"))
          )
          const idIn = (text: string, before: string) => new RegExp(`${before}/(\\d+)"`).exec(text)?.[1] ?? ""
          const about = new Map([
            ["/admin/spam_rules/:id", idIn(spamRules, "/admin/spam_rules")],
            ["/admin/spam_rules/dry_runs/:id", idIn(spamRules, "/dry_runs")],
            ["/admin/webhooks/:id", idIn(webhooks, "/admin/webhooks")],
            ["/admin/roles/:id", String(role?.id)],
            ["/admin/instances/:domain", "slow.example"],
            ["/admin/tags/:id", "82"]
          ])
          const mine = pages.map(({ path }) => path).filter((path) =>
            !/^\/admin(?:$|\/(?:accounts|reports|appeals)|.*\.(?:csv|zip)$)/.test(path) &&
            (!path.includes(":") || about.has(path))
          ).map((path) => path.replace(/:\w+/, about.get(path) ?? ""))
          const all = [
            ...mine,
            "/admin/trends?kind=publishers",
            "/admin/custom_emojis?origin=remote",
            "/admin/measures?tag=82"
          ]
          const found = new Set<string>()
          for (const size of ["desk", "phone"] as const) {
            const { page, problems } = yield* visit(size)
            yield* Effect.promise(async () => {
              await page.setViewportSize(size === "desk" ? { width: 1280, height: 900 } : { width: 375, height: 800 })
              await page.goto(`${baseUrl}/admin`)
              await signIn(page, owner)
              for (const scheme of ["light", "dark"] as const) {
                await page.emulateMedia({ colorScheme: scheme })
                for (const path of all) {
                  const answer = await page.goto(baseUrl + path)
                  assert.strictEqual(answer?.status(), 200, path)
                  for (const one of await axeFinds(page)) found.add(`${path}: ${one}`)
                  const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
                  if (wide === true) found.add(`${path} is wider than a ${size}`)
                  const name = path.replace("/admin/", "").replaceAll(/\W+/g, "-")
                  if ((size === "desk") === (scheme === "light")) await picture(page, `settings-${size}-${name}`)
                }
              }
            })
            assert.deepStrictEqual(problems, [])
          }
          assert.deepStrictEqual([...found], [])
          console.info(`${all.length} pages of settings, looked at in four ways`)
        }),
      240_000
    )
  }
)
