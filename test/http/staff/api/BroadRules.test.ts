import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask } from "../../../support/Api.ts"
import { cli } from "../../../support/CommandLine.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

const names = ["*.wild.example", "sub.*.wild.example", "x,wild.example", "\"q\".wild.example", "wild.example;suspend"]
const invalid = { error: "Validation failed: Domain is not a valid domain name" }

layer(TestServer.layer(), { excludeTestServices: true })("rules about servers and networks", (it) => {
  it.effect("F95: a name that no host can have is refused wherever a rule names a domain", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("namer", ["manageFederation", "manageBlocks"])
      for (const domain of names) {
        for (const list of ["domain_blocks", "domain_allows", "email_domain_blocks"]) {
          const { body, status } = yield* ask(staff, "POST", `/api/v1/admin/${list}`, { domain })
          assert.deepStrictEqual([list, domain, status, body], [list, domain, 422, invalid])
        }
        const { body, status } = yield* ask(staff, "POST", "/api/v1/domain_blocks", { domain })
        assert.deepStrictEqual([domain, status, body], [domain, 422, invalid])
      }
      for (const domain of ["under_score.example", "münchen.example", "a-b.example:8443"]) {
        assert.strictEqual((yield* ask(staff, "POST", "/api/v1/domain_blocks", { domain })).status, 200, domain)
      }
    }))

  it.effect("F95: the command line refuses such names, and asks for a public suffix to be confirmed", () =>
    Effect.gen(function*() {
      const { variables } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const rules = sql`SELECT domain FROM domain_blocks UNION ALL SELECT domain FROM domain_allows`
      const before = (yield* rules).length
      for (const act of ["block", "allow"]) {
        for (const domain of [...names, "co.jp"]) {
          const { code, err } = yield* cli(["domain", act, domain], variables)
          assert.strictEqual(code, 1, `${act} ${domain}`)
          assert.match(err, domain === "co.jp" ? /public suffix/ : /not a valid domain name/)
        }
      }
      assert.strictEqual((yield* rules).length, before)
      assert.strictEqual((yield* cli(["domain", "block", "co.jp", "--confirmed"], variables)).code, 0)
      assert.strictEqual((yield* rules).length, before + 1)
    }))

  it.effect("F95, D-013: a public suffix must be confirmed", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("suffixes", ["manageFederation", "manageBlocks"])
      for (const list of ["domain_blocks", "domain_allows", "email_domain_blocks"]) {
        const path = `/api/v1/admin/${list}`
        const { body, status } = yield* ask(staff, "POST", path, { domain: "co.uk" })
        assert.deepStrictEqual([list, status, body], [list, 422, {
          error: "Validation failed: Domain is a public suffix: repeat with confirmed=true"
        }])
        assert.strictEqual((yield* ask(staff, "POST", path, { domain: "github.io" })).status, 422)
        assert.strictEqual((yield* ask(staff, "POST", path, { domain: "co.uk", confirmed: true })).status, 200)
        assert.strictEqual((yield* ask(staff, "POST", path, { domain: "one.github.io" })).status, 200)
      }
    }))

  it.effect("F95: a large part of all addresses must be confirmed", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("networks", ["manageBlocks"])
      const block = (ip: string, more: object = {}) =>
        ask(staff, "POST", "/api/v1/admin/ip_blocks", { ip, severity: "sign_up_block", ...more })
      const broad = {
        error: "Validation failed: Ip is a large part of all addresses: repeat with confirmed=true"
      }
      for (const ip of ["0.0.0.0/0", "::/0", "2000::/3", "128.0.0.0/1"]) {
        const { body, status } = yield* block(ip)
        assert.deepStrictEqual([ip, status, body], [ip, 422, broad])
      }
      const { body: created } = yield* block("::/0", { confirmed: "true" })
      assert.strictEqual(created.ip, "::/0")
      const path = `/api/v1/admin/ip_blocks/${created.id}`
      assert.strictEqual((yield* ask(staff, "PUT", path, { comment: "known" })).status, 200)
      assert.strictEqual((yield* ask(staff, "PUT", path, { ip: "0.0.0.0/1" })).status, 422)
      for (const ip of ["10.0.0.0/8", "2001:db8::/32"]) assert.strictEqual((yield* block(ip)).status, 200, ip)
    }))
})
