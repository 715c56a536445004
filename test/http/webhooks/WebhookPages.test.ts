import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { administratorBrowser } from "../../support/AdministratorBrowser.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

const path = "/admin/webhooks"
const secretIn = (text: string) => /<code class="secret">(\w+)<\/code>/.exec(text)?.[1] ?? ""

layer(TestServer.layer(), { excludeTestServices: true })("webhook pages", (it) => {
  it.effect("S-235: a webhook is created, changed, switched off and on, gets another secret, and is removed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, act, browser } = yield* administratorBrowser("crier")
      const created = yield* act(path, "create", {
        url: "https://hooks.example/a?b=1&c=<i>",
        "events[]": "report.created",
        template: "{\"text\": \"{{event}}\"}"
      })
      assert.include(created.text, "The webhook was created.")
      const first = secretIn(created.text)
      assert.isAtLeast(first.length, 12)
      assert.match(created.text, /value="report.created" checked/)
      const one = `${path}/${/action="\/admin\/webhooks\/(\d+)"/.exec(created.text)?.[1] ?? ""}`
      yield* sql`UPDATE webhooks SET failed_at = now(), error = '<b>500</b>', given_up = 3`
      const listed = yield* browser.get(path)
      assert.include(listed.text, "https://hooks.example/a?b=1&amp;c=%3Ci%3E")
      assert.include(listed.text, "A report was created")
      assert.include(listed.text, "&lt;b&gt;500&lt;/b&gt;")
      assert.notInclude(listed.text, first)
      const rotated = yield* act(one, "rotate")
      const second = secretIn(rotated.text)
      assert.isAtLeast(second.length, 12)
      assert.notInclude(rotated.text, first)
      assert.include((yield* act(one, "disable")).text, "Disabled</span>")
      assert.include((yield* act(one, "enable")).text, "Enabled</span>")
      const changed = yield* act(one, "save", { url: "https://hooks.example/b", "events[]": "status.created" })
      assert.match(changed.text, /value="status.created" checked/)
      assert.strictEqual(secretIn(changed.text), second)
      const removed = yield* act(one, "remove")
      assert.include(removed.text, "No webhooks yet.")
      assert.strictEqual((yield* browser.get(one)).status, 404)
      assert.deepStrictEqual((yield* auditEntries(BigInt(accountId))).map((entry) => entry.act), [
        "webhook destroy",
        "webhook update",
        "webhook enable",
        "webhook disable",
        "webhook rotate_secret",
        "webhook create"
      ])
    }))

  it.effect("S-235: invalid ones are refused, and events that the creator may not see", () =>
    Effect.gen(function*() {
      const { browser } = yield* administratorBrowser("strict")
      const page = yield* browser.get(path)
      const right = { url: "https://hooks.example/", "events[]": "report.created" }
      for (
        const wrong of [
          { url: "" },
          { url: "ftp://hooks.example/" },
          { url: "http://127.0.0.1/" },
          { "events[]": "ducks" },
          { template: "{{" },
          { template: "ä".repeat(4_097) }
        ] as const
      ) {
        assert.strictEqual((yield* browser.press(page, "create", { ...right, ...wrong })).status, 422, wrong.url)
      }
      assert.strictEqual((yield* browser.press(page, "create", { url: right.url })).status, 422, "no events")
      const narrow = yield* staffBrowser(yield* staffMember("narrow", ["manageWebhooks"]))
      const theirs = yield* narrow.get(path)
      assert.notInclude(theirs.text, "report.created")
      assert.strictEqual((yield* narrow.press(theirs, "create", right)).status, 403)
    }))
})
