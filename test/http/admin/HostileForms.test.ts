import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { declaredActs, pageOf } from "./pages.ts"

const fields = [
  "id",
  "ids[]",
  "place",
  "text",
  "name",
  "domain",
  "url",
  "ip",
  "email",
  "username",
  "kind",
  "since",
  "max_uses",
  "expires_in",
  "priority",
  "position",
  "collection_limit",
  "severity",
  "language",
  "translation",
  "data",
  "content",
  "shortcode",
  "category",
  "type",
  "list_action",
  "starts_at",
  "scheduled_at",
  "registrations",
  "min_age",
  "setup",
  "display_name",
  "state",
  "score",
  "days",
  "text_contains",
  "link_domains",
  "links_min",
  "origin",
  "look_alike[]",
  "events[]",
  "template"
]
const values = [
  "",
  "\u{10FFFF}",
  "-1",
  "99999999999999999999",
  "x".repeat(7_000),
  "'\"<>\\%",
  "2026-13-99T99:99",
  "::/0",
  "1"
]

layer(TestServer.layer(), { excludeTestServices: true, timeout: "3 minutes" })("forms of staff", (it) => {
  it.effect("hostile fields of every act are answered, never by a failure of the server", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const browser = yield* staffBrowser(yield* staffMember("sturdy", ["administrator"], 900))
      const token = /name="authenticity_token" value="([^"]*)"/.exec((yield* browser.get("/admin")).text)?.[1] ?? ""
      assert.isAtLeast(declaredActs.length, 30)
      let sent = 0
      for (const [path, acts] of declaredActs) {
        assert.isNotEmpty(acts, path)
        for (const act of acts) {
          for (const value of values) {
            const body = new URLSearchParams({ act, confirmed: "yes", authenticity_token: token })
            for (const field of fields) body.append(field, value)
            const { status, text } = yield* browser.request(pageOf(path, "900000000000000001"), {
              method: "POST",
              body,
              headers: { origin: baseUrl }
            })
            assert.isBelow(status, 500, `${path} ${act} ${value.slice(0, 20)}`)
            assert.notInclude(text, "Action is not included in the list", `${path} ${act}`)
            sent++
          }
        }
      }
      console.info(`${sent} hostile forms answered`)
    }), 180_000)
})
