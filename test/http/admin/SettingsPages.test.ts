import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { chief } from "../../support/Chief.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true, timeout: "3 minutes" })("pages of settings", (it) => {
  it.effect("S-235: rules are added, ordered, translated, removed, and come back", () =>
    Effect.gen(function*() {
      const { act, browser, undo, accountId } = yield* chief("lawgiver")
      yield* act("/admin/rules", "add", { text: "Be kind", hint: "To all" })
      const two = yield* act("/admin/rules", "add", { text: "Be <b>brief</b>" })
      assert.include(two.text, "Be &lt;b&gt;brief")
      const [one = "", other = ""] = [...two.text.matchAll(/\/admin\/rules\/(\d+)"/g)].map(([, id = ""]) => id)
      const moved = yield* act("/admin/rules", "move", { id: other, place: "1" })
      assert.deepStrictEqual([...moved.text.matchAll(/\/admin\/rules\/(\d+)"/g)].map(([, id = ""]) => id), [other, one])
      const german = yield* act(`/admin/rules/${one}`, "translate", { language: "de", translation: "Sei nett" })
      assert.include(german.text, "Sei nett")
      const gone = yield* act(`/admin/rules/${one}`, "untranslate", { language: "de" })
      assert.notInclude(gone.text, ">Sei nett<")
      assert.include((yield* undo(gone)).text, ">Sei nett<")
      const removed = yield* act("/admin/rules", "remove", { id: one })
      assert.notInclude(removed.text, ">Be kind<")
      assert.include((yield* undo(removed)).text, ">Be kind<")
      const refused = yield* browser.press(yield* browser.get("/admin/rules"), "add", { text: "x".repeat(301) })
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "x".repeat(301), "what was written stays")
      assert.includeMembers((yield* auditEntries(BigInt(accountId))).map(({ act }) => act), [
        "rule create",
        "rule update",
        "rule destroy"
      ])
    }))

  it.effect("S-235: what the server says of itself and how it takes people in; documents have versions", () =>
    Effect.gen(function*() {
      const { act, browser } = yield* chief("editor")
      const about = yield* act("/admin/settings", "about", {
        title: "Our place",
        languages: "en de",
        contact_email: ""
      })
      assert.include(about.text, `value="Our place"`)
      assert.include(about.text, `value="en de"`)
      const closed = yield* act("/admin/settings", "registrations", { registrations: "closed", min_age: "16" })
      assert.include(closed.text, `<option value="closed" selected>`)
      assert.include(closed.text, `value="16"`)
      yield* act("/admin/settings", "registrations", { registrations: "open", min_age: "" })
      for (
        const [name, fields] of [
          ["registrations", { registrations: "sideways" }],
          ["registrations", { registrations: "open", min_age: "999" }],
          ["about", { accent_color: "red" }],
          ["about", { contact_email: "nowhere" }],
          ["about", { contact_account: "nobody.at.all" }],
          ["timelines", { "liveFeeds.local": "some" }]
        ] as const
      ) {
        const page = yield* browser.press(yield* browser.get("/admin/settings"), name, fields)
        assert.strictEqual(page.status, 422, JSON.stringify(fields))
      }
      const document = { kind: "termsOfService", text: "Be <script>alert(1)</script>good", since: "2031-01-31" }
      const shown = yield* act("/admin/settings/documents", "publish", document)
      assert.include(shown.text, "Holds from 2031-01-31")
      assert.notInclude(shown.text, "<script")
    }))

  it.effect("S-017: an invite is made, is shown once as an address, and is ended", () =>
    Effect.gen(function*() {
      const { act } = yield* chief("host")
      const made = yield* act("/admin/invites", "create", { max_uses: "5", expires_in: "3600" })
      const code = /\/invite\/(\w{8})/.exec(made.text)?.[1]
      assert.isDefined(code)
      assert.include(made.text, "0 of 5")
      const id = /name="id" value="(\d+)"/.exec(made.text)?.[1] ?? ""
      assert.include((yield* act("/admin/invites", "end", { id })).text, "The invite has ended.")
    }))

  it.effect("S-255: a role is made with bits that its maker has, changed and removed", () =>
    Effect.gen(function*() {
      const { act } = yield* chief("maker")
      const made = yield* act("/admin/roles/new", "save", {
        name: "Helper",
        position: "5",
        collection_limit: "10",
        "permissions[]": "manageReports",
        require_2fa: "yes"
      })
      assert.include(made.text, "The role was made.")
      assert.match(made.text, /value="manageReports" checked/)
      assert.match(made.text, /name="require_2fa" value="yes" checked/)
      const lower = yield* staffMember("under", ["manageRoles"], 20)
      const browser = yield* staffBrowser(lower)
      const page = yield* browser.get("/admin/roles/new")
      assert.notInclude(page.text, `value="manageReports"`)
      const given = yield* browser.press(page, "save", {
        name: "x",
        position: "1",
        collection_limit: "10",
        "permissions[]": "manageReports"
      })
      const own = yield* browser.follow(given)
      assert.notInclude(own.text, `value="manageReports" checked`, "nobody gives what they lack")
      const high = yield* browser.press(page, "save", { name: "y", position: "20", collection_limit: "10" })
      assert.strictEqual(high.status, 422)
    }))

  it.effect("S-235: an announcement is a draft, is published, taken back and removed", () =>
    Effect.gen(function*() {
      const { act } = yield* chief("herald")
      const draft = yield* act("/admin/announcements", "draft", { text: "Hear ye", scheduled_at: "" })
      assert.include(draft.text, "Draft")
      const path = `/admin/announcements/${/\/admin\/announcements\/(\d+)/.exec(draft.text)?.[1] ?? ""}`
      assert.include((yield* act(path, "publish")).text, "Published")
      assert.include((yield* act(path, "unpublish")).text, "Draft")
      assert.include((yield* act(path, "remove")).text, "The announcement was removed.")
    }))
})
