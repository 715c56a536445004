import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { administratorBrowser } from "../../../support/AdministratorBrowser.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries } from "../../../support/Staff.ts"

layer(TestServer.layer(), { excludeTestServices: true })(
  "pages of blocks, trends and servers",
  (it) => {
    it.effect("S-168 S-274: a server is blocked, a weaker block is refused, and it is lifted; a file's effect is previewed", () =>
      Effect.gen(function*() {
        const { act, browser, undo } = yield* administratorBrowser("warden")
        const created = yield* act("/admin/domain_blocks/new", "create", { domain: "bad.example", severity: "suspend" })
        assert.include(created.text, "bad.example was added to the list.")
        const weaker = yield* browser.press(yield* browser.get("/admin/domain_blocks/new"), "create", {
          domain: "sub.bad.example",
          severity: "silence"
        })
        assert.deepStrictEqual([weaker.status, weaker.text.includes("stricter limits on bad.example")], [422, true])
        const file = yield* browser.get("/admin/domain_block_files/export.csv")
        assert.match(file.headers.get("content-type") ?? "", /csv/)
        assert.include(file.text, "bad.example")
        const page = yield* browser.get("/admin/domain_block_files")
        const asked = yield* browser.press(page, "import", {
          data: "#domain,#severity\nworse.example,suspend\nbad.example,suspend\n"
        })
        assert.include(asked.text, "worse.example")
        assert.include(asked.text, "1 server will be blocked.")
        assert.notInclude(
          (yield* browser.get("/admin/domain_blocks")).text,
          "worse.example",
          "nothing is done before it is said yes to"
        )
        const done = yield* browser.follow(yield* browser.press(asked, "import"))
        assert.include(done.text, "worse.example")
        assert.notInclude((yield* undo(created)).text, "bad.example</a>")
      }))

    it.effect("S-172 S-173 S-174: sign-up blocks are added, tested and removed", () =>
      Effect.gen(function*() {
        const { act } = yield* administratorBrowser("keeper")
        assert.include(
          (yield* act("/admin/canonical_email_blocks", "create", { email: "A.b+c@mail.example" })).text,
          "The address is blocked."
        )
        assert.include(
          (yield* act("/admin/canonical_email_blocks", "test", { email: "ab@mail.example" })).text,
          "This address is blocked, by the hash"
        )
        assert.include(
          (yield* act("/admin/canonical_email_blocks", "test", { email: "x@mail.example" })).text,
          "This address is not blocked."
        )
        assert.include(
          (yield* act("/admin/ip_blocks", "create", { ip: "192.0.2.0/24", severity: "no_access", expires_in: "0" }))
            .text,
          "192.0.2.0/24 is blocked."
        )
        assert.include(
          (yield* act("/admin/ip_blocks", "create", { ip: "nonsense", severity: "sign_up_block" })).text,
          "Ip is invalid"
        )
        assert.include(
          (yield* act("/admin/username_blocks", "create", { username: "rascal", exact: "yes" })).text,
          "rascal can no longer be used to sign up."
        )
        assert.include(
          (yield* act("/admin/email_domain_blocks?domain=trash.example", "create", { domain: "trash.example" })).text,
          "trash.example was added to the list."
        )
      }))

    it.effect("S-112 S-232: trends are decided in bulk; deleted ones are reported", () =>
      Effect.gen(function*() {
        const { act, accountId } = yield* administratorBrowser("curator")
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO preview_card_providers (id, site) VALUES (71, 'one.example'), (72, 'two.example')`
        const decided = yield* act("/admin/trends?kind=publishers", "approve", { "ids[]": "71" })
        assert.include(decided.text, "1 item approved.")
        assert.include(
          (yield* act("/admin/trends?kind=publishers", "reject", { "ids[]": "999" })).text,
          "Record not found"
        )
        assert.include((yield* act("/admin/trends?kind=publishers", "reject")).text, "can&#39;t be blank")
        assert.include((yield* auditEntries(BigInt(accountId))).map(({ act }) => act), "publisher approve")
      }))

    it.effect("S-235: another server: deliveries are stopped and restarted, staff write a note; lists are followed", () =>
      Effect.gen(function*() {
        const { act, undo } = yield* administratorBrowser("envoy")
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO hosts (host) VALUES ('slow.example') ON CONFLICT DO NOTHING`
        const stopped = yield* act("/admin/instances/slow.example", "stop")
        assert.include(stopped.text, "Deliveries there are paused.")
        assert.include((yield* undo(stopped)).text, "Pending deliveries are retried.")
        const noted = yield* act("/admin/instances/slow.example", "note", { content: "Talked to them" })
        assert.include(noted.text, "Talked to them")
        assert.notInclude((yield* undo(noted)).text, "Talked to them</p>")
        const list = yield* act("/admin/moderation_lists", "create", {
          name: "Ours",
          url: "https://lists.example/a.csv",
          type: "csv",
          list_action: "reject"
        })
        assert.include(list.text, "Not read yet")
      }))

    it.effect("the audit log shows before and after, is filtered by its address, and is available as a file", () =>
      Effect.gen(function*() {
        const { act, browser, accountId } = yield* administratorBrowser("clerk")
        yield* act("/admin/rules", "add", { text: "Logged" })
        const page = yield* browser.get(`/admin/audit_log?account_id=${accountId}&target_type=rule&action=create`)
        assert.include(page.text, "@clerk")
        assert.include(page.text, "&quot;text&quot;: &quot;Logged&quot;")
        assert.notInclude((yield* browser.get("/admin/audit_log?account_id=nobody")).text, "@clerk</a>")
        const file = yield* browser.get(`/admin/audit_log/export.csv?account_id=${accountId}`)
        assert.match(file.text, /^id,created_at/)
        assert.include(file.text, "Logged")
      }))
  }
)
